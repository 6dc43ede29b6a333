"""Points that symbols cannot reach: all elements zero, all equal; arguments with no formula there.

There is no derivative to prove at such a point, or none that sympy knows. But whatever an op
answers there, its VJP and its JVP must be transposes of each other; and where its values have
finite differences, these must be its derivatives.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...spec.model import Example, NotImplementedYet, OpSpec
from ..identities.identity import Mismatch
from ..identities.run import Leaf, differentiable_leaves
from ..numeric.slopes import COTANGENTS, TANGENTS, Answer, by_differences, by_engine, directions
from ..zero.number_fields import numeric_values
from .draw import build

_FILLS = (0.0, 1.0)

_DATA = frozenset({"int", "bool", "float", "complex"})

_TOLERANCE = 1e-6
_DIFFERENCE_TOLERANCE = 1e-4
_DRAWS = 6
_MOST_DRAWS = 30
"""An op may be undefined at most of the points that are drawn."""


def check_corners(spec: OpSpec, examples: Iterable[Example]) -> int:
    """Check calls, and count them. Raises Mismatch where the two modes disagree."""
    if spec.domain or any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return 0
    checked = 0
    for example in examples:
        for values, leaves in _corners(spec, example):
            try:
                with np.errstate(all="ignore"):
                    answer = by_engine(spec, values, leaves)
            except Exception:
                continue  # an op may refuse such arguments
            _check_transposed(answer, leaves)
            checked += 1
    return checked


def _corners(spec: OpSpec, example: Example) -> Iterator[tuple[dict[str, Any], list[Leaf]]]:
    if any(isinstance(value, Mapping) and not value.keys() <= _DATA for _, value in example.args):
        return  # an argument made of others: equal elements need not be possible
    inputs = build(spec, example)
    leaves = differentiable_leaves(spec, inputs)
    drawn = numeric_values(inputs, inputs.draw(random.Random(spec.name)))
    for fill in _FILLS:
        values = {name: list(v) if isinstance(v, list) else v for name, v in drawn.items()}
        for name, place in leaves:
            given = values[name]
            if isinstance(given, list):
                given[place] = np.full_like(given[place], fill)
            else:
                values[name] = np.full_like(given, fill)
        yield values, leaves


def _check_transposed(answer: Answer, leaves: list[Leaf]) -> None:
    """The cotangent times the tangent, summed, is the same by either mode.

    Of complex numbers the real part is, with the conjugate of the first.
    """
    tangents = [array for name, array in answer.items() if name.startswith("JVP")]
    gradients = [array for name, array in answer.items() if name.startswith("VJP")]
    if not tangents or any(array is None for array in (*tangents, *gradients)):
        return
    forward, backward = (
        sum(
            float((weight.conj() * array).sum().real)
            for weight, array in zip(directions(arrays, seed), arrays, strict=True)
        )
        for arrays, seed in ((tangents, COTANGENTS), (gradients, TANGENTS))
    )
    if np.isfinite(forward) != np.isfinite(backward) or (
        np.isfinite(forward) and not np.isclose(forward, backward, _TOLERANCE, _TOLERANCE)
    ):
        label = f"VJP of {leaves[0][0]} where all elements are equal"
        message = f"gives {backward:.10g} where the JVP gives {forward:.10g}"
        raise Mismatch(label, leaves[0][0], message)


def check_by_differences(spec: OpSpec, example: Example) -> int:
    """Compare derivatives, and count them. Raises Mismatch where one is another."""
    inputs = build(spec, example)
    leaves = differentiable_leaves(spec, inputs)
    rng = random.Random(spec.name)
    compared = defined = 0
    for draw in range(_MOST_DRAWS):
        if defined == _DRAWS:
            break
        values = numeric_values(inputs, inputs.draw(rng))
        if draw % 2:  # most numbers drawn are larger than one
            _shrink(values, leaves)
        with np.errstate(all="ignore"):
            wanted = by_differences(spec, values, leaves)
            found = _answer(spec, values, leaves)
        defined += all(np.isfinite(array).all() for array in wanted.values())
        for name, array in wanted.items():
            if found.get(name) is not None:
                _check_close(found[name], np.asarray(array), name, leaves[0][0])
                compared += 1
    return compared


def _shrink(values: dict[str, Any], leaves: list[Leaf]) -> None:
    """Make the differentiable arguments a quarter of what they are."""
    for name, place in leaves:
        given = values[name]
        if isinstance(given, list):
            given[place] = given[place] / 4
        else:
            values[name] = given / 4


def _answer(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> Answer:
    """A rule may refuse a call; but no call asks it for a number where an array is needed."""
    try:
        return by_engine(spec, values, leaves)
    except AttributeError as error:
        message = f"raises {type(error).__name__}: {error}"
        raise Mismatch(f"derivatives by {leaves[0][0]}", leaves[0][0], message) from error


def _check_close(found: Any, wanted: Any, name: str, key: str) -> None:
    """Check that the derivative is the difference, where that is a number."""
    if found.shape != wanted.shape:
        shapes = f"has shape {list(found.shape)} where {list(wanted.shape)} is needed"
        raise Mismatch(name, key, shapes)
    known = np.isfinite(wanted)
    close = np.isclose(found, wanted, _DIFFERENCE_TOLERANCE, _DIFFERENCE_TOLERANCE)
    if not np.all(close[known]):
        raise Mismatch(f"{name} by differences", key, f"is {found}, not {wanted}")
