"""Points that formulas set apart: zeros, ties, singular matrices, the usual constants.

There are few of them and no chamber holds one, but users have them all the time. Where an op is
smooth there, its derivatives must be what those around it tend to: the first and the second in
every mode, of elementwise ops the third as well.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from ...spec.elementwise import is_elementwise
from ...spec.model import Example, OpSpec
from ...spec.vocabulary import FACTORIZATIONS
from ..identities.orders import is_settled_by_first_order
from ..identities.run import Array, Call, Leaf, argument, differentiable_leaves
from ..numeric.limits import (
    Place,
    check_second_order,
    check_third_order,
    has_first_derivatives,
)
from ..symbolic.special_values import compared_numbers
from ..zero.number_fields import numeric_values
from .domain import is_inside, outside
from .draw import build
from .kinks import declared, single_elements
from .unproved import is_unproved, unproved_elements

_CONSTANTS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5)
_FEW_CONSTANTS = (0.0, 1.0, 2.0)
"""Constants that three arguments take in all combinations."""

_MOST_COMBINATIONS = 20_000
"""The most that are all tried; of more, as of seven arguments, so many are drawn."""

_MOST_NUMBERS = 3
"""Number of constants in comparisons that are tried as constants, too."""

_MOST_EXAMPLES = 3
"""The smallest ones whose arrays have more than one element."""

_LARGEST = 40
"""Elements: a call with more has no other points set apart."""


def check_special_points(spec: OpSpec, examples: Sequence[Example]) -> int:
    """Check calls, and count what was compared. Raises Mismatch where a derivative is no limit.

    Private ops and backward ones are called by formulas alone, not at every point.
    """
    if spec.is_called_by_formulas or is_settled_by_first_order(spec):
        return 0
    checked = 0
    for place in _places(spec, examples):
        checked += check_second_order(place)
        if place.is_elementwise:
            checked += check_third_order(place)
    return checked


def _places(spec: OpSpec, examples: Sequence[Example]) -> Iterator[Place]:
    if is_elementwise(spec):
        places = list(_places_of_elements(spec, examples))
        if places:
            yield from places
            return
    singular = {f"where {name} is singular" for name in _factored(examples)}
    for values, leaves in _smallest_calls(spec, examples):
        for where, changed in _points_of_arrays(values, leaves):
            if is_inside(spec.domain, changed) and not is_unproved(spec, changed):
                yield Place(spec, changed, leaves, where, may_be_nan=where in singular)


def _places_of_elements(spec: OpSpec, examples: Iterable[Example]) -> Iterator[Place]:
    """All points at once, with all arguments together and each alone.

    An op may be smooth in one of them and not in another; but it has to be differentiable in all.
    """
    singles = {repr(s.args): s for s in (single_elements(spec, example) for example in examples)}
    for values, leaves in _calls(spec, singles.values()):
        points = _points_of_elements(values, leaves, compared_numbers(spec)[:_MOST_NUMBERS])
        if not _is_a_call(spec, points, leaves):
            continue
        place = Place(
            spec,
            points,
            leaves,
            "where elements are special",
            is_elementwise=True,
            excluded=_excluded(spec, points),
            may_be_nan=outside(spec.domain, points),
        )
        yield place
        if len(leaves) > 1:
            rough = ~has_first_derivatives(place)
            excluded = rough if place.excluded is None else rough | place.excluded
            for leaf in leaves:
                yield replace(place, leaves=[leaf], excluded=excluded)


def _is_a_call(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> bool:
    """Return whether an op takes arguments element by element: none has to be a matrix."""
    try:
        with np.errstate(all="ignore"):
            outputs = Call(spec, values, [])()
    except Exception:
        return False
    shape = argument(values, leaves[0]).shape
    return all(output.shape == shape for output in outputs.values())


def _smallest_calls(
    spec: OpSpec, examples: Iterable[Example]
) -> Iterator[tuple[dict[str, Any], list[Leaf]]]:
    def size(call: tuple[dict[str, Any], list[Leaf]]) -> int:
        return sum(argument(call[0], leaf).size for leaf in call[1])

    calls = sorted(_calls(spec, examples), key=size)
    several = [call for call in calls if len(call[1]) < size(call) <= _LARGEST]
    yield from (several or calls)[:_MOST_EXAMPLES]


def _calls(
    spec: OpSpec, examples: Iterable[Example]
) -> Iterator[tuple[dict[str, Any], list[Leaf]]]:
    """Calls with real numbers, and the arguments that gradients flow to."""
    for example in map(_with_any_matrices, examples):
        if not any(isinstance(v, Mapping) and v.keys() & FACTORIZATIONS for _, v in example.args):
            inputs = build(spec, example)
            leaves = differentiable_leaves(spec, inputs)
            values = numeric_values(inputs, inputs.draw(random.Random(spec.name)))
            if leaves and all(argument(values, leaf).dtype.kind == "f" for leaf in leaves):
                yield values, leaves


def _with_any_matrices(example: Example) -> Example:
    """The call with matrices of any kind where an example gives the factors of such."""
    args = tuple(
        (name, value["lu"] if isinstance(value, Mapping) and "lu" in value else value)
        for name, value in example.args
    )
    return replace(example, args=args)


def _factored(examples: Iterable[Example]) -> set[str]:
    """The arguments for which an example gives the factors of any matrix."""
    given = (arg for example in examples for arg in example.args)
    return {name for name, value in given if isinstance(value, Mapping) and "lu" in value}


def _points_of_elements(
    values: dict[str, Any], leaves: list[Leaf], compared: list[float]
) -> dict[str, Any]:
    """All combinations of constants and of what was drawn, at once.

    With one and zero among them, products, quotients and sums are what formulas compare with.
    """
    constants = _CONSTANTS if len(leaves) < 3 else _FEW_CONSTANTS
    if 1 < len(leaves) < 4:
        constants = tuple(dict.fromkeys((*constants, *compared)))
    drawn = [argument(values, leaf).flat[0] for leaf in leaves]
    tried = [np.array([*constants, number, -number]) for number in drawn]
    sizes = tuple(map(len, tried))
    if math.prod(sizes) <= _MOST_COMBINATIONS:
        chosen = tuple(np.indices(sizes).reshape(len(sizes), -1))
    else:
        rng = np.random.default_rng(len(sizes))
        chosen = tuple(rng.integers(size, size=_MOST_COMBINATIONS) for size in sizes)
    points = (numbers[digits] for numbers, digits in zip(tried, chosen, strict=True))
    return replaced(values, dict(zip(leaves, points, strict=True)))


def _excluded(spec: OpSpec, values: dict[str, Any]) -> Array | None:
    """The elements at breakpoints, where the entry states what stands for the derivative, and
    those at which it says that nothing is proved."""
    masks = unproved_elements(spec, values)
    for kink in declared(spec):
        difference = sympy.sympify(kink.left - kink.right)
        names = sorted(symbol.name for symbol in difference.free_symbols)
        if all(values.get(name) is not None for name in names):
            by_name = difference.xreplace(
                {symbol: sympy.Symbol(symbol.name) for symbol in difference.free_symbols}
            )
            compute = sympy.lambdify([sympy.Symbol(name) for name in names], by_name, "numpy")
            masks.append(np.asarray(compute(*(values[name] for name in names))) == 0)
    return functools.reduce(np.logical_or, masks) if masks else None


def _points_of_arrays(
    values: dict[str, Any], leaves: list[Leaf]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls at points set apart, each with words that say which."""
    for leaf in leaves:
        for where, changed in _special(argument(values, leaf)):
            yield f"where {where.format(leaf[0])}", replaced(values, {leaf: changed})
    for one, other in itertools.combinations(leaves, 2):
        array, like = argument(values, one), argument(values, other)
        if array.shape == like.shape:
            same = replaced(values, {other: array.copy()})
            yield f"where {one[0]} and {other[0]} are equal", same


def _special(array: Array) -> Iterator[tuple[str, Array]]:
    if array.size == 0:
        return
    yield "an element of {} is 0", _with(array, {0: 0.0})
    if array.size > 1:
        yield "two elements of {} are 0", _with(array, {0: 0.0, array.size - 1: 0.0})
        yield "two elements of {} are equal", _with(array, {0: array.flat[-1]})
        yield "{} is 0", np.zeros_like(array)
    if array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1:
        singular = array.copy()
        singular[..., -1, :] = 2 * singular[..., 0, :]
        yield "{} is singular", singular


def _with(array: Array, elements: dict[int, float]) -> Array:
    changed = array.copy()
    for place, element in elements.items():
        changed.flat[place] = element
    return changed


def replaced(values: dict[str, Any], arrays: dict[Leaf, Array]) -> dict[str, Any]:
    """Return the values with other arrays for some of their tensors."""
    changed = {name: list(v) if isinstance(v, list) else v for name, v in values.items()}
    for (name, place), array in arrays.items():
        if isinstance(changed[name], list):
            changed[name][place] = array
        else:
            changed[name] = array
    return changed
