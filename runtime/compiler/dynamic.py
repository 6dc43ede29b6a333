"""`dynamic=True`: one capture for all sizes of a leading dimension.

The function is captured at three sizes, by which a program for every size is known
(`fitting`). For a size that comes up this is filled in, and goes to the backend as any other
program. Sizes 0 and 1, at which shapes broadcast and reductions are empty, have captures of their
own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.tensor import Tensor
from .backends import Backend
from .capture import Resize
from .errors import CaptureError
from .fitting import DiffersError, Fitting, instantiate
from .joint import Trace
from .lengths import Condition, Watch
from .passes import drop_dead_steps
from .sources import Sources

Array: TypeAlias = np.ndarray[Any, Any]
Key: TypeAlias = tuple[Any, ...]
Leaves: TypeAlias = frozenset[int]
TraceAt: TypeAlias = Callable[[Resize], Trace]

SMALLEST: Final = 2
"""The size from which a program holds for all."""
_SIZES: Final[tuple[int, ...]] = (53, 58, 72)
"""Sizes of the captures: they differ by 2, 3 and 4 in the rest of a division."""
_APART: Final = 36
"""Step that is added to them until no tensor has such a length."""


@dataclass
class Family:
    """The programs of a function that differ by the size of some leading dimensions only."""

    leaves: Leaves
    """The arguments whose leading dimension varies."""
    key: Key
    """A signature without that size."""
    sources: Sources
    backend: Backend
    trace: Trace | None = None
    """None where each size has a capture of its own."""
    why: str = ""
    """Reason for that."""
    is_told: bool = False
    """True once the user was warned of it."""
    conditions: list[Condition] = field(default_factory=list)
    has_grad: list[bool] = field(default_factory=list)

    def size_of(self, key: Key) -> int | None:
        """Return the size that a signature has, None if it is of another family."""
        found = without_size(key, self.leaves)
        return found[1] if found is not None and found[0] == self.key else None

    def at(self, size: int) -> Trace | None:
        """Return what would be captured at a size; None if that is not known."""
        if self.trace is None or any(c.holds(size) is not c.answer for c in self.conditions):
            return None
        trace: Trace = instantiate(self.trace, size)
        lengths = (step.args[0].length for step in trace.program.steps if _is_counted(step))
        return trace if all(length > 0 for length in lengths) else None


def _is_counted(step: Any) -> bool:
    return step.function == "array.loop" and step.args[0].length is not None


def capture(family: Family, tensors: Sequence[Any], trace_at: TraceAt) -> None:
    """Capture a function at three sizes; where that does not fit together, say `why`."""
    sizes = _sizes(tensors)
    arrays = [each.array if isinstance(each, Tensor) else each for each in tensors]
    varying = [arrays[number] for number in family.leaves]
    varying += [
        grad.array
        for number in family.leaves
        if (grad := getattr(tensors[number], "_grad", None)) is not None
    ]
    found, watches = [], [Watch(size) for size in sizes]
    try:
        for watch in watches:
            with watch.watching(), np.errstate(all="ignore"):
                found.append(_needed(trace_at(_resize(varying, watch.size))))
        _check(watches)
        family.trace = Fitting(sizes).fit(*found)
        family.conditions = [each for watch in watches for each in watch.conditions]
    except (CaptureError, DiffersError) as error:
        family.why = str(error)
    except Exception as error:  # the function's own, which a size of the user's may not meet
        family.why = f"{type(error).__name__} at another size: {error}"


def _needed(trace: Trace) -> Trace:
    """Return a capture without steps that nothing reads: a first one may try what others know."""
    grads = (grad for backward in trace.backwards for grad in backward.grads if grad is not None)
    program = trace.program
    wanted = (*program.outputs, *(value for _, value in program.writes), *grads)
    outputs = tuple(dict.fromkeys(wanted))
    pruned = drop_dead_steps(replace(program, outputs=outputs))
    return replace(trace, program=replace(pruned, outputs=program.outputs))


def _check(watches: Sequence[Watch]) -> None:
    for watch in watches:
        for what, place in watch.leaks:
            raise DiffersError(
                f"{place}: a number is made of the size by {what}; x.shape[0] is followed"
            )
        for each in watch.conditions:
            if any(each.holds(other.size) is not each.answer for other in watches):
                raise DiffersError(f"{each.place}: a condition depends on the size")


def _sizes(tensors: Sequence[Any]) -> tuple[int, ...]:
    """The sizes of the captures: lengths that no input has."""
    lengths = {length for tensor in tensors for length in tensor.shape}
    sizes = _SIZES
    while lengths.intersection(sizes):
        sizes = tuple(size + _APART for size in sizes)
    return sizes


def _resize(varying: Sequence[Array], size: int) -> Resize:
    known = {id(array) for array in varying}

    def resized(array: Array) -> Array:
        return np.resize(array, (size, *array.shape[1:])) if id(array) in known else array

    return resized


# ---- signatures


def forms_of(key: Key) -> Iterator[tuple[int, tuple[int, ...], Any]]:
    """Find the tensors and arrays of a signature: positions, shapes, and what is there."""
    for at, part in enumerate(key):
        if isinstance(part, tuple) and len(part) == 4:
            yield at, part[1] if isinstance(part[0], str) else part[0], part


def without_size(key: Key, leaves: Leaves) -> tuple[Key, int] | None:
    """Return a signature without the leading size of some arguments, and this size.

    None if they have several, it is below `SMALLEST`, or one does not lie in a row.
    """
    parts, sizes = list(key), set()
    for number, (at, shape, part) in enumerate(forms_of(key)):
        if number not in leaves:
            continue
        if not shape or not _is_row(shape, *_layout(part)):
            return None
        sizes.add(shape[0])
        parts[at] = "sized", shape[1:], *(each for each in part if each is not shape)
    if len(sizes) != 1 or min(sizes) < SMALLEST:
        return None
    return tuple(parts), sizes.pop()


def _layout(part: tuple[Any, ...]) -> tuple[Any, Any]:
    """The dtype and the strides in a form."""
    return (part[2], part[3]) if isinstance(part[0], str) else (part[1], part[2])


def _is_row(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...]) -> bool:
    expected = dtype.itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if stride != expected:
            return False
        expected *= length
    return True


def guessed(key: Key) -> Leaves:
    """Return the arguments whose size is to vary, before any has: that of the first of data.

    These are all whose leading dimension is that of the first tensor that requires no gradient.
    """
    forms = [(number, shape, part[-1]) for number, (_, shape, part) in enumerate(forms_of(key))]
    with_size = [form for form in forms if form[1]]
    data = [form for form in with_size if form[2] is not True] or with_size
    if not data:
        return frozenset()
    return frozenset(number for number, shape, _ in with_size if shape[0] == data[0][1][0])


def varied(before: Key, after: Key) -> Leaves | None:
    """Return the arguments between two signatures that differ by one leading size only."""
    if len(before) != len(after):
        return None
    ours, theirs = list(forms_of(before)), list(forms_of(after))
    if len(ours) != len(theirs):
        return None
    leaves = frozenset(
        number
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True))
        if one[1] != other[1]
    )
    one, other = without_size(before, leaves), without_size(after, leaves)
    return leaves if one is not None and other is not None and one[0] == other[0] else None
