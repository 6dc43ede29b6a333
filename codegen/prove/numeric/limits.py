"""Derivatives at a point against those around it, to third order and in every mode.

The first derivatives of an op are proved on open regions. So around a point they are known, and if
they go on through it, with the same slope on both sides, then at the point they must be what they
tend to, and their derivatives must be that slope. Floats tell: of a rule that is wrong at the point
alone (a division by zero, a mask, a special case) nothing is off by a little.

Limits and slopes come from the neighbours alone. Where these disagree, or are not finite, nothing
is said: there the op has a kink, or an end. At an end the side that there is counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ...spec.model import OpSpec
from ..identities.compositions import Arrays, Composition, Directions
from ..identities.identity import Mismatch
from ..identities.run import Array, Call, Leaf, argument, differentiable_names
from .slopes import COTANGENTS, TANGENTS, directions, symmetric_part

_STEP = 1e-6
_AGREEMENT = 1e-3
"""Tolerance of slopes on two sides, relative to the larger of these and one."""

_TOLERANCE = 1e-3

_WAYS = 2
"""Ways through the point: what depends on the way has no limit there."""

_MORE_WAYS = 8
"""Number of points tried before a derivative is called wrong: at a tie few tell it from a kink."""

_Values: TypeAlias = dict[str, Any]
_Derivative: TypeAlias = Callable[[Composition], Arrays]


@dataclass(frozen=True, slots=True)
class _Slope:
    """A derivative of the next order, which must be the slope of one of this order."""

    label: str
    derivative: _Derivative
    is_weighted: bool = False
    """True if the way through the point is the direction of tangents or weights, not a move."""


_Order: TypeAlias = tuple[str, _Derivative, tuple[_Slope, ...]]

_FIRST: tuple[_Order, ...] = (
    (
        "VJP of {}",
        Composition.vjp,
        (
            _Slope("JVP of the VJP of {}", Composition.jvp_of_vjp),
            _Slope("double backward by {}", Composition.vjp_of_vjp, is_weighted=True),
            _Slope("VJP of the JVP by {}", lambda c: c.vjp_of_jvp()[0], is_weighted=True),
        ),
    ),
    (
        "JVP of {}",
        Composition.jvp,
        (_Slope("JVP of the JVP of {}", Composition.jvp_of_jvp),),
    ),
)

_SECOND: tuple[_Order, ...] = (
    (
        "double backward by {}",
        Composition.vjp_of_vjp,
        (
            _Slope("JVP of the double backward by {}", Composition.jvp_of_double_backward),
            _Slope("VJP of the double backward by {}", Composition.vjp_of_double_backward),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A call with numbers, and what is known about its arguments."""

    spec: OpSpec
    values: _Values
    leaves: list[Leaf]
    where: str
    """Words that say which call this is."""
    symmetric: frozenset[str] = frozenset()
    """Arguments that are symmetric matrices: one half may be read, so they move as such."""
    is_elementwise: bool = False
    """True if each element of a result depends on one of each argument only."""
    excluded: Array | None = None
    """The elements of an elementwise op that are not looked at."""
    may_be_nan: Array | bool = False
    """True where nan is an answer: of a singular matrix, of elements that the domain leaves out."""


def check_second_order(place: Place) -> int:
    """Compare first and second derivatives at a point with those around it, and count them.

    Raises Mismatch, which says where, if one is not what its neighbours tend to.
    """
    return _Neighbours(place).check(_FIRST)


def check_third_order(place: Place) -> int:
    """Compare second derivatives, by the double backward, and third ones in the same way."""
    return _Neighbours(place).check(_SECOND)


def has_first_derivatives(place: Place) -> Array:
    """Return of an elementwise op where all first derivatives tend to something, any way."""
    with np.errstate(all="ignore"):
        return _Neighbours(place).tends()


