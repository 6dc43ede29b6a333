"""Gradients by derived rules are those of the hand-written ones, to the last digits."""

from __future__ import annotations

from pathlib import Path

from .table import candidates, differences

LIMIT = 4
"""Units in the last place."""

AS_GOOD = frozenset(
    {
        *("mul.Tensor", "div.Tensor", "neg", "hypot", "asinh", "erf", "erfc", "lgamma", "digamma"),
        *("hardsigmoid", "relu", "deg2rad", "lerp.Tensor", "special_ndtr"),
    }
)


def test_derived_gradients_have_the_digits_of_written_ones(tmp_path: Path) -> None:
    chosen = [op for op in candidates() if op.name in AS_GOOD]
    assert {op.name for op in chosen} == AS_GOOD
    found = differences(chosen, tmp_path)
    far = {
        name: ulps for name, ulps in found.items() if not isinstance(ulps, float) or ulps > LIMIT
    }
    assert far == {}
