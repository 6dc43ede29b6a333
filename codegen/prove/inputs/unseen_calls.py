"""Does an op hold beyond its examples? Calls near them are tried with numbers.

Numbers are cheap and only raise a suspicion: what they find is then proved or refuted with symbols.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...spec.model import Example, NotImplementedYet, OpSpec
from ..identities.run import (
    Array,
    Call,
    Leaf,
    argument,
    differentiable_leaves,
    differentiable_names,
)
from ..numeric.slopes import TANGENTS, Answer, by_engine, directions, symmetric_part
from ..symbolic.special_values import examples_of_dimensions
from ..zero.number_fields import numeric_values
from .draw import build
from .variations import varied

MOST_CALLS = 60
"""So many calls beside the examples are tried."""

MOST_SUSPICIONS = 4
"""So many of them are worth a proof of their own."""

_MOST_DRAWS = 4
"""Of a call that is not defined, or has no slope, at the point drawn first."""

_STEP = 1e-6
_TOLERANCE = 1e-4
"""Of a derivative by differences, relative to the largest element."""

_LARGEST = 200
"""Elements: a call with more tells no more."""


def suspicious_calls(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Example]:
    """Calls near the examples at which the derivatives seem to be wrong.

    Only where every call has a meaning: private ops and backward ones are called by formulas alone,
    and the values of index tensors say which shapes fit them.
    """
    by_formulas = spec.is_private or spec.signature.name.endswith("_backward")
    if spec.composite is not None or by_formulas or any(map(_has_data, examples)):
        return
    if any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return
    rng = random.Random(spec.name)
    found = 0
    for example in _spread(_distinct(spec, examples), MOST_CALLS):
        if found < MOST_SUSPICIONS and _seems_wrong(spec, example, rng):
            found += 1
            yield example


def _has_data(example: Example) -> bool:
    return any(isinstance(value, Mapping) for _, value in _flat(example))


def _flat(example: Example) -> Iterator[tuple[str, Any]]:
    for name, value in example.args:
        yield from ((name, item) for item in value) if isinstance(value, list) else [(name, value)]


def _distinct(spec: OpSpec, examples: tuple[Example, ...]) -> list[Example]:
    """The variations, each once and without the examples themselves."""
    known = {repr(sorted(example.args)) for example in examples}
    found = []
    for example in (*examples_of_dimensions(spec, examples), *varied(spec, examples)):
        key = repr(sorted(example.args))
        if key not in known:
            known.add(key)
            found.append(example)
    return found


def _spread(examples: list[Example], most: int) -> list[Example]:
    """At most so many of them, from all parts of the list."""
    step = max(1, -(-len(examples) // most))
    return [example for start in range(step) for example in examples[start::step]][:most]


def _seems_wrong(spec: OpSpec, example: Example, rng: random.Random) -> bool:
    for _ in range(_MOST_DRAWS):
        try:
            inputs = build(spec, example)
            leaves = differentiable_leaves(spec, inputs)
            values = numeric_values(inputs, inputs.draw(rng))
            if not leaves or sum(map(_size, values.values())) > _LARGEST:
                return False
        except Exception:
            return False  # not a call of the op
        judged = judge(spec, values, leaves)
        if judged is not None:
            return not judged
    return False


def judge(
    spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], *, is_symmetric: bool = False
) -> bool | None:
    """Return whether the derivatives of a call are its slopes; None where it has none.

    Of a `is_symmetric` matrix one half may be read: it is moved in symmetric directions only.
    """
    along = list(directions((argument(values, leaf) for leaf in leaves), TANGENTS))
    if is_symmetric:
        along = [symmetric_part(direction) for direction in along]
    try:
        # A division by zero, as by a bound that is set to zero, has no derivative to speak of.
        with np.errstate(all="ignore", divide="raise", invalid="raise"):
            slopes = _slopes(spec, values, leaves, along)
    except Exception:
        return None  # not a call of the op, or not at this point
    try:
        with np.errstate(all="ignore"):
            answer = by_engine(spec, values, leaves, along)
    except Exception:
        return False
    if not _fits(answer, values, leaves):
        return False
    return None if slopes is None else _agrees(answer, slopes, leaves, along)


def _size(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_size, value))
    return value.size if isinstance(value, np.ndarray) else 0


_Slopes = dict[Leaf, dict[str, Any]]
"""How each output changes along one direction of each argument."""


def _slopes(
    spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], along: list[Array]
) -> _Slopes | None:
    """None where the outputs do not change smoothly."""
    middle = _outputs(spec, values)
    slopes: _Slopes = {}
    arrays = [argument(values, leaf) for leaf in leaves]
    for leaf, array, direction in zip(leaves, arrays, along, strict=True):
        step = _STEP * direction
        up, down = (_outputs(spec, values, leaf, array + s) for s in (step, -step))
        slopes[leaf] = {}
        for name, value in middle.items():
            ahead, behind = (up[name] - value) / _STEP, (value - down[name]) / _STEP
            if not _close(ahead, behind, 10 * _TOLERANCE):
                return None
            slopes[leaf][name] = (ahead + behind) / 2
    return slopes


def _outputs(
    spec: OpSpec, values: dict[str, Any], leaf: Leaf | None = None, array: Any = None
) -> dict[str, Any]:
    """The differentiable outputs, perhaps with another array for one argument."""
    from gradspec.core.tensor import wrap

    call = Call(spec, values, [])
    if leaf is not None:
        call.replace(leaf, wrap(array))
    outputs = call()
    return {n: outputs[n].array for n in differentiable_names(spec, outputs)}


def _fits(answer: Answer, values: dict[str, Any], leaves: list[Leaf]) -> bool:
    """Return whether derivatives have the shapes and dtypes of what they belong to."""
    pairs = [(answer[f"VJP {leaf}"], argument(values, leaf)) for leaf in leaves]
    for name, tangent in answer.items():
        if name.startswith("JVP"):
            pairs.append((tangent, answer[name.replace("JVP", "value of")]))
    return all(
        derivative is None or (derivative.shape, derivative.dtype) == (of.shape, of.dtype)
        for derivative, of in pairs
    )


def _agrees(answer: Answer, slopes: _Slopes, leaves: list[Leaf], along: list[Array]) -> bool:
    """Return whether the tangents are the slopes, and the gradients their transposes."""
    names = list(slopes[leaves[0]])
    for name in names:
        slope = sum(slopes[leaf][name] for leaf in leaves)
        tangent = answer.get(f"JVP {name}")
        if not _close(np.zeros_like(slope) if tangent is None else tangent, slope, _TOLERANCE):
            return False
    weights = list(directions(slopes[leaves[0]][name] for name in names))
    for leaf, direction in zip(leaves, along, strict=True):
        gradient = answer[f"VJP {leaf}"]
        pulled = 0.0 if gradient is None else float((gradient * direction).sum())
        terms = [w * slopes[leaf][name] for w, name in zip(weights, names, strict=True)]
        pushed = sum(float(term.sum()) for term in terms)
        size = sum(float(np.abs(term).sum()) for term in terms)
        if abs(pulled - pushed) > _TOLERANCE * max(abs(pulled), size, 1e-3):
            return False
    return True


def _close(left: Any, right: Any, tolerance: float) -> bool:
    if left.shape != right.shape:
        return False
    size = np.abs(right).max(initial=1.0)
    return bool((np.abs(left - right) <= tolerance * size).all())
