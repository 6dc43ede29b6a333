"""Elements that are chosen, or added up, by an array of positions, as loops of C.

Everything here is one of two loops over (outer, count, inner): the element at `(o, j, i)` is that
at the position `numbers[j]`, or `numbers[o, j, i]`, along the middle dimension of a table of shape
(outer, length, inner). Arrays that do not lie in a row have their function called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from ..program import Step, Value
from .operations import Call, Operation
from .scalars import C_TYPES

_POSITIONS: Final = (np.dtype(np.int64), np.dtype(np.int32))


@dataclass(frozen=True)
class _Places:
    """Positions of elements in a table along one of its dimensions."""

    numbers: Value
    outer: int
    length: int
    inner: int
    each: bool
    """True if every element has a number of its own, False if a row of the table has one."""
    message: str
    """Text for a number that is no position: `I` before that of an IndexError, else `R`."""
    from_end: bool = False
    """True if negative numbers count from the end."""

    def loop(self, body: str) -> list[str]:
        """Return lines that run one statement at each `at`, a place of a table, and `k`."""
        count = self.numbers.size // (self.outer * self.inner) if self.each else self.numbers.size
        inner, length = self.inner, self.length
        check = [
            *([f"if (row < 0) row += {length};"] if self.from_end else []),
            f'if ((uint64_t)row >= {length}) return "{self.message}";',
        ]
        number = f"(const {C_TYPES[self.numbers.dtype]} *)({{0}})"
        over_inner = f"for (long i = 0; i < {inner}; i++) {{{{"
        place = [f"const long at = (o * {length} + row) * {inner} + i;", body]
        if self.each:
            rest = [over_inner, "long row = numbers[k];", *check, *place, "k++;", "}}"]
        else:
            rest = ["long row = numbers[j];", *check, over_inner, *place, "k++;", "}}"]
        return [
            f"const {C_TYPES[self.numbers.dtype]} *numbers = {number};",
            "long k = 0;",
            f"for (long o = 0; o < {self.outer}; o++)",
            f"for (long j = 0; j < {count}; j++) {{{{",
            *rest,
            "}}",
        ]


def _choose(step: Step, table: Any, places: _Places | None) -> list[Operation] | None:
    """Return the elements of a table at some places."""
    (out,) = step.outputs
    if places is None or not _in_rows(table, out) or table.dtype != out.dtype:
        return None
    ctype = C_TYPES[out.dtype]
    lines = [
        "{{",
        f"const {ctype} *table = (const {ctype} *)({{1}});",
        f"{ctype} *chosen = ({ctype} *)({{out}});",
        *places.loop("chosen[k] = table[at];"),
        "}}",
    ]
    return [Call(step, out, (places.numbers, table), lines, 2.0 * out.size)]


def _add(
    step: Step, values: Any, places: _Places | None, start: Any = None
) -> list[Operation] | None:
    """Return zeros, or an array to start with, with values added at some places."""
    (out,) = step.outputs
    arrays = (values, out) if start is None else (values, out, start)
    if places is None or not _in_rows(*arrays) or out.dtype.kind != "f":
        return None
    if any(array.dtype != out.dtype for array in arrays):
        return None
    ctype = C_TYPES[out.dtype]
    given = [] if start is None else [f"const {ctype} *start = (const {ctype} *)({{2}});"]
    first = "0" if start is None else "start[i]"
    lines = [
        "{{",
        f"const {ctype} *values = (const {ctype} *)({{1}});",
        f"{ctype} *sums = ({ctype} *)({{out}});",
        *given,
        f"for (long i = 0; i < {out.size}; i++) sums[i] = {first};",
        *places.loop("sums[at] += values[k];"),
        "}}",
    ]
    operands = (places.numbers, values) if start is None else (places.numbers, values, start)
    return [Call(step, out, operands, lines, 2.0 * (values.size + out.size))]


# ---- the kernels


def _rows(
    shape: Sequence[int], dim: int, numbers: Any, message: str = "", from_end: bool = False
) -> _Places | None:
    """Return the places of whole slices along a dimension."""
    if not shape or not _are_positions(numbers):
        return None
    message = message or "Iindex out of range in self"
    return _Places(numbers, *_around(shape, dim), each=False, message=message, from_end=from_end)


def _elements(shape: Sequence[int], dim: int, numbers: Any) -> _Places | None:
    """Return the places of elements along a dimension, of as many as there are in the others."""
    if not shape or not _are_positions(numbers) or len(numbers.shape) != len(shape):
        return None
    dim %= len(shape)
    if any(a != b for d, (a, b) in enumerate(zip(shape, numbers.shape, strict=True)) if d != dim):
        return None
    message = f"Rindex is out of bounds for dimension {dim} with size {shape[dim]}"
    return _Places(numbers, *_around(shape, dim), each=True, message=message)


def _around(shape: Sequence[int], dim: int) -> tuple[int, int, int]:
    """Return how many elements there are before a dimension, along it, and after it."""
    dim %= len(shape)
    return prod(shape[:dim]), shape[dim], prod(shape[dim + 1 :])


def _of_list(shape: Sequence[int], indices: Sequence[Any]) -> _Places | None:
    """Return the places of an index that is one array of positions among slices."""
    dims = [dim for dim, each in enumerate(indices) if each is not None]
    if len(dims) != 1:
        return None
    message = f"Iindex is out of bounds for dimension {dims[0]} with size {shape[dims[0]]}"
    return _rows(shape, dims[0], indices[dims[0]], message, from_end=True)


def _embedding(step: Step) -> list[Operation] | None:
    table, numbers, _ = step.args
    return _choose(step, table, _rows(table.shape, 0, numbers))


def _embedding_backward(step: Step) -> list[Operation] | None:
    grad, numbers, count, padding, is_scaled = step.args
    if padding >= 0 or is_scaled:
        return None
    return _add(step, grad, _rows((count, grad.shape[-1]), 0, numbers))


def _index(step: Step) -> list[Operation] | None:
    table, indices = step.args
    return _choose(step, table, _of_list(table.shape, indices))


def _index_backward(step: Step) -> list[Operation] | None:
    grad, shape, indices = step.args
    return _add(step, grad, _of_list(shape, indices))


def _index_select(step: Step) -> list[Operation] | None:
    table, dim, numbers = step.args
    return _choose(step, table, _rows(table.shape, dim, numbers))


def _index_select_backward(step: Step) -> list[Operation] | None:
    grad, shape, dim, numbers = step.args
    return _add(step, grad, _rows(shape, dim, numbers))


def _index_add(step: Step) -> list[Operation] | None:
    start, dim, numbers, values, factor = step.args
    if factor != 1:
        return None
    size = start.shape[dim] if start.shape else 1
    message = f"Iindex_add_(): index out of range for dimension {dim} with size {size}"
    return _add(step, values, _rows(start.shape, dim, numbers, message), start)


def _gather(step: Step) -> list[Operation] | None:
    table, dim, numbers = step.args
    return _choose(step, table, _elements(table.shape, dim, numbers))


def _gather_backward(step: Step) -> list[Operation] | None:
    grad, shape, dim, numbers = step.args
    return _add(step, grad, _elements(shape, dim, numbers))


def _scatter_add(step: Step) -> list[Operation] | None:
    start, dim, numbers, values = step.args
    if not isinstance(values, Value) or values.shape != numbers.shape:
        return None
    return _add(step, values, _elements(start.shape, dim, numbers), start)


RULES: Final[dict[str, Callable[[Step], list[Operation] | None]]] = {
    "embedding": _embedding,
    "embedding_dense_backward": _embedding_backward,
    "index": _index,
    "index_backward": _index_backward,
    "index_select": _index_select,
    "index_select_backward": _index_select_backward,
    "index_add": _index_add,
    "gather": _gather,
    "gather_backward": _gather_backward,
    "scatter_add": _scatter_add,
}


def _are_positions(numbers: Any) -> bool:
    return _in_rows(numbers) and numbers.dtype in _POSITIONS


def _in_rows(*arrays: Any) -> bool:
    """Return whether the elements of arrays lie one behind the other, the last dimension first."""
    for array in arrays:
        if not isinstance(array, Value):
            return False
        expected = array.dtype.itemsize
        for length, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
            if length != 1 and stride != expected:
                return False
            expected *= length
    return True
