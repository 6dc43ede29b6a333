"""A program that no earlier process has built: it is written as C, and compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..numpy_backend import build as build_for_numpy
from ..numpy_backend import source_of as numpy_source_of
from ..program import Program, Value, rooted
from . import toolchain
from .forms import Called, Form, Layout, connected, loaded
from .layout import extent, root_of
from .lower import UnsupportedError
from .memory import Memory
from .operations import PythonCall
from .sized import SharedTexts
from .source import Source, written

LETS_RUN_FROM = 1e6
"""Elements computed from which other Python threads may run meanwhile."""


def built(
    program: Program, shared: SharedTexts | None, keep: Callable[[Form, Path], None] | None
) -> Callable[..., tuple[Any, ...]]:
    """Return a function that runs a program: see `build`."""
    on_roots = rooted(program)
    try:
        source = written(on_roots)
    except UnsupportedError:
        return build_for_numpy(program)
    form = _form(source, on_roots)
    if shared is not None:
        return connected(form, shared.load(source.text))
    path = toolchain.program(source.text)
    run = connected(form, loaded(path))
    if keep is not None:
        keep(form, path)
    return run


def source_of(program: Program) -> str:
    """Return the C of a program, or its Python if there is no C."""
    try:
        return written(rooted(program)).text
    except UnsupportedError:
        return numpy_source_of(program)


def _form(source: Source, program: Program) -> Form:
    unit = source.unit
    memory = unit.memory
    return Form(
        1 + len(memory.slots),
        memory.arena_size,
        unit.work >= LETS_RUN_FROM,
        source.narrows_blas,
        source.calls_blas,
        tuple(_layout(value, memory) for value in program.inputs),
        tuple(_fresh(value, memory) for value in memory.fresh),
        tuple(_layout(value, memory) for value in unit.outputs),
        tuple(_stage(stage, memory) for stage in source.stages),
        tuple((memory.slots[value], array) for value, array in unit.constants.items()),
    )


def _layout(value: Value, memory: Memory) -> Layout:
    root = root_of(value)
    slot = memory.slots.get(root, 0)
    is_whole = slot > 0 and root is value
    offset = value.offset + memory.arena.get(root, 0)
    return (slot, offset, 0, 0, is_whole, value.dtype, value.shape, value.strides)


def _fresh(value: Value, memory: Memory) -> Layout:
    before, size = (0, 0) if value.is_contiguous else extent(value)
    slot = memory.slots[value]
    return (slot, 0, before, size, True, value.dtype, value.shape, value.strides)


def _stage(stage: str | PythonCall, memory: Memory) -> str | Called:
    if isinstance(stage, str):
        return stage
    inputs = tuple(dict.fromkeys(stage.inputs))
    ins = tuple(_layout(value, memory) for value in inputs)
    outs = tuple(_layout(value, memory) for value in stage.outputs)
    return Called(stage.step, inputs, ins, outs)