class _Neighbours:
    """The derivatives around a point, on ways through it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._ways: list[Directions] = []
        self._known: dict[tuple[_Derivative, int, int], Arrays] = {}

    def check(self, orders: Iterable[_Order]) -> int:
        """Check derivatives, and count them; there are none where the op is not defined."""
        with np.errstate(all="ignore"):
            try:
                self._ways = self._find_ways()
                smooth = self._smooth()
            except Exception:
                return 0  # an op may refuse such arguments
            if not any(mask.any() for mask in smooth):
                return 0
            return sum(self._check(smooth, *order) for order in orders)

    def tends(self) -> Array:
        """Compare the gradients nearby, elements of an elementwise op each for itself."""
        self._ways = self._find_ways()
        masks = []
        for key in self._place.leaves:
            near = [
                self._array(self._at(Composition.vjp, way, step).get(key), key)
                for way in range(_WAYS)
                for step in (-2, -1, 1, 2)
            ]
            middle = np.nanmedian(near, axis=0)
            masks.append([_is_close(found, middle) | ~np.isfinite(found) for found in near])
        return np.asarray(np.all(masks, axis=(0, 1)))

    def _find_ways(self) -> list[Directions]:
        place = self._place
        call = Call(place.spec, place.values, place.leaves)
        outputs = call()
        names = [n for n in differentiable_names(place.spec, outputs) if outputs[n].requires_grad]
        arrays = {leaf: tensor.array for leaf, tensor in call.tensors.items()}
        cotangents = directions((outputs[name].array for name in names), COTANGENTS)
        first = Directions(
            dict(zip(names, cotangents, strict=True)),
            self._directions(arrays, directions(arrays.values(), TANGENTS)),
            {},
        )
        return [
            replace(first, moves=self._directions(arrays, _moves(arrays.values(), seed)))
            for seed in range(_WAYS + _MORE_WAYS)
        ]

    def _directions(
        self, arrays: Mapping[Leaf, Array], drawn: Iterator[Array]
    ) -> dict[Leaf, Array]:
        pairs = zip(arrays, drawn, strict=True)
        return {leaf: self._like(leaf, direction) for leaf, direction in pairs}

    def _like(self, key: Any, array: Array) -> Array:
        """Return the part of a direction or a gradient that says something."""
        is_symmetric = isinstance(key, tuple) and key[0] in self._place.symmetric
        return symmetric_part(array) if is_symmetric else array

    def _smooth(self) -> list[Array]:
        """For each output the elements that are what they tend to, with slopes."""
        masks = []
        for name in self._ways[0].cotangents:
            value, _, is_known = self._limit(Composition.values, name)
            if self._place.excluded is not None:
                is_known &= ~self._place.excluded
            masks.append(is_known & _is_close(self._at(Composition.values, 0, 0)[name], value))
        return masks

    def _check(
        self, smooth: list[Array], label: str, lower: _Derivative, slopes: tuple[_Slope, ...]
    ) -> int:
        compared = 0
        for key in self._keys(lower):
            _, slope, has_slope = self._limit(lower, key)
            is_smooth = self._spread(smooth, has_slope.shape)
            has_slope &= is_smooth
            value, other = (self._tends_to(lower, number, key) for number in range(_WAYS))
            has_value = is_smooth & _is_close(value, other)
            if not has_value.any():
                continue
            way = self._ways[0]
            asked = [(label, lower, way, value, has_value)]
            for next_one in slopes if has_slope.any() else ():
                given = replace(way, tangents=way.moves) if next_one.is_weighted else way
                asked.append((next_one.label, next_one.derivative, given, slope, has_slope))
            for number, (name, derivative, given, wanted, is_known) in enumerate(asked):
                wrong = self._wrong(derivative, given, key, wanted, is_known)
                if wrong is None or not self._is_sure(lower, key, wrong[0]):
                    continue
                if number == 0 or self._is_linear(lower, key, wrong[0]):
                    raise Mismatch(name.format(_shown(key)), _entry(key), wrong[1])
            compared += len(asked)
        return compared

    def _tends_to(self, derivative: _Derivative, way: int, key: Any) -> Array:
        """Limit of an array along a way, whatever its slopes are; nan where it jumps."""

        def at(step: int) -> Array:
            return self._array(self._at(derivative, way, step).get(key), key)

        left, right = 2 * at(-1) - at(-2), 2 * at(1) - at(2)
        middle = np.where(_is_close(left, right), (left + right) / 2, np.nan)
        value, slope = self._limit_along(derivative, way, key)
        return np.where(np.isfinite(slope), value, middle)

    def _is_linear(self, derivative: _Derivative, key: Any, index: tuple[int, ...]) -> bool:
        """Return whether the slope along two ways at once is the sum of theirs: at a tie of second
        order, as of `maximum(x * x, y * y)` at zero, it is not."""
        count = len(self._ways)
        for one, other in itertools.pairwise(range(count)):
            first, second = self._ways[one], self._ways[other]
            moves = {leaf: move + second.moves[leaf] for leaf, move in first.moves.items()}
            self._ways.append(replace(first, moves=moves))
        try:
            for one in range(count - 1):
                ways = (one, one + 1, count + one)
                slopes = [self._limit_along(derivative, w, key)[1][index] for w in ways]
                if not _is_close(slopes[0] + slopes[1], slopes[2]):
                    return False
        except Exception:
            return False
        finally:
            del self._ways[count:]
            self._known = {known: found for known, found in self._known.items() if known[1] < count}
        return True

    def _spread(self, masks: list[Array], shape: tuple[int, ...]) -> Array:
        """One mask for arrays of a shape: all or nothing but for elementwise ops."""
        if self._place.is_elementwise and all(mask.shape == shape for mask in masks):
            return np.asarray(np.all(masks, axis=0))
        return np.full(shape, all(mask.all() for mask in masks))

    def _is_sure(self, lower: _Derivative, key: Any, index: tuple[int, ...]) -> bool:
        """Return whether the neighbours in all other directions tend to the same."""
        try:
            ways = range(len(self._ways))
            first, *others = (self._tends_to(lower, way, key) for way in ways)
        except Exception:
            return False
        return all(_is_close(other[index], first[index]) for other in others)

    def _keys(self, derivative: _Derivative) -> list[Any]:
        """The arguments or outputs that it has an array for."""
        try:
            return [key for key, found in self._at(derivative, 0, 1).items() if found is not None]
        except Exception:
            return []

    def _limit(self, derivative: _Derivative, key: Any) -> tuple[Array, Array, Array]:
        """Limit of an array, its slope, and the elements where both are known."""
        (value, slope), (other, other_slope) = (
            self._limit_along(derivative, way, key) for way in range(_WAYS)
        )
        is_known = np.isfinite(slope) & np.isfinite(other_slope) & _is_close(value, other)
        return value, slope, is_known

    def _limit_along(self, derivative: _Derivative, way: int, key: Any) -> tuple[Array, Array]:
        def at(step: int) -> Array:
            return self._array(self._at(derivative, way, step).get(key), key)

        near = {step: at(step) for step in (-2, -1, 1, 2)}
        value, slope = _from_both_sides(near)
        for side in (1, -1):
            is_end = ~np.isfinite(near[-side]) & np.isfinite(near[side])
            if is_end.any():
                value_of_side, slope_of_side = _from_one_side(
                    near[side], near[2 * side], at(3 * side), side
                )
                value = np.where(is_end, value_of_side, value)
                slope = np.where(is_end, slope_of_side, slope)
        return value, slope

    def _at(self, derivative: _Derivative, way: int, step: int) -> Arrays:
        """A derivative of the call, the arguments moved by steps along a way."""
        found = self._known.get((derivative, way, step))
        if found is None:
            found = derivative(self._call(self._ways[way], step))
            self._known[derivative, way, step] = found
        return found

    def _call(self, way: Directions, step: int) -> Composition:
        place = self._place
        values = {k: list(v) if isinstance(v, list) else v for k, v in place.values.items()}
        for (name, number), move in way.moves.items():
            moved = argument(values, (name, number)) + step * _STEP * move
            if isinstance(values[name], list):
                values[name][number] = moved
            else:
                values[name] = moved
        return Composition(place.spec, values, place.leaves, way)

    def _array(self, found: Array | None, key: Any) -> Array:
        if found is not None:
            return self._like(key, found)
        is_leaf = isinstance(key, tuple)
        like = argument(self._place.values, key) if is_leaf else self._ways[0].cotangents[key]
        return np.zeros_like(like)

    def _wrong(
        self, derivative: _Derivative, way: Directions, key: Any, wanted: Array, is_known: Array
    ) -> tuple[tuple[int, ...], str] | None:
        """Find an element that is not as wanted, and what to say of it."""
        try:
            found = self._array(derivative(self._call(way, 0)).get(key), key)
        except NotImplementedError:
            return None  # it says so
        except Exception as error:
            index = tuple(int(i) for i in np.argwhere(is_known)[0])
            return index, f"raises {type(error).__name__} {self._where(index)}: {error}"
        wrong = is_known & ~_is_close(found, wanted)
        wrong &= np.isfinite(found) | ~np.asarray(self._place.may_be_nan)
        if not wrong.any():
            return None
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        return index, f"is {found[index]:.6g} {self._where(index)}, and {wanted[index]:.6g} around"

    def _where(self, index: tuple[int, ...]) -> str:
        """Say which point it is; of an elementwise op, which element."""
        place, words = self._place, []
        for param in place.spec.signature.tensor_params:
            value = place.values[param.name]
            if isinstance(value, np.ndarray):
                shown = value[index] if place.is_elementwise and value.ndim else value.tolist()
                words.append(f"{param.name} = {shown}")
        return f"{place.where} ({', '.join(words)})"


def _moves(arrays: Iterable[Array], seed: int) -> Iterator[Array]:
    """Draw directions, of either sign in each element."""
    rng = np.random.default_rng(seed)
    for array in arrays:
        size = rng.uniform(0.5, 2, array.shape)
        yield np.asarray(size * rng.choice((-1.0, 1.0), array.shape))


def _from_both_sides(near: dict[int, Array]) -> tuple[Array, Array]:
    """Value and slope between samples at two steps on either side; nan where these disagree."""
    right, left = near[2] - near[1], near[-1] - near[-2]
    middle = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / 12
    slack = _AGREEMENT * np.maximum(_STEP, np.maximum(abs(right), abs(left)))
    agree = (abs(right - left) <= slack) & (abs(2 * middle - right - left) <= 2 * slack)
    value = (4 * (near[1] + near[-1]) - (near[2] + near[-2])) / 6
    return np.where(agree, value, np.nan), np.where(agree, middle / _STEP, np.nan)


def _from_one_side(first: Array, second: Array, third: Array, side: int) -> tuple[Array, Array]:
    """Value and slope at the end of three samples; nan where these do not lie in a line."""
    near, far = second - first, third - second
    agree = abs(near - far) <= _AGREEMENT * np.maximum(_STEP, np.maximum(abs(near), abs(far)))
    slope = side * (2 * near - far) / _STEP
    return np.where(agree, 2 * first - second, np.nan), np.where(agree, slope, np.nan)


def _is_close(found: Any, wanted: Any) -> Array:
    """Compare element by element; nan is close to nothing."""
    return np.asarray(abs(found - wanted) <= _TOLERANCE * np.maximum(1, abs(wanted)))


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else str(key[0])


def _entry(key: Any) -> str:
    """The key of the entry that the formula at fault has."""
    return key.partition("[")[0] if isinstance(key, str) else str(key[0])
