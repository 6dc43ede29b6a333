"""The backend for C: a program as loop nests, built by the system's compiler."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

from ...core.threads import follow_num_threads
from ..numpy_backend import build as build_for_numpy
from ..numpy_backend import source_of as numpy_source_of
from ..program import Program, Value
from . import blas, toolchain
from .layout import extent, root_of
from .lower import UnsupportedError
from .memory import Memory
from .operations import PythonCall
from .python_calls import python_function
from .roots import rooted
from .sized import SharedTexts
from .source import Source, written
from .toolchain import NoCompilerError

__all__ = ["BuiltProgram", "NoCompilerError", "SharedTexts", "build", "source_of"]

LETS_RUN_FROM = 1e6
"""Elements computed from which other Python threads may run meanwhile."""


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
            source.narrows_blas,
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
    if source.calls_blas:
        blas.connect(library)
        found = blas.library()
        counts = found.thread_counts if found is not None else None
        entry().set_blas(*(counts or (0, 0)))
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
    return (0, python_function(stage, inputs), ins, outs)
