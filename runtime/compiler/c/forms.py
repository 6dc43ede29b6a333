"""Forms of built programs: all that the module `entry.c` has to know besides the shared object."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...core.threads import follow_num_threads
from ..kept.plain import Plain, Reader, Writer, array_as_text, array_of_text, letter_of
from ..program import Step, Value
from . import blas, toolchain

Layout: TypeAlias = tuple[Any, ...]
"""Slot, offset, bytes before and of the memory, whether it is a whole; dtype, shape, strides."""


class Called(NamedTuple):
    """A stage that is no C: a step, and where its arrays lie."""

    step: Step
    inputs: tuple[Value, ...]
    ins: tuple[Layout, ...]
    outs: tuple[Layout, ...]


class Form(NamedTuple):
    """A built program, but for its shared object."""

    slots: int
    arena_size: int
    lets_run: bool
    """True if other Python threads may run meanwhile."""
    narrows_blas: bool
    calls_blas: bool
    inputs: tuple[Layout, ...]
    fresh: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    stages: tuple[str | Called, ...]
    constants: tuple[tuple[int, Any], ...]


def connected(form: Form, library: ctypes.CDLL) -> Callable[..., tuple[Any, ...]]:
    """Return the function that runs a program: it takes the inputs and returns the outputs."""
    module = entry()
    ctypes.c_void_p.in_dll(library, "gs_share").value = module.share_address()
    if form.calls_blas:
        blas.connect(library)
        found = blas.library()
        counts = found.thread_counts if found is not None else None
        module.set_blas(*(counts or (0, 0)))
    run: Callable[..., tuple[Any, ...]] = module.Entry(
        form.slots,
        form.arena_size,
        form.lets_run,
        form.narrows_blas,
        form.inputs,
        form.fresh,
        form.outputs,
        tuple(_stage(stage, library) for stage in form.stages),
        form.constants,
        library,
    )
    return run


def _stage(stage: str | Called, library: ctypes.CDLL) -> tuple[Any, ...]:
    if isinstance(stage, str):
        return (ctypes.cast(getattr(library, stage), ctypes.c_void_p).value, None, (), ())
    from .python_calls import python_function

    return (0, python_function(stage.step, stage.inputs), stage.ins, stage.outs)


def loaded(path: Path) -> ctypes.CDLL:
    """Load a shared object."""
    return ctypes.CDLL(str(path))


@cache
def entry() -> Any:
    """Return the module whose `Entry` objects run programs; it is built once."""
    path = str(toolchain.entry())
    loader = importlib.machinery.ExtensionFileLoader("gradspec_entry", path)
    spec = importlib.util.spec_from_file_location("gradspec_entry", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    follow_num_threads(module.set_threads)
    return module


# ---- as plain data


def form_as_plain(form: Form, constants: list[Any], objects: list[Any]) -> Plain:
    """Return a form; of arrays that are among `constants`, and of `objects`, there are numbers."""
    writer = Writer(objects)
    known = {id(array): number for number, array in enumerate(constants)}
    stages = [
        stage
        if isinstance(stage, str)
        else (
            writer.step(stage.step),
            writer.several(stage.inputs),
            _layouts_as_plain(stage.ins),
            _layouts_as_plain(stage.outs),
        )
        for stage in form.stages
    ]
    return {
        "numbers": (form.slots, form.arena_size),
        "flags": (form.lets_run, form.narrows_blas, form.calls_blas),
        "layouts": [_layouts_as_plain(each) for each in (form.inputs, form.fresh, form.outputs)],
        "stages": stages,
        "values": writer.values,
        "constants": [
            (slot, known[id(array)] if id(array) in known else array_as_text(array))
            for slot, array in form.constants
        ],
    }


def form_of_plain(plain: Plain, constants: list[Any], objects: list[Any]) -> Form:
    """Return a form that was written."""
    reader = Reader(plain["values"], objects)
    stages = tuple(
        stage
        if isinstance(stage, str)
        else Called(
            reader.step(stage[0]),
            reader.several(stage[1]),
            _layouts_of_plain(stage[2]),
            _layouts_of_plain(stage[3]),
        )
        for stage in plain["stages"]
    )
    arrays = tuple(
        (slot, constants[array] if isinstance(array, int) else array_of_text(array))
        for slot, array in plain["constants"]
    )
    inputs, fresh, outputs = map(_layouts_of_plain, plain["layouts"])
    slots, arena_size = plain["numbers"]
    flags: tuple[bool, bool, bool] = tuple(plain["flags"])
    return Form(slots, arena_size, *flags, inputs, fresh, outputs, stages, arrays)


def _layouts_as_plain(layouts: tuple[Layout, ...]) -> Plain:
    return [(*layout[:5], letter_of(layout[5]), *layout[6:]) for layout in layouts]


def _layouts_of_plain(plain: Plain) -> tuple[Layout, ...]:
    return tuple(
        (*layout[:5], np.dtype(layout[5]), tuple(layout[6]), tuple(layout[7])) for layout in plain
    )
