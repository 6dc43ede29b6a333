"""Search with numbers, far and wide, for a call at which two ops give different answers.

For formulas that both passed the proof: the examples are varied in every way that a call can vary,
so that a difference which the examples did not bring to light is found.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from ...spec.model import Example, OpSpec
from ..calls.first_calls import with_examples
from ..calls.points import SYMMETRIC
from ..calls.structures import structures
from ..deadline import TimeUp, time_limit
from ..identities.definition import evaluate_definition
from ..identities.run import Leaf, argument, differentiable_leaves
from ..inputs.draw import Inputs, build, examples_of
from ..inputs.unproved import is_unproved
from ..numeric.slopes import (
    TANGENTS,
    Answer,
    agree,
    by_differences,
    by_engine,
    directions,
    symmetric_part,
)
from ..symbolic.complex_numbers import complex_examples, complex_numbers_given
from .number_fields import numeric_values

SECONDS = 8.0
"""Time that the search may take."""

DRAWS = 3
"""Random points for each varied call."""

_MOST = 300
"""Calls near the examples, these among them."""

_TOLERANCE = 1e-7

_TIES = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
"""Values among which equal ones, zeros and the usual thresholds come up often."""


def find_difference(original: OpSpec, mutant: OpSpec) -> tuple[str, int]:
    """A call at which two ops differ, as text, empty if none was found; and how many agreed.

    Both must be registered in the generated package that is imported.
    """
    agreed = 0
    original = with_examples(original)
    mutant = dataclasses.replace(mutant, examples=original.examples)
    try:
        with time_limit(SECONDS):
            for values, leaves in _calls(original):
                if is_unproved(original, values):
                    continue  # no derivative is meant there, so that any will do
                wanted = _attempt(original, values, leaves)
                if wanted is None or not _is_finite(wanted):
                    continue
                found = _attempt(mutant, values, leaves)
                if found is not None and agree(wanted, found, _TOLERANCE):
                    agreed += 1
                elif _has_slopes(original, values, leaves):
                    return _shown(values), agreed
    except TimeUp:
        pass
    return "", agreed


def _calls(spec: OpSpec) -> Iterator[tuple[dict[str, Any], list[Leaf]]]:
    """Calls with numbers, and the arguments that gradients flow to."""
    rng = random.Random(spec.name)
    examples = examples_of(spec)
    with_complex = chain(complex_examples(spec, examples), complex_numbers_given(spec, examples))
    varied = (Example(tuple(args.items()), spec.span) for args in structures(spec, examples, _MOST))
    for example in chain(with_complex, varied):
        try:
            inputs = build(spec, example)
            leaves = differentiable_leaves(spec, inputs)
            for draw in range(DRAWS):
                values = numeric_values(inputs, inputs.draw(rng))
                yield values, leaves
                if not spec.domain:
                    yield _with_ties(inputs, values, leaves, rng, draw), leaves
        except (ValueError, IndexError, TypeError):
            continue  # a variation that is no call of the op


def _with_ties(
    inputs: Inputs, values: dict[str, Any], leaves: list[Leaf], rng: random.Random, draw: int
) -> dict[str, Any]:
    """The call with values among which many are equal, or equal to a number of the call."""
    numbers = [v for v in inputs.values.values() if isinstance(v, int | float)]
    choice = [*_TIES, *map(float, numbers)] if draw else [0.0]
    tied: dict[str, Any] = {
        name: list(v) if isinstance(v, list) else v for name, v in values.items()
    }
    for name, place in leaves:
        given = tied[name]
        array = given[place] if isinstance(given, list) else given
        drawn = np.array([rng.choice(choice) for _ in range(array.size)]).reshape(array.shape)
        drawn = drawn.astype(array.dtype)
        if isinstance(given, list):
            given[place] = drawn
        else:
            tied[name] = drawn
    return tied


def _attempt(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> Answer | None:
    """Compute the op's answers; None if it refuses the call.

    Of what is only defined for symmetric matrices, the answers in symmetric directions.
    """
    arrays = [argument(values, leaf) for leaf in leaves]
    symmetric = [leaf for leaf in leaves if leaf[0] in _symmetric_arguments(spec)]
    try:
        with np.errstate(all="ignore"):
            along = [
                symmetric_part(direction) if leaf in symmetric else direction
                for leaf, direction in zip(leaves, directions(arrays, TANGENTS), strict=True)
            ]
            answer = by_engine(spec, values, leaves, along)
            if spec.kernel is not None:
                defined = evaluate_definition(spec, values)
                answer |= {f"definition of {name}": array for name, array in defined.items()}
    except Exception:
        return None
    for leaf in symmetric:
        gradient = answer[f"VJP {leaf}"]
        answer[f"VJP {leaf}"] = None if gradient is None else symmetric_part(gradient)
    return answer


def _symmetric_arguments(spec: OpSpec) -> set[str]:
    given = (pair for example in examples_of(spec) for pair in example.args)
    return {name for name, value in given if isinstance(value, dict) and value.keys() & SYMMETRIC}


def _is_finite(answer: Answer) -> bool:
    """Return whether the values are: an op has no derivative where it is infinite or undefined."""
    values = [array for name, array in answer.items() if name.startswith("value")]
    return all(array.dtype.kind not in "fc" or np.isfinite(array).all() for array in values)


def _has_slopes(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> bool:
    """Return whether the op's values change finitely around a point: elsewhere all will do."""
    try:
        with np.errstate(all="ignore"):
            slopes = by_differences(spec, values, leaves)
    except Exception:
        return True  # so it is not known
    return all(np.isfinite(array).all() for array in slopes.values())


def _shown(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_show(value)}" for name, value in values.items())


def _show(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_show, value))}]"
    return str(value.tolist()) if isinstance(value, np.ndarray) else str(value)
