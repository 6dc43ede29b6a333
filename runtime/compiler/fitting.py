"""A structure that is known for three sizes, as one that is known for every size.

Three captures of a function, at three sizes, have to differ in nothing but numbers, and these have
to follow from the size by one of a few laws: whole numbers by `a * n + b`, floats by `c / (a * n +
b)` with any `c`, and by what is listed in `_LAWS`. Where they do not, `DiffersError` says what does
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.tensor import Tensor, wrap
from .program import Place, Program, Step, Value

Array: TypeAlias = np.ndarray[Any, Any]


DIAGONAL: Final = "diagonal"


class DiffersError(Exception):
    """Something does not follow from the size, or not by a law that is known."""


class Fitted:
    """Facts that follow from the size."""

    def at(self, size: int) -> Any:
        """Return it for a size."""
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Fitted):
    """A whole number."""

    factor: int
    constant: int

    def at(self, size: int) -> int:
        """Return it for a size."""
        return self.factor * size + self.constant


@dataclass(frozen=True)
class Number(Fitted):
    """A float."""

    law: Callable[[int], float]
    whole: Whole
    kind: Any

    def at(self, size: int) -> Any:
        """Return it for a size."""
        return self.kind(self.law(self.whole.at(size)))


@dataclass(frozen=True)
class Share(Fitted):
    """A float divided by a whole number: the gradient of a mean that has a coefficient."""

    number: Any
    whole: Whole

    def at(self, size: int) -> Any:
        """Return it for a size."""
        return self.number / type(self.number)(self.whole.at(size))


@dataclass(frozen=True)
class Filled(Fitted):
    """An array of one number, of numbers that grow by a step, or of one on the diagonal."""

    shape: tuple[Any, ...]
    first: Any
    pattern: Any
    """The step, or `DIAGONAL`."""
    dtype: np.dtype[Any]
    order: tuple[int, ...] | None
    """The dimensions as they lie in memory; None if all elements lie on the same memory."""

    def at(self, size: int) -> Array:
        """Return it for a size."""
        shape, first = instantiate((self.shape, self.first), size)
        if self.order is None:
            return np.broadcast_to(np.array(first, self.dtype), shape)
        if self.pattern == DIAGONAL:
            return np.eye(*shape, dtype=self.dtype) * np.array(first, self.dtype)
        if self.pattern:
            ramp = first + self.pattern * np.arange(math.prod(shape))
            return ramp.astype(self.dtype).reshape(shape)
        filled = np.full([shape[dim] for dim in self.order], first, self.dtype)
        return filled.transpose(np.argsort(self.order)) if self.order else filled


@dataclass(frozen=True)
class Wrapped(Fitted):
    """A tensor, which some kernels take for its shape."""

    array: Filled

    def at(self, size: int) -> Tensor:
        """Return it for a size."""
        return wrap(self.array.at(size))


Law: TypeAlias = tuple[Callable[[float], float], Callable[[float], float]]


def _laws() -> list[Law]:
    """Pairs of a law, as a function of a whole number, and of its inverse."""
    found: list[Law] = []
    for c in (1.0, 2.0, 0.5, -1.0, -2.0, -0.5):
        found += [
            (lambda n, c=c: c / n, lambda v, c=c: c / v),  # type: ignore[misc]
            (lambda n, c=c: c * n, lambda v, c=c: v / c),  # type: ignore[misc]
        ]
    found += [
        (lambda n: n / (n - 1), lambda v: 1 / (v - 1) + 1),
        (lambda n: (n - 1) / n, lambda v: 1 / (1 - v)),
    ]
    found += [
        (lambda n: n**0.5, lambda v: v * v),
        (lambda n: n**-0.5, lambda v: 1 / (v * v)),
        (lambda n: 1 / n**0.5, lambda v: 1 / (v * v)),
    ]
    return found


_LAWS: Final = _laws()

_FACTORS: Final = 1024
"""One more than the largest number of elements of an example with a mean."""


class Fitting:
    """Fits structures that were found at some sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = sizes
        self.values: dict[Value, tuple[Value, tuple[Value, ...]]] = {}
        """For the values of the first structure, those of the fitted one, and of all found."""
        self.place = Place()
        """Position of the step that is being fitted."""

    def fit(self, *found: Any) -> Any:
        """Return the structure that is each of those found at its size."""
        first = found[0]
        if any(_kind(each) is not _kind(first) for each in found):
            raise self._differs(f"{first!r} is {found[-1]!r}")
        if isinstance(first, Value):
            return self._value(*found)
        if isinstance(first, Step):
            self.place = first.place
        if isinstance(first, Program | Step) or (is_dataclass(first) and not callable(first)):
            names = sorted((f.name for f in fields(first)), key=lambda name: name != "steps")
            return replace(
                first, **{name: self.fit(*(getattr(f, name) for f in found)) for name in names}
            )
        if isinstance(first, tuple | list):
            self._check_lengths(found)
            items = [self.fit(*items) for items in zip(*found, strict=True)]
            return first._make(items) if hasattr(first, "_make") else type(first)(items)
        if isinstance(first, Mapping):
            if any(list(each) != list(first) for each in found):
                raise self._differs("other names")
            return {key: self.fit(*(each[key] for each in found)) for key in first}
        if isinstance(first, slice):
            return slice(*self.fit(*((s.start, s.stop, s.step) for s in found)))
        return self._leaf(found)

    def _leaf(self, found: Sequence[Any]) -> Any:
        first = found[0]
        if isinstance(first, Tensor):
            array = self._array([each.array for each in found])
            return Wrapped(array) if isinstance(array, Filled) else first
        if isinstance(first, np.ndarray):
            return self._array(found)
        if isinstance(first, np.dtype | np.generic | str | bool) or type(first) is complex:
            if any(repr(each) != repr(first) for each in found):
                raise self._differs(f"{first!r} is {found[-1]!r}")
            return first
        if isinstance(first, int):
            return self._whole([int(each) for each in found])
        if isinstance(first, float):
            return self._number(found, float)
        if isinstance(first, frozenset):
            if any(each != first for each in found):
                raise self._differs("other tensors")
            return first
        if any(each is not first for each in found) and any(each != first for each in found):
            raise self._differs(f"{first!r} is {found[-1]!r}")
        return first

    def _value(self, *found: Value) -> Value:
        known = self.values.get(found[0])
        if known is None:
            names = [each.name for each in fields(Value) if each.name != "name"]
            fitted = {name: self.fit(*(getattr(f, name) for f in found)) for name in names}
            known = Value(found[0].name, **fitted), found
            self.values[found[0]] = known
        if any(ours is not theirs for ours, theirs in zip(known[1], found, strict=True)):
            raise self._differs(f"which value is read ({found[0].name})")
        return known[0]

    def _whole(self, found: Sequence[int]) -> int | Whole:
        if all(each == found[0] for each in found):
            return found[0]
        whole = _whole_of(self.sizes, found)
        if whole is None:
            raise self._differs(f"{_listed(found)}, which is not a multiple of it and a constant")
        return whole

    def _number(self, found: Sequence[Any], kind: Any) -> Any:
        if all(each == found[0] or each != each for each in found):
            self._check_same_bits(found)
            return found[0]
        for law, inverse in _LAWS:
            try:
                wholes = [inverse(float(each)) for each in found]
                rounded = [round(each) for each in wholes]
                whole = _whole_of(self.sizes, rounded)
                if whole is None:
                    continue
                number = Number(law, whole, kind)
                if all(number.at(n) == v for n, v in zip(self.sizes, found, strict=True)):
                    return number
            except (ZeroDivisionError, OverflowError, ValueError):
                continue
        share = _share_of(self.sizes, found)
        if share is None:
            raise self._differs(f"the number {_listed(found)}")
        return share

    def _check_same_bits(self, found: Sequence[Any]) -> None:
        if len({repr(each) for each in found}) > 1:
            raise self._differs(f"the number {_listed(found)}")

    def _array(self, found: Sequence[Array]) -> Any:
        first = found[0]
        if all(each is first for each in found):
            return first
        if any(each.dtype != first.dtype for each in found):
            raise self._differs("an array of another dtype")
        same = all(each.shape == first.shape for each in found)
        if same and all(each.tobytes() == first.tobytes() for each in found):
            return first
        return self._filled(found)

    def _filled(self, found: Sequence[Array]) -> Filled:
        first = found[0]
        if not all(each.size for each in found):
            raise self._differs("an array without elements")
        shape = self.fit(*(each.shape for each in found))
        order = _order_of(first)
        if any(_order_of(each) != order for each in found):
            raise self._differs("an array in another layout")
        starts, patterns = [each.flat[0] for each in found], {_pattern_of(each) for each in found}
        pattern = patterns.pop()
        is_row = order is None or list(order) == sorted(order)
        if patterns or pattern is None or (pattern and not is_row):
            raise self._differs(f"an array of shape {list(first.shape)} that is computed of it")
        if first.dtype.kind in "iub":
            start: Any = self._whole([int(each) for each in starts])
        elif first.dtype.kind == "f":
            start = self._number(starts, first.dtype.type)
        else:
            start = self._leaf(starts)
        return Filled(shape, start, pattern, first.dtype, order)

    def _check_lengths(self, found: Sequence[Any]) -> None:
        if any(len(each) != len(found[0]) for each in found):
            self.place = _first_difference(found) or self.place
            raise self._differs(f"{_shown(found[0])} is {_shown(found[-1])}")

    def _differs(self, what: str) -> DiffersError:
        where = f"{self.place}: " if str(self.place) else ""
        return DiffersError(f"{where}{what} (at the sizes {_listed(self.sizes)})")


