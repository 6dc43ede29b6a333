"""A call with numbers: its values, and how they change along lines through its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...spec.model import OpSpec
from ..identities.run import Call, Leaf, argument
from ..numeric.slopes import symmetric_part
from .kernel import compare_with_batch, compare_with_definition
from .measures import (
    is_finite,
    is_smooth,
    limit_of,
    slope_of,
)
from .memory import check_memory

Array = np.ndarray[Any, Any]
Lines = dict[Leaf, Array]
"""A direction for each argument that moves."""

STEP = 2.0**-14
"""Step along a line: a power of two, so that the usual points plus steps are exact. A call that
seems wrong is looked at again with a sixteenth of it: steep slopes and stairs differ then."""


ROUNDINGS = 2.0**-46
"""A step of a few roundings."""

_SIZES = np.arange(32, 129) / 64
_SIGNED = np.concatenate([_SIZES, -_SIZES])
"""Weights and elements of directions: few binary digits, so that products of them are exact."""

MOST_BY_ELEMENT = 6
"""Number of elements of an argument that are moved alone."""


class NoCall(Exception):
    """The op refuses the arguments."""


class NoSlope(Exception):
    """The op has no slope at a point: it gives an infinity or nan."""


def float_leaves(spec: OpSpec, values: dict[str, Any]) -> list[Leaf]:
    """The tensor arguments of real or complex numbers."""
    found = []
    for param in spec.signature.tensor_params:
        value = values[param.name]
        for number, array in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(array, np.ndarray) and array.dtype.kind in "fc":
                found.append((param.name, number))
    return found


@dataclass
class CallWithNumbers:
    """A call of an op at a point, and what is known about it."""

    spec: OpSpec
    values: dict[str, Any]
    rng: np.random.Generator
    is_usual: bool
    """True if no element is special."""
    is_inside: bool = True
    """True if the arguments are between the borders of the domain of the spec."""
    is_at_gap: bool = False
    """True if the domain leaves out an element by `!=`: at a kink there, nan is an answer."""
    step: float = STEP
    has_factors: bool = False
    """True if an argument is a product of factors, which may be close to singular."""
    symmetric: frozenset[str] = frozenset()
    """The arguments of which one half may be read: they move in symmetric directions only."""
    rough: dict[str, Any] = field(default_factory=dict)
    """Elements of each output with an infinite slope, or none, which nan shows, too."""
    lines: list[tuple[Lines, dict[str, tuple[Array, Array]]]] = field(default_factory=list)
    """Directions with the slopes ahead and behind."""
    checked: int = 0
    leaves: list[Leaf] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    outputs: dict[str, Array] = field(default_factory=dict)
    weights: dict[str, Array] = field(default_factory=dict)
    gradients: Lines = field(default_factory=dict)

    def start(self) -> dict[str, Array]:
        """Make the call, and return its outputs.

        Raises NoSlope, and Mismatch for memory that is shared and not declared, or the other way.
        """
        tensors = self._call([])
        if not self.spec.is_called_by_formulas:
            check_memory(self.spec, self.values, {n: t.array for n, t in tensors.items()})
        middle = self.outputs = {n: t.array for n, t in tensors.items()}
        if self.is_inside:
            compare_with_definition(self.spec, self.values, middle)
            compare_with_batch(self.spec, self.values, middle)
        allowed = {output.name for output in self.spec.differentiable_outputs}
        self.names = [
            n for n, a in middle.items() if n.partition("[")[0] in allowed and a.dtype.kind in "fc"
        ]
        self.leaves = [
            leaf
            for leaf in float_leaves(self.spec, self.values)
            if leaf[0] in self.spec.differentiable_params
        ]
        self.weights = {n: self.random(middle[n]) for n in self.names}
        if not all(is_finite(array) for array in middle.values()):
            raise NoSlope
        if self.is_usual:
            self._divide()
        return middle

    def _divide(self) -> None:
        """Raise NoCall if the op divides by zero, as by a number that is zero."""
        try:
            with np.errstate(divide="raise", invalid="raise"):
                self._call([])
        except FloatingPointError:
            raise NoCall("divides by zero") from None

    def random(self, like: Array) -> Array:
        """Numbers of unlike sizes, for weights and directions."""
        real = self._drawn(_SIGNED, like)
        if like.dtype.kind != "c":
            return real
        return np.asarray(real + 1j * self._drawn(_SIZES, like))

    def _drawn(self, numbers: Array, like: Array) -> Array:
        """Some of the numbers at random; integers drawn by the generator take ten times as long."""
        places = self.rng.random(like.shape) * len(numbers)
        return np.asarray(numbers[np.asarray(places, np.intp)])

    def _call(self, requiring: list[Leaf], moved: Lines | None = None) -> dict[str, Any]:
        from gradspec.core.tensor import wrap

        call = Call(self.spec, self._fresh(), requiring)
        for leaf, array in (moved or {}).items():
            call.replace(leaf, wrap(array))
        return call()

    def _fresh(self) -> dict[str, Any]:
        return self.values

    def at(self, leaf: Leaf) -> Array:
        """The value of a tensor argument."""
        return np.asarray(argument(self.values, leaf))

    def _lines(
        self,
        direction: Lines,
        function: Callable[[Lines], dict[str, Array]],
        middle: dict[str, Array],
    ) -> dict[str, tuple[Array, Array]]:
        """The slopes of some values along a line, ahead and behind."""
        ahead, behind = (self._side(sign, direction, function, middle) for sign in (1, -1))
        return {n: (ahead[n], behind[n]) for n in middle}

    def _side(
        self,
        sign: int,
        direction: Lines,
        function: Callable[[Lines], dict[str, Array]],
        middle: dict[str, Array],
    ) -> dict[str, Array]:
        """The slopes ahead, or behind."""

        def at(step: float) -> dict[str, Array]:
            return function(
                {leaf: self.at(leaf) + sign * step * d for leaf, d in direction.items()}
            )

        near, far = at(self.step), at(2 * self.step)
        found = {n: slope_of(v, near[n], far[n], sign * self.step) for n, v in middle.items()}
        if any(np.isinf(slope).any() for slope in found.values()):
            steps = [self.step, self.step / 64, self.step / 4096]
            nearer = [near, *map(at, steps[1:])]
            for n, slope in found.items():
                quotients = [
                    (v[n] - middle[n]) / (sign * step)
                    for v, step in zip(nearer, steps, strict=True)
                ]
                found[n] = np.where(np.isinf(slope), limit_of(*quotients), slope)
        return found

    def lines_of(
        self, direction: Lines, middle: dict[str, Array]
    ) -> dict[str, tuple[Array, Array]]:
        """The slopes of the outputs in `middle` along a line, ahead and behind."""
        return self._lines(direction, self._values_at(list(middle)), middle)

    def _values_at(self, names: list[str]) -> Callable[[Lines], dict[str, Array]]:
        def function(moved: Lines) -> dict[str, Array]:
            outputs = self._call([], moved)
            return {n: np.asarray(outputs[n].array) for n in names}

        return function

    def _directions(self) -> Iterator[Lines]:
        """Directions in which all arguments move; one finds what is wrong anywhere, if it is."""
        for _ in range(1 if self.is_usual else 2):
            yield self._together()

    def _together(self) -> Lines:
        return {leaf: self.line(leaf) for leaf in self.leaves}

    def _apart(self) -> Iterator[Lines]:
        """Each argument alone, all elements in the same direction, and single elements."""
        for leaf in self.leaves:
            yield {leaf: self.line(leaf)}
        ones = {leaf: np.ones_like(self.at(leaf)) for leaf in self.leaves}
        yield {leaf: self._symmetric(leaf, line) for leaf, line in ones.items()}
        if not self.is_usual:
            yield from self._units(MOST_BY_ELEMENT)

    def line(self, leaf: Leaf) -> Array:
        """A direction for one argument."""
        return self._symmetric(leaf, self.random(self.at(leaf)))

    def _symmetric(self, leaf: Leaf, direction: Array) -> Array:
        return symmetric_part(direction) if leaf[0] in self.symmetric else direction

    def _slopes(self, direction: Lines, middle: dict[str, Array]) -> list[dict[str, Any]]:
        """The slopes along one line; none where the op refuses a point of it."""
        try:
            return [self.lines_of(direction, {n: middle[n] for n in self.names})]
        except Exception:
            return []

    @functools.cached_property
    def _has_kinks(self) -> bool:
        """Return whether the values bend, or their slope is not linear in the direction."""
        if any(not is_smooth(*pair) for _, slopes in self.lines for pair in slopes.values()):
            return True
        middle = self._values_at(self.names)({})
        return any(self._bends(middle) for _ in range(6))

    def _bends(self, middle: dict[str, Array]) -> bool:
        """Return whether the slope along the sum of two lines is not the sum of theirs."""
        one = {leaf: self.random(self.at(leaf)) for leaf in self.leaves}
        other = {leaf: self.random(self.at(leaf)) for leaf in self.leaves}
        both = {leaf: one[leaf] + other[leaf] for leaf in self.leaves}
        found = [slopes for line in (one, other, both) for slopes in self._slopes(line, middle)]
        return len(found) == 3 and any(
            not is_smooth(found[0][n][0] + found[1][n][0], found[2][n][0]) for n in self.names
        )

    def _flat(self, name: str, direction: Lines) -> Array:
        """Return where a value does not change within a few roundings: stairs have no slope."""
        sides = [
            self._values_at([name])(
                {leaf: self.at(leaf) + step * d for leaf, d in direction.items()}
            )
            for step in (ROUNDINGS, -ROUNDINGS)
        ]
        return np.asarray(sides[0][name] == sides[1][name])

    def _units(self, most: int) -> Iterator[Lines]:
        for leaf in self.leaves:
            for place in range(min(self.at(leaf).size, most)):
                unit = np.zeros_like(self.at(leaf))
                unit.flat[place] = 1
                yield {leaf: self._symmetric(leaf, unit)}

    def _moved(self, moved: Lines) -> dict[str, Any]:
        values = dict(self.values)
        for (name, number), array in moved.items():
            if isinstance(values[name], list):
                values[name] = [*values[name][:number], array, *values[name][number + 1 :]]
            else:
                values[name] = array
        return values
