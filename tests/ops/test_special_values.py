"""Closed forms written out by hand: values and derivatives that anybody can look up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional
from gradspec.core.tensor import Tensor

from .cases import leaf

SQRT3 = math.sqrt(3)

UNARY: list[tuple[str, float, float, float]] = [
    ("exp", 1.0, math.e, math.e),
    ("exp2", 3.0, 8.0, 8 * math.log(2)),
    ("expm1", 1e-12, 1.0000000000005e-12, 1.000000000001),
    ("log", math.e, 1.0, 1 / math.e),
    ("log1p", 1e-12, 9.999999999995e-13, 0.999999999999),
    ("log2", 8.0, 3.0, 1 / (8 * math.log(2))),
    ("log10", 1000.0, 3.0, 1 / (1000 * math.log(10))),
    ("sqrt", 9.0, 3.0, 1 / 6),
    ("rsqrt", 4.0, 0.5, -1 / 16),
    ("reciprocal", -2.0, -0.5, -0.25),
    ("square", 3.0, 9.0, 6.0),
    ("abs", -2.0, 2.0, -1.0),
    ("neg", 2.0, -2.0, -1.0),
    ("sin", math.pi / 6, 0.5, SQRT3 / 2),
    ("cos", math.pi / 6, SQRT3 / 2, -0.5),
    ("tan", math.pi / 4, 1.0, 2.0),
    ("asin", 0.5, math.pi / 6, 2 / SQRT3),
    ("acos", 0.5, math.pi / 3, -2 / SQRT3),
    ("atan", 1.0, math.pi / 4, 0.5),
    ("sinh", math.log(2), 0.75, 1.25),
    ("cosh", math.log(2), 1.25, 0.75),
    ("tanh", math.log(2), 0.6, 0.64),
    ("asinh", 0.75, math.log(2), 0.8),
    ("acosh", 1.25, math.log(2), 4 / 3),
    ("atanh", 0.6, math.log(2), 1 / 0.64),
    ("sigmoid", math.log(3), 0.75, 0.1875),
    ("relu", 2.0, 2.0, 1.0),
    ("relu", -2.0, 0.0, 0.0),
    ("erf", 0.5, 0.5204998778130465, 2 / math.sqrt(math.pi) * math.exp(-0.25)),
    ("lgamma", 5.0, math.log(24), 25 / 12 - 0.5772156649015329),
    ("digamma", 1.0, -0.5772156649015329, math.pi**2 / 6),
]
"""`(op, x, f(x), f'(x))`"""


@pytest.mark.parametrize(("name", "x", "value", "slope"), UNARY)
def test_unary(name: str, x: float, value: float, slope: float) -> None:
    tensor = leaf(np.array(x), True)
    result = getattr(gs, name)(tensor)
    result.backward()
    assert result.item() == pytest.approx(value, rel=1e-12, abs=1e-15)
    assert tensor.grad is not None
    assert tensor.grad.item() == pytest.approx(slope, rel=1e-12, abs=1e-15)


BINARY: list[tuple[str, float, float, float, float, float]] = [
    ("add", 2.0, 3.0, 5.0, 1.0, 1.0),
    ("sub", 2.0, 3.0, -1.0, 1.0, -1.0),
    ("mul", 2.0, 3.0, 6.0, 3.0, 2.0),
    ("div", 2.0, 4.0, 0.5, 0.25, -0.125),
    ("pow", 2.0, 3.0, 8.0, 12.0, 8 * math.log(2)),
    ("maximum", 2.0, 3.0, 3.0, 0.0, 1.0),
    ("minimum", 2.0, 3.0, 2.0, 1.0, 0.0),
    ("maximum", 2.0, 2.0, 2.0, 0.5, 0.5),
    ("atan2", 1.0, 1.0, math.pi / 4, 0.5, -0.5),
    ("logaddexp", math.log(2), math.log(6), math.log(8), 0.25, 0.75),
    ("xlogy", 2.0, math.e, 2.0, 1.0, 2 / math.e),
    ("remainder", 7.0, 3.0, 1.0, 1.0, -2.0),
]
"""`(op, x, y, f(x, y), df/dx, df/dy)`"""


@pytest.mark.parametrize(("name", "x", "y", "value", "dx", "dy"), BINARY)
def test_binary(name: str, x: float, y: float, value: float, dx: float, dy: float) -> None:
    a, b = leaf(np.array(x), True), leaf(np.array(y), True)
    result = getattr(gs, name)(a, b)
    result.backward()
    assert a.grad is not None
    assert b.grad is not None
    found = (result.item(), a.grad.item(), b.grad.item())
    assert found == pytest.approx((value, dx, dy), rel=1e-12)


X = [[1.0, 2.0], [3.0, 4.0]]

OF_A_MATRIX: list[tuple[str, Callable[[Tensor], Any], Any, Any]] = [
    ("sum", lambda x: x.sum(), 10.0, [[1, 1], [1, 1]]),
    ("mean", lambda x: x.mean(), 2.5, [[0.25, 0.25], [0.25, 0.25]]),
    ("mean of rows", lambda x: x.mean(1), [1.5, 3.5], [[0.5, 0.5], [0.5, 0.5]]),
    ("var", lambda x: x.var(correction=0), 1.25, [[-0.75, -0.25], [0.25, 0.75]]),
    ("std", lambda x: x.std(0), [math.sqrt(2)] * 2, [[-math.sqrt(0.5)] * 2, [math.sqrt(0.5)] * 2]),
    ("amax", lambda x: x.amax(1), [2, 4], [[0, 1], [0, 1]]),
    ("max", lambda x: x.max(0).values, [3, 4], [[0, 0], [1, 1]]),
    ("cumsum", lambda x: x.cumsum(0), [[1, 2], [4, 6]], [[2, 2], [1, 1]]),
    ("logsumexp", lambda x: (x * 0).logsumexp(1), [math.log(2)] * 2, [[0, 0], [0, 0]]),
    ("transpose", lambda x: x.t(), [[1, 3], [2, 4]], [[1, 1], [1, 1]]),
    ("x @ x", lambda x: x @ x, [[7, 10], [15, 22]], [[7, 11], [9, 13]]),
    ("select", lambda x: x[1], [3, 4], [[0, 0], [1, 1]]),
    ("slice", lambda x: x[:, :1], [[1], [3]], [[1, 0], [1, 0]]),
    ("a row twice", lambda x: x[[0, 0]], [[1, 2], [1, 2]], [[2, 2], [0, 0]]),
    ("tril", lambda x: x.tril(), [[1, 0], [3, 4]], [[1, 0], [1, 1]]),
    ("clamp", lambda x: x.clamp(2, 3), [[2, 2], [3, 3]], [[0, 1], [1, 0]]),
    ("cat", lambda x: gs.cat([x, x], 1), [[1, 2, 1, 2], [3, 4, 3, 4]], [[2, 2], [2, 2]]),
    ("expand", lambda x: x[:, :1].expand(2, 3), [[1, 1, 1], [3, 3, 3]], [[3, 0], [3, 0]]),
]


@pytest.mark.parametrize(
    ("function", "value", "gradient"),
    [case[1:] for case in OF_A_MATRIX],
    ids=[case[0] for case in OF_A_MATRIX],
)
def test_of_a_matrix(function: Callable[[Tensor], Any], value: Any, gradient: Any) -> None:
    x = leaf(np.array(X), True)
    result = function(x)
    result.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(result.detach().numpy(), value, rtol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-12, atol=1e-12)


def test_softmax_and_cross_entropy() -> None:
    logits = leaf(np.log([[1.0, 3.0]]), True)
    np.testing.assert_allclose(gs.softmax(logits, 1).detach().numpy(), [[0.25, 0.75]], rtol=1e-12)
    loss = nn_functional.cross_entropy(logits, leaf(np.array([0]), False))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(4))
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad.numpy(), [[-0.75, 0.75]], rtol=1e-12)


def test_nothing_overflows_on_the_way() -> None:
    """Results that fit into a float are found although a naive formula overflows."""
    far = leaf(np.array([-1000.0, 1000.0]), False)
    assert nn_functional.softplus(far).tolist() == [0.0, 1000.0]
    assert gs.sigmoid(far).tolist() == [0.0, 1.0]
    assert gs.softmax(far, 0).tolist() == [0.0, 1.0]
    assert gs.log_softmax(far, 0).tolist() == [-2000.0, 0.0]
    assert gs.logsumexp(far, 0).item() == 1000.0
    assert gs.logaddexp(far, far.flip(0)).tolist() == [1000.0, 1000.0]
    target = leaf(np.array([1.0, 0.0]), False)
    loss = nn_functional.binary_cross_entropy_with_logits(far, target, reduction="none")
    assert loss.tolist() == [1000.0, 1000.0]


def test_reflected_operators() -> None:
    x = leaf(np.array([2.0, 4.0]), False)
    assert (1 - x).tolist() == [-1.0, -3.0]
    assert (8 / x).tolist() == [4.0, 2.0]
    assert (3**x).tolist() == [9.0, 81.0]
    assert (np.array([3.0, 2.0]) ** x).tolist() == [9.0, 16.0]
    assert (np.array([[1.0, 1.0]]) @ x).tolist() == [6.0]


@pytest.mark.parametrize("slope", [0.0, 0.01, 1.0, 2.0, -0.5])
def test_leaky_relu_of_limits(slope: float) -> None:
    data = [math.inf, 3.0, 0.0, -2.0, -math.inf, math.nan]
    x = gs.tensor(data, dtype=gs.float64, requires_grad=True)
    result = nn_functional.leaky_relu(x, slope)
    below = slope * -math.inf  # nan if there is no slope
    np.testing.assert_array_equal(
        result.detach().numpy(), [math.inf, 3.0, 0.0, -2.0 * slope, below, math.nan]
    )
    result.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0, *[slope] * 4])