def instantiate(structure: Any, size: int, known: dict[Value, Value] | None = None) -> Any:
    """Return a fitted structure at a size."""
    known = {} if known is None else known
    if isinstance(structure, Fitted):
        return structure.at(size)
    if isinstance(structure, Value):
        found = known.get(structure)
        if found is None:
            names = [each.name for each in fields(Value)]
            found = Value(*(instantiate(getattr(structure, name), size, known) for name in names))
            known[structure] = found
        return found
    if isinstance(structure, Place):
        return structure
    if is_dataclass(structure) and not isinstance(structure, type):
        names = [each.name for each in fields(structure)]
        changed = {name: instantiate(getattr(structure, name), size, known) for name in names}
        return replace(structure, **changed)
    if isinstance(structure, tuple | list):
        items = [instantiate(item, size, known) for item in structure]
        return structure._make(items) if hasattr(structure, "_make") else type(structure)(items)
    if isinstance(structure, Mapping):
        return {key: instantiate(item, size, known) for key, item in structure.items()}
    if isinstance(structure, slice):
        return slice(
            *(instantiate(s, size) for s in (structure.start, structure.stop, structure.step))
        )
    return structure


def _kind(value: Any) -> Any:
    return int if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _whole_of(sizes: Sequence[int], found: Sequence[int]) -> Whole | None:
    factor, rest = divmod(found[1] - found[0], sizes[1] - sizes[0])
    whole = Whole(factor, found[0] - factor * sizes[0])
    if rest or any(whole.at(n) != v for n, v in zip(sizes, found, strict=True)):
        return None
    return whole


