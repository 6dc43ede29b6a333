"""Rows that `ignore_index` leaves out of a loss take no part in it, whatever stands there."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same

pytestmark = pytest.mark.oracle

INPUTS = {
    "rows": ([4, 3], [2, 1, 0, 1]),
    "images": ([2, 3, 1, 2], [[[2, 1]], [[1, 1]]]),
    "a sequence": ([2, 3, 2], [[2, 0], [1, 1]]),
}

REDUCTIONS = ("mean", "sum", "none")

WEIGHTS = {"without weights": None, "with weights": [0.5, 2.0, 1.5]}


def _loss(library: Any, name: str, x: Any, target: Any, weights: Any, reduction: str) -> Any:
    return getattr(library.nn.functional, name)(
        x,
        library.tensor(target),
        weight=None if weights is None else library.tensor(weights),
        ignore_index=1,
        reduction=reduction,
    )


def _numbers(library: Any, shape: list[int]) -> Any:
    count = 1
    for length in shape:
        count *= length
    return (library.arange(float(count)) / 7).sin().reshape(shape)


@pytest.mark.parametrize("cotangent", [float("nan"), float("inf")], ids=["nan", "inf"])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize(("shape", "target"), INPUTS.values(), ids=INPUTS)
def test_ignored_rows_have_no_gradient(
    torch: Any, shape: Any, target: Any, name: str, reduction: str, weights: Any, cotangent: float
) -> None:
    def gradient(library: Any) -> Any:
        x = _numbers(library, shape).requires_grad_()
        loss = _loss(library, name, x, target, weights, reduction)
        return library.autograd.grad(loss, x, library.full_like(loss, cotangent))

    assert_same(gradient, torch)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_nan_in_ignored_rows_is_not_read(torch: Any, reduction: str, weights: Any) -> None:
    def loss(library: Any) -> Any:
        x = _numbers(library, [4, 3])
        x[1] = float("nan")
        return _loss(library, "nll_loss", x, [2, 1, 0, 1], weights, reduction)

    assert_same(loss, torch)
