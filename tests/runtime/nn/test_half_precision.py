"""Layers of halves: numbers are summed in single precision, and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec import nn

F = nn.functional

HALF = gs.float16

Norm = Callable[..., Any]

NORMS: dict[str, Norm] = {
    "batch_norm": lambda x, w, b: F.batch_norm(
        x.reshape(-1, 1), None, None, w, b, training=True
    ).reshape(1, 1, -1),
    "instance_norm": lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
    "group_norm": lambda x, w, b: F.group_norm(x, 1, w, b),
    "layer_norm": lambda x, w, b: F.layer_norm(
        x, (4,), None if w is None else w.expand(4), None if b is None else b.expand(4)
    ),
}


@pytest.mark.parametrize("name", NORMS)
def test_normalisation_of_halves_whose_squares_overflow(name: str) -> None:
    # The mean is 45000 and the deviation 15000, whose square no half holds.
    x = gs.tensor([[[30000.0, 30000.0, 60000.0, 60000.0]]], dtype=HALF, requires_grad=True)
    out = NORMS[name](x, None, None)
    assert out.dtype == HALF
    assert out.tolist() == [[[-1.0, -1.0, 1.0, 1.0]]]
    out.backward(gs.ones(1, 1, 4, dtype=HALF))
    assert x.grad is not None
    assert x.grad.dtype == HALF


@pytest.mark.parametrize("name", NORMS)
def test_normalisation_of_halves_with_weights_of_single_precision(name: str) -> None:
    x = gs.tensor([[[1.0, 1.0, 3.0, 3.0]]], dtype=HALF)
    weight = gs.tensor([2.0], requires_grad=True)
    bias = gs.tensor([0.5], requires_grad=True)
    out = NORMS[name](x, weight, bias)
    assert out.dtype == HALF
    assert out.tolist() == [[[-1.5, -1.5, 2.5, 2.5]]]
    out.backward(gs.tensor([[[0.0, 0.0, 1.0, 2.0]]], dtype=HALF))
    for grad in (weight.grad, bias.grad):
        assert grad is not None
        assert grad.dtype == gs.float32
        assert grad.item() == pytest.approx(3.0, abs=1e-4)


@pytest.mark.parametrize("name", NORMS)
def test_normalisation_refuses_weights_of_another_precision(name: str) -> None:
    x = gs.tensor([[[1.0, 1.0, 3.0, 3.0]]])
    with pytest.raises(RuntimeError, match="same dtype"):
        NORMS[name](x, gs.ones(1, dtype=HALF), None)
    with pytest.raises(RuntimeError, match="same dtype"):
        NORMS[name](x.half(), gs.ones(1, dtype=gs.float64), None)


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32])
def test_running_statistics_of_halves(dtype: Any) -> None:
    mean, var = gs.zeros(1, dtype=dtype), gs.ones(1, dtype=dtype)
    F.batch_norm(gs.tensor([[1.0], [3.0]], dtype=HALF), mean, var, training=True)
    assert (mean.dtype, var.dtype) == (dtype, dtype)
    assert mean.item() == pytest.approx(0.2, rel=1e-3)
    assert var.item() == pytest.approx(0.9 + 0.1 * 2, rel=1e-3)


def test_rms_norm_has_the_dtype_of_its_input() -> None:
    x = gs.tensor([3.0, 3.0], dtype=HALF)
    out = F.rms_norm(x, (2,), gs.tensor([1.0, 2.0], dtype=gs.float64))
    assert out.dtype == HALF
    assert out.tolist() == pytest.approx([1.0, 2.0], rel=1e-3)


def test_attention_of_halves_whose_scores_overflow() -> None:
    query = gs.tensor([[300.0]], dtype=HALF)
    key = gs.tensor([[300.0], [299.0]], dtype=HALF)
    value = gs.tensor([[2.0], [5.0]], dtype=HALF)
    out = F.scaled_dot_product_attention(query, key, value)
    assert out.dtype == HALF
    assert out.tolist() == [[2.0]]


EIGHT = [2048.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
"""Their sum is 2056; in halves 2048 + 1 is 2048."""


def test_means_of_windows_are_rounded_once() -> None:
    x = gs.tensor([[EIGHT]], dtype=HALF)
    assert F.avg_pool1d(x, 8).tolist() == [[[257.0]]]
    assert F.avg_pool2d(x.reshape(1, 1, 2, 4), (2, 4)).tolist() == [[[[257.0]]]]
    # The mean of the first column is 1024.5, which no half is.
    y = gs.tensor([[[[2048.0, 1.0], [1.0, 0.0]]]], dtype=HALF)
    assert F.adaptive_avg_pool2d(y, 1).tolist() == [[[[512.5]]]]


GATHERED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "avg_pool1d": (lambda x: 8 * F.avg_pool1d(x, 8, 1, padding=4)[..., :8], 8),
    "interpolate": (lambda x: F.interpolate(x, 8), 1),
    "pad": (lambda x: F.pad(x, (7, 0), mode="replicate"), 1),
}
"""Calls whose eight results are all shares of one element, and how many elements are given."""


@pytest.mark.parametrize("name", GATHERED)
def test_gradients_that_many_results_share_are_rounded_once(name: str) -> None:
    call, count = GATHERED[name]
    x = gs.zeros(1, 1, count, dtype=HALF, requires_grad=True)
    call(x).backward(gs.tensor([[EIGHT]], dtype=HALF))
    assert x.grad is not None
    assert x.grad[0, 0, (count - 1) // 2].item() == 2056.0
