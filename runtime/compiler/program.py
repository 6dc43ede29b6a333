"""The program that is captured of a function: what backends read, and passes rewrite.

A `Program` is a straight line of `Step`s on `Value`s, in static single assignment: each value is
an input, a constant, or an output of exactly one step, and nothing ever changes one. A write of the
function to memory (`tensor.add_(1)`) is a step that makes a new value; a write to an input, such
as a parameter, is in `Program.writes` as well, and takes place after the last step.

The functions that steps call, by the first part of their name:

`np.`
    NumPy's, as in `np.add`, `np.matmul`, `np.add.reduce`, `np.where`, `np.linalg.inv`. What a
    method or an operator of an array calls is here under its ufunc: `a + b` is `np.add`,
    `a.sum(axis=1)` is `np.add.reduce` with `axis=1`, `a.max()` is `np.maximum.reduce` with
    `axis=None`. Every argument that NumPy would fill in by itself may be missing.
`scipy.`
    SciPy's ufuncs: `scipy.erf`.
`kernels.`
    The runtime's, which `gradspec.kernels` has by that name, called on arrays.
`array.`
    Those of `steps.py`, which has a docstring for each: `array.getitem(a, index)`,
    `array.reshape(a, shape)`, `array.transpose(a, axes)`, `array.broadcast_to(a, shape)`,
    `array.astype(a, dtype)`, `array.copy(a)`, `array.overwrite(a, views, index, values)`, which
    is a copy of `a` with `values` at `index` of a view of it, and so on.
    `array.loop(loop, states, rows, others)` repeats the program of a `Loop`.

A backend may run steps in any order that puts each after those that make its arguments, leave out
what nothing reads, and put several into one loop. Only the dtypes, shapes and numbers of the
outputs count, so that a value that is neither an output nor read by an unknown function may have
another layout than the one it was captured with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np


@dataclass(frozen=True, eq=False)
class Value:
    """An array of a program: its name there and what is known before it is computed.

    Two values are equal if they are the same object.
    """

    name: str
    """An identifier, unique in the program: `x0`, `w3`, `v12`."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    """Bytes from one element to the next in each dimension, as NumPy counts them."""
    base: Value | None = None
    """For a view, the value that owns its memory, which is no view itself; None otherwise."""
    offset: int = 0
    """For a view, the bytes from the first element of the base to that of the view."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Return whether the elements lie in a row, the last dimension first."""
        expected = self.dtype.itemsize
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != expected and self.size:
                return False
            expected *= length
        return True

    def __repr__(self) -> str:
        lengths = ",".join(map(str, self.shape))
        return f"{self.name}: {self.dtype}[{lengths}]"


@dataclass(frozen=True)
class Place:
    """Origin of a step."""

    op: str = ""
    """The op or the node that called the function: `mul`, `MulBackward0`; empty if unknown."""
    file: str = ""
    line: int = 0
    """The line of the user's program, 0 if unknown."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else ""
        return " ".join(filter(None, (self.op, where)))


@dataclass(frozen=True, eq=False)
class Step:
    """One call of a function."""

    function: str
    args: tuple[Any, ...]
    """Positional arguments. A `Value` stands for an array, also inside of tuples, lists, dicts and
    slices (`walk` finds them); everything else is itself: Python numbers, None, dtypes, strings."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments, of the same kinds. There is no `out=`."""
    outputs: tuple[Value, ...] = ()
    """The arrays that the call returns, in order; there are none for an assertion."""
    is_tuple: bool = False
    """True if the call returns a tuple, or a list, of the outputs instead of the only one."""
    place: Place = field(default_factory=Place)

    @cached_property
    def inputs(self) -> tuple[Value, ...]:
        """The values among the arguments, in order; one that is read twice is there twice."""
        return tuple(walk((self.args, self.kwargs)))


