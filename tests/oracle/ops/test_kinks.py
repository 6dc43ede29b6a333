"""The derivatives at kinks, at ties and at infinities are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.cases import TABLE, Arguments

pytestmark = pytest.mark.oracle

OPS = {op.name: op for op in TABLE.ops}

TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])

SPECIAL = np.array([-np.inf, -1e300, -1.0, -0.0, 0.0, 1.0, 1e300, np.inf, np.nan])

POINTS: list[tuple[str, Arguments]] = [
    ("abs", {"self": np.array([0.0, -0.0, 1.0])}),
    ("sign", {"self": np.array([0.0, -0.0, 1.0])}),
    ("relu", {"self": SPECIAL}),
    ("floor", {"self": np.array([0.0, 1.0, -1.0])}),
    ("ceil", {"self": np.array([0.0, 1.0, -1.0])}),
    ("round", {"self": np.array([0.5, 1.5, -0.5, 2.5])}),
    ("trunc", {"self": np.array([0.0, 1.0, -1.0])}),
    ("maximum", {"self": np.array([1.0, 2.0]), "other": np.array([1.0, 3.0])}),
    ("minimum", {"self": np.array([1.0, 2.0]), "other": np.array([1.0, 3.0])}),
    ("clamp", {"self": np.array([-1.0, 0.0, 1.0, 2.0]), "min": 0.0, "max": 1.0}),
    ("clamp", {"self": np.array([0.0, 1.0, 2.0]), "min": 1.0, "max": 0.5}),
    ("clamp_min", {"self": np.array([0.0, 1.0]), "min": 1.0}),
    ("clamp_max", {"self": np.array([0.0, 1.0]), "max": 0.0}),
    (
        "clamp.Tensor",
        {"self": np.array([1.0, 1.0]), "min": np.array([1.0, 2.0]), "max": np.array([1.0, 0.0])},
    ),
    ("clamp_min.Tensor", {"self": np.array([1.0, 0.0]), "min": np.array([1.0, 1.0])}),
    ("clamp_max.Tensor", {"self": np.array([1.0, 2.0]), "max": np.array([1.0, 1.0])}),
    ("amax", {"self": TIES, "dim": [1]}),
    ("amin", {"self": TIES, "dim": [1]}),
    ("amax", {"self": TIES}),
    ("max", {"self": TIES}),
    ("min", {"self": TIES}),
    ("max.dim", {"self": TIES, "dim": 1}),
    ("min.dim", {"self": TIES, "dim": 1}),
    ("max.dim", {"self": np.array([[1.0, np.nan, 3.0]]), "dim": 1}),
    ("min.dim", {"self": np.array([[1.0, np.nan, 3.0]]), "dim": 1}),
    ("argmax", {"self": TIES, "dim": 1}),
    ("sqrt", {"self": np.array([0.0, 4.0])}),
    ("rsqrt", {"self": np.array([0.0, 4.0])}),
    ("reciprocal", {"self": np.array([0.0, -2.0])}),
    ("log", {"self": np.array([0.0, -1.0, np.inf])}),
    ("div.Tensor", {"self": np.array([1.0, 0.0]), "other": np.array([0.0, 0.0])}),
    ("exp", {"self": SPECIAL}),
    ("tanh", {"self": SPECIAL}),
    ("sigmoid", {"self": SPECIAL}),
    ("atan", {"self": SPECIAL}),
    ("erf", {"self": SPECIAL}),
    ("softplus", {"self": np.array([-800.0, -1.0, 19.0, 20.0, 21.0, 800.0])}),
    ("log_sigmoid", {"self": np.array([-800.0, 0.0, 800.0])}),
    ("pow.Tensor_Scalar", {"self": np.array([0.0, 2.0, -2.0]), "exponent": 2}),
    ("pow.Tensor_Scalar", {"self": np.array([0.0, 2.0]), "exponent": 0}),
    ("pow.Tensor_Scalar", {"self": np.array([0.0, 2.0]), "exponent": 1}),
    ("pow.Tensor_Scalar", {"self": np.array([0.0, 4.0]), "exponent": 0.5}),
    ("pow.Tensor_Tensor", {"self": np.array([0.0, 0.0, 2.0]), "exponent": np.array([0.0, 2.0, 0])}),
    ("pow.Scalar", {"self": 0, "exponent": np.array([0.0, 2.0])}),
    ("xlogy.Tensor", {"self": np.array([0.0, 0.0]), "other": np.array([0.0, 1.0])}),
    ("std.correction", {"self": np.array([[1.0, 1.0], [1.0, 2.0]]), "dim": [1]}),
    ("softmax.int", {"self": np.array([1000.0, 0.0, -1000.0]), "dim": 0}),
    ("log_softmax.int", {"self": np.array([1000.0, 0.0, -1000.0]), "dim": 0}),
    ("logsumexp", {"self": np.array([1000.0, 1000.0]), "dim": [0]}),
    ("logsumexp", {"self": np.array([np.inf, 1.0]), "dim": [0]}),
    ("logaddexp", {"self": np.array([1000.0, 0.0]), "other": np.array([0.0, 1000.0])}),
    ("l1_loss", {"self": np.array([1.0, 2.0]), "target": np.array([1.0, 1.0])}),
    (
        "binary_cross_entropy_with_logits",
        {"self": np.array([-800.0, 800.0]), "target": np.array([1.0, 0.5])},
    ),
    ("nll_loss", {"self": np.zeros((1, 2)), "target": np.array([1]), "ignore_index": 1}),
    ("remainder.Scalar", {"self": np.array([-3.0, 2.0, 5.5]), "other": 2}),
    ("atan2", {"self": np.array([0.0, 1.0]), "other": np.array([-1.0, 0.0])}),
    ("atan2", {"self": np.array([0.0, -0.0, 0.0]), "other": np.array([0.0, 0.0, -0.0])}),
    (
        "where.self",
        {"condition": np.array([True]), "self": np.array([0.0]), "other": np.array([np.inf])},
    ),
]


@pytest.mark.parametrize(
    ("name", "arguments"), POINTS, ids=[f"{name}-{n}" for n, (name, _) in enumerate(POINTS)]
)
def test_point(name: str, arguments: Arguments) -> None:
    from . import comparison

    op = OPS[name]
    mine = comparison.answer(comparison.GRADSPEC, op, arguments)
    theirs = comparison.answer(comparison.TORCH, op, arguments)
    compared: list[tuple[Any, Any]] = [
        *zip(mine.results, theirs.results, strict=True),
        *zip(mine.first, theirs.first, strict=True),
    ]
    for a, b in compared:
        comparison.assert_same(a, b, name)
