"""A call with numbers: its values, and how they change along lines through its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradspec.core.tensor import wrap
from gradspec_codegen.prove.identities.identity import Mismatch
from gradspec_codegen.prove.identities.run import Call, Leaf, argument
from gradspec_codegen.prove.numeric.slopes import symmetric_part
from gradspec_codegen.spec.model import OpSpec

from .measures import (
    is_finite,
    is_smooth,
    slope_of,
)
from .structures import is_called_by_formulas

Array = np.ndarray[Any, Any]
Lines = dict[Leaf, Array]
"""A direction for each argument that moves."""

STEP = 2.0**-14
"""Step along a line: a power of two, so that the usual points plus steps are exact. A call that
seems wrong is looked at again with a sixteenth of it: steep slopes and stairs differ then."""


ROUNDINGS = 2.0**-46
"""A step of a few roundings."""

MOST_BY_ELEMENT = 6
"""So many elements of an argument are moved alone."""


class NoCall(Exception):
    """The op refuses the arguments, or has no slope there."""


@dataclass
class CallWithNumbers:
    """A call of an op at a point, and what is known about it."""

    spec: OpSpec
    values: dict[str, Any]
    rng: np.random.Generator
    is_usual: bool
    """True if no element is special."""
    is_inside: bool = True
    """True if the arguments are in the domain of the spec."""
    step: float = STEP
    has_factors: bool = False
    """True if an argument is a product of factors, which may be close to singular."""
    symmetric: frozenset[str] = frozenset()
    """The arguments of which one half may be read: they move in symmetric directions only."""
    may_be_nan: bool = False
    lines: list[tuple[Lines, dict[str, tuple[Array, Array]]]] = field(default_factory=list)
    """Directions with the slopes ahead and behind."""
    checked: int = 0
    leaves: list[Leaf] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    gradients: Lines = field(default_factory=dict)

    def _start(self) -> dict[str, Array]:
        tensors = self._call([])
        arguments = [a for a in self._arrays() if a.size]
        if self.spec.signature.view_of is None and not is_called_by_formulas(self.spec):
            for name, output in tensors.items():
                if any(np.shares_memory(output.array, array) for array in arguments):
                    raise Mismatch(
                        name,
                        "forward",
                        "lies in the memory of an argument, and is "
                        "declared no view: `-> Tensor(a)` of `Tensor(a)`, or copy it",
                    )
        middle = {n: t.array for n, t in tensors.items()}
        if not all(is_finite(array) for array in middle.values()):
            raise NoCall("values that are not finite")
        allowed = {output.name for output in self.spec.differentiable_outputs}
        self.names = [
            n for n, a in middle.items() if n.partition("[")[0] in allowed and a.dtype.kind in "fc"
        ]
        self.leaves = [
            leaf for leaf in self._float_leaves() if leaf[0] in self.spec.differentiable_params
        ]
        self.weights = {n: self._random(middle[n]) for n in self.names}
        return middle

    def _float_leaves(self) -> list[Leaf]:
        found = []
        for param in self.spec.signature.tensor_params:
            value = self.values[param.name]
            for number, array in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(array, np.ndarray) and array.dtype.kind in "fc":
                    found.append((param.name, number))
        return found

    def _arrays(self) -> Iterator[Array]:
        for value in self.values.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, np.ndarray):
                    yield item

    def _random(self, like: Array) -> Array:
        real = np.round(self.rng.uniform(0.5, 2, like.shape) * 64) / 64
        real = np.asarray(real * self.rng.choice((-1.0, 1.0), like.shape))
        if like.dtype.kind != "c":
            return real
        return np.asarray(real + 1j * np.round(self.rng.uniform(0.5, 2, like.shape) * 64) / 64)

    def _call(self, requiring: list[Leaf], moved: Lines | None = None) -> dict[str, Any]:

        call = Call(self.spec, self._fresh(), requiring)
        for leaf, array in (moved or {}).items():
            call.replace(leaf, wrap(array))
        return call()

    def _fresh(self) -> dict[str, Any]:
        return self.values

    def _at(self, leaf: Leaf) -> Array:
        return np.asarray(argument(self.values, leaf))

    def _lines(
        self,
        direction: Lines,
        function: Callable[[Lines], dict[str, Array]],
        middle: dict[str, Array],
    ) -> dict[str, tuple[Array, Array]]:
        """The slopes of some values along a line, ahead and behind."""
        sides = []
        for sign in (1, -1):
            near, far = (
                function({leaf: self._at(leaf) + sign * step * d for leaf, d in direction.items()})
                for step in (self.step, 2 * self.step)
            )
            sides.append(
                {n: slope_of(v, near[n], far[n], sign * self.step) for n, v in middle.items()}
            )
        return {n: (sides[0][n], sides[1][n]) for n in middle}

    def _values_at(self, names: list[str]) -> Callable[[Lines], dict[str, Array]]:
        def function(moved: Lines) -> dict[str, Array]:
            outputs = self._call([], moved)
            return {n: np.asarray(outputs[n].array) for n in names}

        return function

    def _directions(self) -> Iterator[Lines]:
        for line in self._free_directions():
            yield {leaf: self._symmetric(leaf, d) for leaf, d in line.items()}

    def _symmetric(self, leaf: Leaf, direction: Array) -> Array:
        return symmetric_part(direction) if leaf[0] in self.symmetric else direction

    def _free_directions(self) -> Iterator[Lines]:
        arrays = {leaf: self._at(leaf) for leaf in self.leaves}
        for leaf, array in arrays.items():
            yield {leaf: self._random(array)}
        if len(arrays) > 1:
            yield {leaf: self._random(array) for leaf, array in arrays.items()}
        yield {leaf: np.ones_like(array) for leaf, array in arrays.items()}
        if not self.is_usual:
            for leaf, array in arrays.items():
                for place in range(min(array.size, MOST_BY_ELEMENT)):
                    unit = np.zeros_like(array)
                    unit.flat[place] = 1
                    yield {leaf: unit}

    def _slopes(self, direction: Lines, middle: dict[str, Array]) -> list[dict[str, Any]]:
        """The slopes along one line; none where the op refuses a point of it."""
        try:
            values = {n: middle[n] for n in self.names}
            return [self._lines(direction, self._values_at(self.names), values)]
        except Exception:
            return []

    def _has_kinks(self) -> bool:
        """Return whether the values bend, or their slope is not linear in the direction."""
        if any(not is_smooth(*pair) for _, slopes in self.lines for pair in slopes.values()):
            return True
        middle = self._values_at(self.names)({})
        return any(self._bends(middle) for _ in range(6))

    def _bends(self, middle: dict[str, Array]) -> bool:
        """Return whether the slope along the sum of two lines is not the sum of theirs."""
        one = {leaf: self._random(self._at(leaf)) for leaf in self.leaves}
        other = {leaf: self._random(self._at(leaf)) for leaf in self.leaves}
        both = {leaf: one[leaf] + other[leaf] for leaf in self.leaves}
        found = [slopes for line in (one, other, both) for slopes in self._slopes(line, middle)]
        return len(found) == 3 and any(
            not is_smooth(found[0][n][0] + found[1][n][0], found[2][n][0]) for n in self.names
        )

    def _flat(self, name: str, direction: Lines) -> Array:
        """Return where a value does not change within a few roundings: stairs have no slope."""
        sides = [
            self._values_at([name])(
                {leaf: self._at(leaf) + step * d for leaf, d in direction.items()}
            )
            for step in (ROUNDINGS, -ROUNDINGS)
        ]
        return np.asarray(sides[0][name] == sides[1][name])

    def _units(self) -> Iterator[Lines]:
        for leaf in self.leaves:
            for place in range(min(self._at(leaf).size, 2)):
                unit = np.zeros_like(self._at(leaf))
                unit.flat[place] = 1
                yield {leaf: unit}

    def _moved(self, moved: Lines) -> dict[str, Any]:
        values = dict(self.values)
        for (name, number), array in moved.items():
            if isinstance(values[name], list):
                values[name] = [*values[name][:number], array, *values[name][number + 1 :]]
            else:
                values[name] = array
        return values
