"""Pitfalls of ops of the table are told where they make a right rule look wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.mutate.pitfalls import pitfall
from gradspec_codegen.prove.report.verdict import Counterexample
from tests.codegen.differentiate.test_derive import filled

CASES = {
    "the threshold of softplus": (
        "sum(softplus(x))",
        Counterexample("VJP of x", "x", "", got_value="0.2499999997", expected_value="0.25"),
        "threshold=20",
    ),
    "another mistake beside a softplus": (
        "sum(softplus(x))",
        Counterexample("VJP of x", "x", "", got_value="0.3", expected_value="0.25"),
        "",
    ),
    "flags that are counted": (
        "sum(x) / sum(mask)",
        Counterexample("VJP of x", "x", "", message="is float64[3] for float32[3]"),
        "write `sum(mask, dtype=x.dtype)`",
    ),
    "flags that are counted in floats": (
        "sum(x) / sum(mask, dtype=x.dtype)",
        Counterexample("VJP of x", "x", "", message="is float64[3] for float32[3]"),
        "",
    ),
    "a number times whole numbers": (
        "sum(x * (0.2 * mask))",
        Counterexample(
            "VJP of x, with create_graph", "x", "", got_value="0.2000000003", expected_value="0.2"
        ),
        "_to_copy(hot, dtype=x.dtype)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_usual_mistakes_are_told(case: str, tmp_path: Path) -> None:
    forward, found, expected = CASES[case]
    op = filled(
        "- name: counted(Tensor x, Tensor mask) -> Tensor\n"
        "  requires: x.ndim == 1 and mask.shape == x.shape\n"
        f"  forward: {forward}\n"
        "  mask: non_differentiable\n"
        "  examples: [{x: [2], mask: {bool: [true, false]}}]\n",
        tmp_path,
    )
    told = pitfall(op, found)
    assert expected in told
    assert bool(told) is bool(expected)
