"""The backend for C: a program as loop nests, built by the system's compiler."""

from __future__ import annotations

import ctypes
import functools
import importlib.machinery
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...core.threads import follow_num_threads
from ..numpy_backend import build as build_for_numpy
from ..numpy_backend import source_of as numpy_source_of
from ..program import Program, Value
from ..steps import function_of
from . import blas, toolchain
from .layout import extent, root_of
from .lower import UnsupportedError
from .memory import Memory
from .operations import PythonCall
from .roots import rooted
from .sized import SharedTexts
from .source import Source, written
from .toolchain import NoCompilerError

__all__ = ["BuiltProgram", "NoCompilerError", "SharedTexts", "build", "source_of"]

LETS_RUN_FROM = 1e6
"""Elements computed from which other Python threads may run meanwhile."""

NARROW_FROM, NARROW_TO = 2.0**18, 3e7
"""Multiplications of a product from which BLAS would start threads, and from which it may.

Between two calls these threads wait in loops, and keep others from their cores for milliseconds.
"""


class BuiltProgram:
    """A program that is ready: `run` takes the inputs and returns the outputs."""

    def __init__(self, program: Program, shared: SharedTexts | None = None) -> None:
        program = rooted(program)
        source = written(program)
        self.source = source.text
        """The C."""
        library = _load(source, shared)
        self.run: Callable[..., tuple[Any, ...]] = entry().Entry(
            1 + len(source.memory.slots),
            source.memory.arena_size,
            source.work >= LETS_RUN_FROM,
            NARROW_FROM <= source.largest_product < NARROW_TO,
            tuple(_layout(value, source.memory) for value in program.inputs),
            tuple(_fresh(value, source.memory) for value in source.memory.fresh),
            tuple(_layout(value, source.memory) for value in source.outputs),
            tuple(_stage(stage, source.memory, library) for stage in source.stages),
            tuple((source.memory.slots[value], array) for value, array in source.constants),
            library,
        )


def build(program: Program, shared: SharedTexts | None = None) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs a program: it takes the input arrays, and returns the outputs.

    Programs that differ by a size have what is built in common by `shared`. A program that writes
    complex numbers to an input is one of NumPy's.

    It raises `NoCompilerError` where no compiler is found, or it fails, and ValueError when it is
    called with arrays of another dtype, shape or layout than the inputs of the program.
    """
    try:
        return BuiltProgram(program, shared).run
    except UnsupportedError:
        return build_for_numpy(program)


def source_of(program: Program) -> str:
    """Return the C of a program, or its Python if there is no C; no compiler is needed."""
    try:
        return written(rooted(program)).text
    except UnsupportedError:
        return numpy_source_of(program)


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


def _load(source: Source, shared: SharedTexts | None) -> ctypes.CDLL:
    if shared is None:
        library = ctypes.CDLL(str(toolchain.program(source.text)))
    else:
        library = shared.load(source.text)
    ctypes.c_void_p.in_dll(library, "gs_share").value = entry().share_address()
    if source.largest_product:
        blas.connect(library)
        entry().set_blas(*(blas.thread_counts() or (0, 0)))
    return library


def _layout(value: Value, memory: Memory) -> tuple[Any, ...]:
    root = root_of(value)
    slot = memory.slots.get(root, 0)
    is_whole = slot > 0 and root is value
    offset = value.offset + memory.arena.get(root, 0)
    return (slot, offset, 0, 0, is_whole, value.dtype, value.shape, value.strides)


def _fresh(value: Value, memory: Memory) -> tuple[Any, ...]:
    before, size = (0, 0) if value.is_contiguous else extent(value)
    slot = memory.slots[value]
    return (slot, 0, before, size, True, value.dtype, value.shape, value.strides)


def _stage(stage: str | PythonCall, memory: Memory, library: ctypes.CDLL) -> tuple[Any, ...]:
    if isinstance(stage, str):
        address = ctypes.cast(getattr(library, stage), ctypes.c_void_p).value
        return (address, None, (), ())
    inputs = tuple(dict.fromkeys(stage.inputs))
    ins = tuple(_layout(value, memory) for value in inputs)
    outs = tuple(_layout(value, memory) for value in stage.outputs)
    return (0, _python_function(stage, inputs), ins, outs)


def _python_function(call: PythonCall, inputs: tuple[Value, ...]) -> Callable[..., Any]:
    """Return a step as a function of its arrays; its results lie as those of the capture."""
    step = call.step
    function = function_of(step.function)
    if step.function == "array.loop":
        function = functools.partial(function, body=build_for_numpy(step.args[0].body))

    def run(*arrays: Any) -> tuple[Any, ...]:
        given = dict(zip(inputs, arrays, strict=True))
        found = function(*_filled(step.args, given), **_filled(dict(step.kwargs), given))
        results = found if step.is_tuple else (found,)
        return tuple(
            _as_captured(array, value, arrays)
            for array, value in zip(results, step.outputs, strict=False)
            if value.base is None  # views are read where they lie
        )

    return run


def _filled(structure: Any, arrays: dict[Value, Any]) -> Any:
    """Return arguments with arrays for values, those in slices as well."""
    if isinstance(structure, slice):
        parts = (structure.start, structure.stop, structure.step)
        return slice(*_filled(parts, arrays))
    if isinstance(structure, tuple):
        items = [_filled(item, arrays) for item in structure]
        return getattr(type(structure), "_make", tuple)(items)
    if isinstance(structure, list):
        return [_filled(item, arrays) for item in structure]
    if isinstance(structure, dict):
        return {key: _filled(item, arrays) for key, item in structure.items()}
    return arrays.get(structure, structure) if isinstance(structure, Value) else structure


def _as_captured(array: Any, value: Value, arrays: tuple[Any, ...]) -> Any:
    """Return an array with memory of its own, in the layout of a value."""
    found = np.asarray(array)
    is_own = found.base is None or not any(np.may_share_memory(found, each) for each in arrays)
    if is_own and found.dtype == value.dtype and found.flags.aligned:
        lengths = zip(found.strides, value.strides, found.shape, strict=True)
        if all(ours == theirs or length == 1 for ours, theirs, length in lengths):
            return found
    before, size = extent(value)
    memory = np.empty(max(size, 1), np.uint8)
    made = np.ndarray(value.shape, value.dtype, memory.data, before, value.strides)
    if value.size:
        np.copyto(made, found, casting="unsafe")
    return made
