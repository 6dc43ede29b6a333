"""Values and derivatives at special points, written out: limits, ties, nan, ends of the range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.tensor import Tensor

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

inf, nan = math.inf, math.nan
functional = gs.nn.functional


def leaf(data: Any, dtype: Any = gs.float64) -> Tensor:
    return gs.tensor(data, dtype=dtype, requires_grad=True)


def gradient(function: Callable[[Tensor], Tensor], data: Any, dtype: Any = gs.float64) -> Any:
    x = leaf(data, dtype)
    (found,) = gs.autograd.grad(function(x).sum(), x)
    return found.tolist()


def second(function: Callable[[Tensor], Tensor], data: Any, dtype: Any = gs.float64) -> Any:
    """The second derivatives of an elementwise function, or a row sum of a Hessian."""
    x = leaf(data, dtype)
    (slope,) = gs.autograd.grad(function(x).sum(), x, create_graph=True)
    (found,) = gs.autograd.grad(slope.sum(), x)
    return found.tolist()


FULL_EXTREMES: list[tuple[Any, Any, Any]] = [
    ([1.0, nan, 3.0], [0.0, 1.0, 0.0], [nan, nan, nan]),
    ([nan, 2.0, nan], [0.5, 0.0, 0.5], [nan, nan, nan]),
    ([2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]),
]
"""The data, the gradient of `max()` and `min()`, and that of `amax()` and `amin()`."""


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize(("data", "of_max", "of_amax"), FULL_EXTREMES)
def test_extremes_of_nan(data: Any, of_max: Any, of_amax: Any, dtype: Any) -> None:
    for name, expected in (("max", of_max), ("min", of_max), ("amax", of_amax), ("amin", of_amax)):
        found = gradient(lambda x, name=name: getattr(x, name)(), data, dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=name)


def test_amax_of_nan_in_one_row() -> None:
    found = gradient(lambda x: x.amax(1), [[1.0, nan], [1.0, 2.0]])
    np.testing.assert_array_equal(found, [[nan, nan], [0.0, 1.0]])


@pytest.mark.parametrize("ord", [inf, -inf])
def test_largest_norm_of_nan(ord: float) -> None:
    data = [1.0, nan, 3.0]
    assert gradient(lambda x: gs.linalg.vector_norm(x, ord), data) == [0.0, 0.0, 0.0]
    assert gradient(lambda x: gs.dist(x, gs.zeros(3, dtype=x.dtype), ord), data) == [0.0] * 3


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("value", [1.4, 0.1, -1e7 / 3])
def test_nothing_spreads_in_a_constant_row(value: float, dtype: Any) -> None:
    rows = [[value] * 3, [value / 7] * 3]
    x = leaf(rows, dtype)
    assert x.std(1).tolist() == x.var(1).tolist() == [0.0, 0.0]
    assert gradient(lambda x: x.std(1), rows, dtype) == [[0.0] * 3] * 2
    assert gradient(lambda x: gs.std_mean(x, 1)[0], rows, dtype) == [[0.0] * 3] * 2
    assert functional.layer_norm(x, (3,)).tolist() == [[0.0] * 3] * 2
    batch = x.reshape(1, 2, 3)
    assert functional.group_norm(batch, 2).tolist() == [[[0.0] * 3] * 2]
    assert functional.batch_norm(batch, None, None, training=True).tolist() == [[[0.0] * 3] * 2]


@pytest.mark.parametrize("size", [1e30, 1e-30])
def test_std_fits_where_its_square_does_not(size: float) -> None:
    """The value for (s, s, 0) is s / sqrt(3)."""
    data = [size, size, 0.0]
    assert leaf(data, gs.float32).std().item() == pytest.approx(size / math.sqrt(3), rel=1e-6)
    height = 1 / math.sqrt(12)
    found = gradient(lambda x: x.std(), data, gs.float32)
    np.testing.assert_allclose(found, [height, height, -2 * height], rtol=1e-5)
    found = gradient(lambda x: gs.std_mean(x)[0], data, gs.float32)
    np.testing.assert_allclose(found, [height, height, -2 * height], rtol=1e-5)


def test_curvature_of_a_power_of_zero() -> None:
    """(2 + t)**t at 0: the first derivative is log 2, the second (log 2)**2 + 2 / 2."""
    assert second(lambda t: (2 + t) ** t, 0.0) == pytest.approx(math.log(2) ** 2 + 1, rel=1e-14)
    assert second(lambda t: (-2 + t) ** (0 * t.detach()), 0.0) == 0.0


def test_mixed_derivative_of_a_power() -> None:
    """The mixed derivative of x**y at y = 0 is 1 / x, in either order."""
    x, y = leaf([2.0, -4.0, 0.5]), leaf([0.0, 0.0, 0.0])
    (by_x,) = gs.autograd.grad((x**y).sum(), x, create_graph=True)
    assert gs.autograd.grad(by_x.sum(), y)[0].tolist() == [0.5, -0.25, 2.0]
    (by_y,) = gs.autograd.grad((x**y).sum(), y, create_graph=True)
    assert gs.autograd.grad(by_y.sum(), x)[0].tolist() == [0.5, -0.25, 2.0]


def small(dtype: Any, *values: int) -> Tensor:
    return gs.tensor(list(values), dtype=dtype)


VALUES: list[tuple[str, Callable[[], Tensor], Any]] = [
    ("xlogy(0, inf)", lambda: gs.xlogy(gs.tensor([0.0]), gs.tensor([inf])), [0.0]),
    ("xlogy(0, inf), a number", lambda: gs.xlogy(gs.tensor([0.0]), inf), [0.0]),
    ("xlogy(0, nan)", lambda: gs.xlogy(gs.tensor([0.0]), gs.tensor([nan])), [nan]),
    ("xlogy(0, -1)", lambda: gs.xlogy(gs.tensor([0.0]), gs.tensor([-1.0])), [0.0]),
    ("ldexp(0, -inf)", lambda: gs.ldexp(gs.tensor([0.0]), gs.tensor([-inf])), [0.0]),
    ("ldexp(1, inf)", lambda: gs.ldexp(gs.tensor([1.0]), gs.tensor([inf])), [inf]),
    ("ldexp(1, -inf)", lambda: gs.ldexp(gs.tensor([1.0]), gs.tensor([-inf])), [0.0]),
    ("pow(-inf, 0.5), 0-dim", lambda: gs.pow(gs.tensor(-inf), gs.tensor(0.5)), inf),
    ("pow(-inf, 0.5)", lambda: gs.pow(gs.tensor([-inf]), gs.tensor(0.5)), [inf]),
    ("pow of a number", lambda: gs.pow(-inf, gs.tensor(0.5)), inf),
    ("the square root of -inf", lambda: gs.tensor([-inf]) ** 0.5, [nan]),
    ("lgamma(-inf)", lambda: gs.lgamma(gs.tensor([-inf])), [inf]),
    ("sign of bools", lambda: gs.sign(gs.tensor([True, False])), [True, False]),
    ("isclose of bools", lambda: gs.isclose(gs.tensor([True]), gs.tensor([False])), [False]),
    (
        "isclose of int8",
        lambda: gs.isclose(small(gs.int8, -128, -128, 127), small(gs.int8, 0, 127, -1)),
        [False] * 3,
    ),
    (
        "isclose of uint8",
        lambda: gs.isclose(small(gs.uint8, 0, 0), small(gs.uint8, 1, 255), rtol=0, atol=1),
        [True, False],
    ),
    (
        "isclose of int64, without tolerance",
        lambda: gs.isclose(gs.tensor([2**53]), gs.tensor([2**53 + 1]), rtol=0, atol=0),
        [False],
    ),
]


@pytest.mark.parametrize("row", VALUES, ids=lambda row: row[0])
def test_value(row: tuple[str, Callable[[], Tensor], Any]) -> None:
    _, call, expected = row
    np.testing.assert_array_equal(call().numpy(), expected)


def test_an_unused_logarithm_costs_nothing() -> None:
    """A cotangent of zero stays zero where the logarithm is infinite."""
    x, y = leaf([1.0, 1.0]), gs.tensor([0.0, 2.0], dtype=gs.float64)
    (found,) = gs.autograd.grad(gs.xlogy(x, y)[1], x)
    assert found.tolist() == [0.0, math.log(2)]


@pytest.mark.parametrize("distance", [1.0, -1.0])
def test_curvature_where_a_loss_becomes_linear(distance: float) -> None:
    zero = gs.zeros(1, dtype=gs.float64)
    assert second(lambda x: functional.smooth_l1_loss(x, zero), [distance]) == [0.0]
    assert second(lambda x: functional.huber_loss(x, zero), [distance]) == [0.0]
    assert second(lambda x: functional.smooth_l1_loss(x, zero), [distance / 2]) == [1.0]
    assert second(lambda x: functional.softplus(x, 1, abs(distance)), [abs(distance)]) == [0.0]


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("x", [20.0, 40.4])
def test_curvature_of_silu_in_the_tail(x: float, dtype: Any) -> None:
    """It is s (1 - s) (2 + x (1 - 2 s)), which is (2 - x) exp(-x) so far out."""
    assert second(functional.silu, x, dtype) == pytest.approx((2 - x) * math.exp(-x), rel=1e-5)


@pytest.mark.parametrize("x", [30.0, 40.0, 1e3, 1e300])
def test_curvature_of_log_ndtr_in_the_tail(x: float) -> None:
    """It is -h (x + h), where h is the density: for x = 30 about -30 exp(-450) / sqrt(2 pi)."""
    height = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) if x < 100 else 0.0
    assert second(gs.special.log_ndtr, x) == pytest.approx(-x * height if height else 0.0, rel=1e-9)
    assert second(gs.special.log_ndtr, -1e3) == pytest.approx(-1 + 1e-6, abs=1e-11)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("x", [1.0, -1.0])
def test_curvature_at_the_ends_of_arcs(x: float, dtype: Any) -> None:
    assert second(gs.asin, x, dtype) == x * inf
    assert second(gs.acos, x, dtype) == -x * inf
    assert second(gs.atanh, x, dtype) == x * inf


def test_bessel_functions_at_zero() -> None:
    """I1 is x / 2 + x**3 / 16 + ..., I0 is 1 + x**2 / 4 + 3 x**4 / 192 ..."""
    x = leaf([0.0, 5e-324, 1e-310, 1e-5])
    derivative = gs.special.i1(x)
    for expected in (0.5, 0.0, 0.375, 0.0):
        (derivative,) = gs.autograd.grad(derivative.sum(), x, create_graph=True)
        np.testing.assert_allclose(derivative.detach().numpy(), expected, rtol=1e-9, atol=1e-5)
    derivative = gs.i0(x)
    for expected in (0.0, 0.5, 0.0, 0.375):
        (derivative,) = gs.autograd.grad(derivative.sum(), x, create_graph=True)
        np.testing.assert_allclose(derivative.detach().numpy(), expected, rtol=1e-9, atol=1e-5)


def test_scaled_bessel_functions_far_out() -> None:
    for function in (gs.special.i0e, gs.special.i1e):
        slope = gradient(function, [1e9, 1e20, 1e300, inf, -inf])
        np.testing.assert_allclose(slope, 0, atol=1e-14)


def test_curvature_of_a_singular_determinant() -> None:
    """Cofactors of diag(0, 2, 3): C[0, 0] grows with a[1, 1] by 3, with a[2, 2] by 2, and so on."""
    hessian = np.zeros((3, 3, 3, 3))
    sizes = [0.0, 2.0, 3.0]
    for i in range(3):
        for j in range(3):
            if i != j:
                other = sizes[3 - i - j]
                hessian[i, i, j, j], hessian[i, j, j, i] = other, -other
    weights = np.arange(1.0, 10.0).reshape(3, 3)
    matrix = leaf(np.diag(sizes))
    (cofactors,) = gs.autograd.grad(gs.det(matrix), matrix, create_graph=True)
    (found,) = gs.autograd.grad((cofactors * gs.tensor(weights)).sum(), matrix)
    np.testing.assert_allclose(
        found.numpy(), np.einsum("ij,ijkl->kl", weights, hessian), atol=1e-14
    )


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_an_infinite_product_spoils_no_other(name: str) -> None:
    source = leaf([1.0, inf, 3.0, 2.0, nan, 5.0])
    places = gs.tensor([0, 0, 1, 1, 2, 3])
    result = getattr(gs.ones(4, dtype=gs.float64), name)(0, places, source, "prod")
    (slope,) = gs.autograd.grad(result.sum(), source, create_graph=True)
    np.testing.assert_array_equal(slope.detach().numpy(), [inf, 1.0, 2.0, 3.0, 1.0, 1.0])
    (bend,) = gs.autograd.grad(slope[2:4].sum(), source)
    assert bend[2:4].tolist() == [1.0, 1.0]


def test_running_sums_of_nothing() -> None:
    """The logarithm of zero has no share in a sum, and none of its tangent."""
    x = gs.tensor([-inf, 0.0, 0.0], dtype=gs.float64)
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(x, gs.tensor([7.0, 1.0, 1.0], dtype=gs.float64))
        tangent = gs.autograd.forward_ad.unpack_dual(gs.logcumsumexp(dual, 0)).tangent
    np.testing.assert_allclose(tangent.numpy(), [0.0, 1.0, 1.0])
    found = gradient(lambda x: gs.logcumsumexp(x, 0)[1:], [-inf, 0.0, 0.0])
    np.testing.assert_allclose(found, [0.0, 1.5, 0.5])


def test_the_slope_of_a_remainder_by_zero_is_infinite() -> None:
    x, y = leaf([2.0]), leaf([0.0])
    assert gs.autograd.grad(gs.remainder(x, y), y)[0].tolist() == [-inf]
    assert gs.autograd.grad(gs.fmod(x, y), y)[0].tolist() == [-inf]


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_shrinking_keeps_the_sign_of_zero(dtype: Any) -> None:
    x = gs.tensor([-0.25, -0.0, 0.0, 0.25, -2.0, 2.0], dtype=dtype)
    found = functional.softshrink(x)
    assert found.tolist() == [0.0, 0.0, 0.0, 0.0, -1.5, 1.5]
    assert gs.signbit(found).tolist() == [True, True, False, False, True, False]


def test_zeros_of_functions_keep_their_sign() -> None:
    zeros = gs.tensor([0.0, -0.0])
    for function in (gs.relu, functional.relu6, gs.erfinv, lambda x: x.clamp(0, 1), gs.maximum):
        found = function(zeros, -zeros) if function is gs.maximum else function(zeros)
        assert gs.signbit(found).tolist() == [False, True], function
    assert gs.signbit(gs.remainder(gs.tensor([-2.0, 2.0]), 2.0)).tolist() == [True, False]
