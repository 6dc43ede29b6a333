"""Arrays from which on other ways to compute are taken, beside NumPy and SciPy in float64."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

import gradspec as gs
import gradspec.nn.functional as F
from gradspec.fast.log_sums import log_of_sum
from gradspec.fast.summation import sums
from gradspec.kernels import gelu_slope, normal_cdf, sort, topk, where
from gradspec.kernels.indexing.gather_scatter import add_at, add_rows

SHAPES = [(512, 128), (64, 9, 16), (8, 4, 16, 64), (20000, 3), (3, 20000), (9000, 2, 3), (40000,)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_over_any_dimensions(shape: tuple[int, ...], dtype: type) -> None:
    array = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    exact = array.astype(np.longdouble)
    axes = [c for n in range(1, len(shape) + 1) for c in combinations(range(len(shape)), n)]
    for axis in (*axes, -1, None):
        for keepdims in (False, True):
            found = sums(array, axis, keepdims)
            wanted = exact.sum(axis, keepdims=keepdims)
            assert (found.shape, found.dtype) == (wanted.shape, dtype), (axis, keepdims)
            sizes = np.abs(exact).sum(axis, keepdims=keepdims)
            assert (np.abs(found - wanted) <= 4 * np.finfo(dtype).eps * sizes).all(), axis


@pytest.mark.parametrize("order", ["F", "strided"])
def test_sums_of_other_layouts(order: str) -> None:
    array = np.arange(64 * 200.0).reshape(64, 200)
    laid = np.asfortranarray(array) if order == "F" else np.repeat(array, 2, axis=1)[:, ::2]
    assert sums(laid, 0).tolist() == array.sum(0).tolist()
    assert sums(laid, (1,)).tolist() == array.sum(1).tolist()


def test_sums_with_infinity_and_nan() -> None:
    array = np.ones((100, 100))
    array[3, 5], array[4, 6] = np.inf, np.nan
    assert sums(array, 1)[3] == np.inf
    assert np.isnan(sums(array, 1)[4])
    assert sums(array, 1)[5] == 100
    assert np.isnan(sums(array, 0)[6])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_do_not_depend_on_the_length_of_the_array(name: str, dtype: type) -> None:
    data = np.random.default_rng(9).uniform(-30, 30, (1 << 19) + 8).astype(dtype)
    slope = {"sin": np.cos, "cos": lambda part: -np.sin(part)}[name]
    x = gs.tensor(data, requires_grad=True)
    y = getattr(gs, name)(x)
    y.backward(gs.ones_like(y))
    for start in (0, 1 << 18, data.size - 8):
        few = data[start : start + 8]
        np.testing.assert_array_equal(y.detach().numpy()[start : start + 8], getattr(np, name)(few))
        np.testing.assert_array_equal(x.grad.numpy()[start : start + 8], slope(few))


POINTS = np.concatenate([np.linspace(-12.9, 9, 200_001), [0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38]])


def test_the_normal_distribution_in_float32() -> None:
    points = POINTS.astype(np.float32)
    exact = ndtr(points.astype(np.float64))
    is_normal = exact > np.finfo(np.float32).tiny
    error = np.abs(normal_cdf(points) - exact)[is_normal] / exact[is_normal]
    assert error.max() < 1e-5
    middle = np.abs(points[is_normal]) < 3
    assert error[middle].max() < 1e-6


def test_the_ends_of_the_normal_distribution() -> None:
    points = np.zeros(5000, np.float32)
    points[:3] = -np.inf, np.inf, np.nan
    assert normal_cdf(points)[:2].tolist() == [0, 1]
    assert np.isnan(normal_cdf(points)[2])
    assert normal_cdf(points)[3:].tolist() == [0.5] * 4997


def test_the_slope_of_gelu_in_float32() -> None:
    points = POINTS[np.abs(POINTS) < 20].astype(np.float32)
    height = (2 * np.pi) ** -0.5
    x = points.astype(np.float64)
    left, right = ndtr(x), x * np.exp(-x * x / 2) * height
    error = np.abs(gelu_slope(points, normal_cdf(points), height) - (left + right))
    assert (error <= 1e-5 * np.maximum(np.abs(left), np.abs(right))).all()


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_gelu_of_a_large_array(layout: str) -> None:
    array = np.random.default_rng(1).standard_normal((80, 90)).astype(np.float32)
    x = gs.tensor(array).requires_grad_()
    y = F.gelu(x if layout == "contiguous" else x.t())
    y.sum().backward()
    exact = gs.tensor(array.astype(np.float64)).requires_grad_()
    wanted = F.gelu(exact if layout == "contiguous" else exact.t())
    wanted.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-7)
    assert x.grad is not None
    assert exact.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), exact.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_rounding_numbers_too_large_to_be_scaled() -> None:
    large = np.array([-7.2711809674393525e37, 1.26], np.float32)
    assert gs.round(gs.tensor(large), decimals=1).tolist()[0] == large[0]


@pytest.mark.parametrize("rows", [65_536, 70_123])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
def test_the_gradient_of_a_tall_linear_model(rows: int, dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, (rows, 8)).astype(dtype)
    y = rng.integers(-9, 9, rows).astype(dtype)
    if dtype.startswith("complex"):
        x += 1j * rng.integers(-9, 9, x.shape)
    product = gs.mv(gs.tensor(x).t(), gs.tensor(y)).numpy()
    assert product.dtype == x.dtype
    for column, found in zip(x.T, product, strict=True):  # sums of whole numbers are exact
        pairs = zip(column.tolist(), y.tolist(), strict=True)
        assert found == sum(a * b for a, b in pairs)


@pytest.mark.parametrize("size", [3, 5001])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_slope_of_gelu_at_infinity(size: int, dtype: str) -> None:
    x = gs.tensor(np.resize([np.inf, -np.inf, 0.0], size).astype(dtype)).requires_grad_()
    F.gelu(x).sum().backward()
    assert x.grad is not None
    assert x.grad.numpy()[:3].tolist() == [1, 0, 0.5]


@pytest.mark.parametrize("size", [1 << 13, (1 << 19) + 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_choices_between_arrays_and_numbers(size: int, dtype: type) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, size)).astype(dtype)
    a[:4], b[:4] = (np.nan, np.inf, -0.0, 1e-40), (-np.inf, -0.0, np.nan, 0.0)
    condition = rng.random(size) < 0.5
    number = np.array(-np.inf, dtype)
    pairs = [(a, b), (a, number), (number, b), (0, b), (a, 0), (a[::-1], b), (number, number)]
    for first, second in pairs:
        found = where(condition, first, second)
        expected = np.where(condition, first, second)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()  # signs of zero and nan as well
    x = gs.tensor(a, requires_grad=True)
    y = x.masked_fill(gs.tensor(condition), 7)
    y.backward(gs.ones_like(y))
    assert x.grad is not None
    assert y.detach().numpy().tobytes() == np.where(condition, dtype(7), a).tobytes()
    assert x.grad.numpy().tolist() == (~condition).astype(dtype).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_sums(dtype: type) -> None:
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 700.0, -700.0, 1.5]
    points = np.array([(p, q) for p in ends for q in ends], dtype)
    a, b = np.random.default_rng(4).uniform(-50, 50, (2, 5000)).astype(dtype)
    a[: len(points)], b[: len(points)] = points.T
    for first, second in ((a, b), (b[:50, None], a), (a, 2), (0, b)):
        found = log_of_sum(first, second)
        exact = [np.asarray(given, np.longdouble) for given in (first, second)]
        with np.errstate(all="ignore"):
            wanted = np.logaddexp(*exact)
            error = np.abs(found - wanted)
            fits = error <= 4 * np.finfo(dtype).eps * np.abs(wanted) + np.finfo(dtype).eps
        assert (found.dtype, found.shape) == (dtype, wanted.shape)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        assert (fits | same).all()
    with np.errstate(all="raise"):
        assert log_of_sum(np.full(5000, np.inf, dtype), np.full(5000, np.inf, dtype))[0] == np.inf


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_few_of_many(dim: int, largest: bool) -> None:
    rng = np.random.default_rng(5)
    plain = rng.standard_normal((60, 80)).astype(np.float32)
    repeated = rng.integers(0, 9, (60, 80))
    with_nan = np.where(rng.random((60, 80)) < 0.02, np.nan, plain)
    for array in (plain, repeated, with_nan, rng.permutation(4800).reshape(60, 80)):
        for k in (1, 3, 15):
            values, indices = topk(array, k, dim, largest)
            ordered, places = sort(array, dim, largest)
            np.testing.assert_array_equal(values, np.take(ordered, range(k), dim))
            np.testing.assert_array_equal(indices, np.take(places, range(k), dim))


@pytest.mark.parametrize("row", [(), (3,), (300,), (2, 200)])
def test_adding_into_places(row: tuple[int, ...]) -> None:
    rng = np.random.default_rng(6)
    numbers = rng.integers(-7, 7, 40)
    rows = rng.standard_normal((40, *row))
    found, expected = np.zeros((7, *row)), np.zeros((7, *row))
    add_rows(found, numbers, rows)
    np.add.at(expected, numbers, rows)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    for layout in ("C", "F"):
        out = np.zeros((5, 6, 4), order=layout)  # type: ignore[call-overload]
        wanted = np.zeros((5, 6, 4))
        places = np.ix_(np.arange(5), rng.integers(0, 6, 9), np.arange(4))
        values = rng.standard_normal((5, 9, 4))
        add_at(out, places, values)
        np.add.at(wanted, places, values)
        np.testing.assert_allclose(out, wanted, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("length", [150, 300])
def test_places_may_be_larger_than_the_integers_of_an_index(dtype: type, length: int) -> None:
    places = np.array([1, 100, 100, 5], dtype)
    expected = np.zeros((300, length))
    np.add.at(expected, places.astype(int), 1.0)
    index = gs.tensor(places)
    columns = index[:, None].expand(4, length)
    ones = gs.ones(4, length, dtype=gs.float64)
    x = gs.zeros(300, length, dtype=gs.float64, requires_grad=True)
    for picked in (x.gather(0, columns), x.index_select(0, index)):
        (grad,) = gs.autograd.grad(picked, x, ones)
        np.testing.assert_array_equal(grad.numpy(), expected)
    added = gs.scatter_add(x.detach(), 0, columns, ones)
    np.testing.assert_array_equal(added.numpy(), expected)
    if dtype in (np.int32, np.int64):  # bytes are masks, the others refused
        (grad,) = gs.autograd.grad(x[index], x, ones)
        np.testing.assert_array_equal(grad.numpy(), expected)


@pytest.mark.parametrize("shape", [(5, 7), (3, 1), (40,), (2, 3, 4), (1, 30)], ids=str)
@pytest.mark.parametrize("dim", [0, -1])
def test_softmax_of_any_layout(shape: tuple[int, ...], dim: int) -> None:
    rng = np.random.default_rng(7)
    array, weights = rng.standard_normal((2, *shape))
    for laid in (array, np.asfortranarray(array)):
        for name in ("softmax", "log_softmax"):
            x = gs.tensor(laid, requires_grad=True)
            y = getattr(gs, name)(x, dim)
            y.backward(gs.tensor(weights))
            powers = np.exp(array)
            share = powers / powers.sum(dim, keepdims=True)
            slope = share * (weights - (weights * share).sum(dim, keepdims=True))
            if name == "log_softmax":
                slope = weights - share * weights.sum(dim, keepdims=True)
                share = np.log(share)
            assert x.grad is not None
            np.testing.assert_allclose(y.detach().numpy(), share, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-12, atol=1e-13)
