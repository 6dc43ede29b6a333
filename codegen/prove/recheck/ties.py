"""Runs where two sides of a comparison are equal, compared with numbers alone.

The inputs are those of the witness; cotangents and tangents are drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..identities.identity import kernel_identities
from ..identities.run import Array, Run
from ..numeric.evaluate import is_nan
from ..symbolic.symbols import expressions
from ..zero.is_zero import are_far_apart
from .rejected import Rejected

_LARGEST = 1e40
"""A larger value is a quotient by what is zero, but for rounding."""


def check_tie(run: Run, place: str, recorded: list[str]) -> int:
    """Check that what was recorded holds, and is all; answers how many identities that are.

    An identity without a value may be recorded or not: a proof may know that both sides are
    infinite. Raises Rejected otherwise.
    """
    left = iter(recorded)
    label = next(left, None)
    checked = 0
    for name, got, expected in _identities(run, place):
        has_value = _is_usual(got) and _is_usual(expected)
        if has_value and are_far_apart(got, expected):
            raise Rejected(f"`{name}` does not hold")
        if label == name:
            checked += 1
            label = next(left, None)
        elif has_value:
            raise Rejected(f"the identity `{name}` is missing")
    if label is not None:
        raise Rejected(f"there is no identity `{label}`")
    return checked


def _identities(run: Run, place: str) -> Iterator[tuple[str, Any, Any]]:
    """The label and both values of each identity."""
    for identity in kernel_identities(run):
        got, expected = map(run.point.value, (identity.got, identity.expected))
        yield f"{identity.label} where {place}", got, expected
    if run.tangents:
        pulled = _sum_of_products(
            run, ((run.weights[leaf], g) for leaf, g in run.gradients.items())
        )
        pushed = _sum_of_products(run, ((run.cotangents[n], t) for n, t in run.tangents.items()))
        yield f"VJP and JVP where {place}", pulled, pushed


def _is_usual(value: Any) -> bool:
    return not is_nan(value) and bool(abs(value) < _LARGEST)


def _sum_of_products(run: Run, pairs: Iterable[tuple[Any, Array | None]]) -> Any:
    """The real part of the sum of `conj(a) * b`, element by element; absent arrays are zero."""
    total: Any = 0
    for weights, found in pairs:
        if found is None:
            continue
        if found.shape != weights.shape:
            raise Rejected(f"a derivative has shape {list(found.shape)}")
        for weight, element in zip(expressions(weights).flat, found.flat, strict=True):
            product = run.point.value(weight).conjugate() * run.point.value(element)
            total = total + product.real
    return total