@dataclass(frozen=True, eq=False)
class Program:
    """A straight line of steps, with what it takes and returns."""

    inputs: tuple[Value, ...]
    """Each is an array that the caller passes, of exactly this shape, dtype and strides. No two
    overlap in memory."""
    constants: tuple[tuple[Value, np.ndarray[Any, Any]], ...]
    """Arrays that are the same at every call, and must not be written to."""
    steps: tuple[Step, ...]
    outputs: tuple[Value, ...]
    """Values that are returned, in order; may hold inputs, constants, views, and a value twice."""
    writes: tuple[tuple[Value, Value], ...] = ()
    """Pairs of an input and of the value, of the same shape and dtype, that is to be copied into
    its array after the last step. A pair's value may lie on the memory of another pair's input, so
    that such a value is to be copied before the first is written."""


@dataclass(frozen=True, eq=False)
class Loop:
    """Body of a step `array.loop`, with a state that each round hands to the next."""

    body: Program
    """One round. Its inputs are the states, a row of each array that is gone through, and what is
    the same in all rounds; its outputs the next states and a row of each result. States and
    outputs lie in a row in memory, and each output has memory of its own."""
    length: int | None
    """The number of rounds, one at least; None for as many as the first state is true."""
    states: int
    """Number of states."""
    rows: int
    """Number of arrays that it iterates over."""
    is_reversed: bool = False
    """True if the last row comes first."""


def walk(structure: Any) -> list[Value]:
    """Find the values in a structure of tuples, lists, dicts and slices, in order."""
    found: list[Value] = []
    _collect((structure,), found)
    return found


def _collect(structure: Iterable[Any], found: list[Value]) -> None:
    for item in structure:
        kind = type(item)
        if kind is Value:
            found.append(item)
        elif kind in LEAVES:
            continue
        elif isinstance(item, tuple | list):
            _collect(item, found)
        elif isinstance(item, dict):
            _collect(item.values(), found)
        elif kind is slice:
            _collect((item.start, item.stop, item.step), found)


LEAVES: Final = frozenset((int, float, bool, str, type(None), type(...), np.ndarray))
"""Types of arguments that nothing is inside of."""


def rewrite(structure: Any, replacements: Mapping[Value, Any]) -> Any:
    """Return a structure with values replaced, those that are keys of `replacements`."""
    if isinstance(structure, Value):
        return replacements.get(structure, structure)
    if isinstance(structure, tuple):
        items = [rewrite(item, replacements) for item in structure]
        made = getattr(type(structure), "_make", tuple)  # a named tuple stays one
        return made(items)
    if isinstance(structure, list):
        return [rewrite(item, replacements) for item in structure]
    if isinstance(structure, dict):
        return {key: rewrite(item, replacements) for key, item in structure.items()}
    return structure


def rooted(program: Program) -> Program:
    """Return a program in which every base is an input, a constant, or made by a step.

    Of views whose base a pass has taken out of the program, the first owns the memory.
    """
    made = [value for step in program.steps for value in step.outputs]
    values = [*program.inputs, *(value for value, _ in program.constants), *made]
    known = {value for value in values if value.base is None}
    owners: dict[Value, Value] = {}
    new: dict[Value, Value] = {}
    for value in values:
        base = value.base
        if base is None or base in known:
            continue
        if base not in owners:
            owners[base] = value
            new[value] = replace(value, base=None, offset=0)
        else:
            first = owners[base]
            new[value] = replace(value, base=new[first], offset=value.offset - first.offset)
    if not new:
        return program
    steps = tuple(
        Step(
            step.function,
            rewrite(step.args, new),
            rewrite(dict(step.kwargs), new),
            rewrite(step.outputs, new),
            step.is_tuple,
            step.place,
        )
        for step in program.steps
    )
    return Program(
        rewrite(program.inputs, new),
        tuple((new.get(value, value), array) for value, array in program.constants),
        steps,
        rewrite(program.outputs, new),
        rewrite(program.writes, new),
    )