def _share_of(sizes: Sequence[int], found: Sequence[Any]) -> Share | None:
    """Return a float over `a * n + b` that is what was found, to the last bit.

    The ratio of `b` to `a` follows from two of the numbers. Which `a` it is shows in the rounding.
    """
    first, second = float(found[0]), float(found[1])
    if not (math.isfinite(first) and math.isfinite(second)) or first == second:
        return None
    ratio = (second * sizes[1] - first * sizes[0]) / (first - second)
    for factor in range(1, _FACTORS):
        whole = Whole(factor, round(factor * ratio))
        number = type(found[0])(first * whole.at(sizes[0]))
        for numerator in (number, np.nextafter(number, 0), np.nextafter(number, 2 * number)):
            share = Share(type(found[0])(numerator), whole)
            if all(whole.at(n) and share.at(n) == v for n, v in zip(sizes, found, strict=True)):
                return share
    return None


def _order_of(array: Array) -> tuple[int, ...] | None:
    """The dimensions as they lie in memory, without gaps; None if all elements are one."""
    if array.ndim and not any(array.strides):
        return None
    order = tuple(sorted(range(array.ndim), key=lambda dim: -array.strides[dim]))
    return order if array.transpose(order).flags.c_contiguous else (-1,)


def _pattern_of(array: Array) -> Any:
    """The step from an element to the next, or `DIAGONAL`; None if it is neither."""
    flat = array.ravel()
    if flat.tobytes() == np.full_like(flat, flat[0]).tobytes():
        return 0
    if array.dtype.kind not in "iuf":
        return None
    if array.ndim == 2 and (np.eye(*array.shape, dtype=array.dtype) * flat[0] == array).all():
        return None if np.signbit(array).any() else DIAGONAL
    step = (flat[1] - flat[0]).item()
    ramp = (flat[0] + step * np.arange(flat.size)).astype(array.dtype)
    return step if ramp.tobytes() == flat.tobytes() else None


def _first_difference(found: Sequence[Any]) -> Place | None:
    """The place of the first step that is not the same call."""
    if not all(isinstance(step, Step) for steps in found for step in steps):
        return None
    for steps in zip(*found, strict=False):
        if len({step.function for step in steps}) > 1:
            return steps[0].place
    shortest = min(found, key=len)
    return next((steps[len(shortest)].place for steps in found if len(steps) > len(shortest)), None)


def _shown(items: Sequence[Any]) -> str:
    text = repr(items)
    return text if len(text) < 100 else f"{len(items)} items"


def _listed(items: Sequence[Any]) -> str:
    return ", ".join(map(str, items))
