"""Reductions, normalisations and products in C against NumPy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gradspec.compiler.c import blas, build, source_of

from .recorded import assert_close, assert_same_bits, expected, recorded, run

rng = np.random.default_rng(0)
AXES = [None, *(axes for size in (1, 2, 3) for axes in combinations(range(3), size))]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axes: Any, keepdims: bool) -> None:
    a = rng.integers(-8, 9, (3, 5, 7)).astype(np.float64)

    def function(x: Any) -> Any:
        options = {"axis": axes, "keepdims": keepdims}
        y = x * 2
        return (
            np.add.reduce(y, **options),
            np.maximum.reduce(x, **options),
            np.minimum.reduce(y.T, axis=1, keepdims=keepdims),
            np.logical_and.reduce(x > -8, **options),
            np.logical_or.reduce(x > 7, **options),
            np.multiply.reduce(np.sign(x), **options),
        )

    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        assert_same_bits(found, wanted)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32, np.int64, np.float32])
def test_dtypes_of_sums(dtype: Any) -> None:
    a = rng.integers(0, 2, (4, 9)).astype(dtype)

    def function(x: Any) -> Any:
        return (
            np.add.reduce(x, axis=1),
            np.add.reduce(x, axis=0, dtype=np.float64),
            np.maximum.reduce(x, axis=None),
            np.multiply.reduce(x, axis=0),
        )

    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        assert_same_bits(found, wanted)


@pytest.mark.parametrize("place", [0, 5, 40])
def test_nan_and_infinity_in_extremes(place: int) -> None:
    for special in (np.nan, np.inf, -np.inf):
        a = rng.standard_normal((3, 41))
        a[1, place] = special

        def function(x: Any) -> Any:
            return (
                np.maximum.reduce(x, axis=1),
                np.minimum.reduce(x, axis=0),
                np.add.reduce(x, axis=1) * 0,
            )

        for found, wanted in zip(run(function, a), expected(function, a), strict=True):
            assert np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 100, 5000, 300_001])
def test_long_sums_are_accurate(count: int, dtype: Any) -> None:
    a = rng.random(count).astype(dtype)
    (found,) = run(lambda x: np.add.reduce(x, axis=None), a)
    exact = np.add.reduce(a.astype(np.longdouble))
    assert_close(found, exact.astype(dtype), 64)


def softmax(x: Any, axis: int) -> Any:
    e = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    return e / np.add.reduce(e, axis=axis, keepdims=True)


def layer_norm(x: Any) -> Any:
    mean = np.add.reduce(x, axis=-1, keepdims=True) / x.shape[-1]
    centred = x - mean
    return centred / np.sqrt(np.add.reduce(centred * centred, axis=-1, keepdims=True) / 3 + 1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (70, 10), (5, 300), (3, 4, 6), (130, 65)])
def test_rows(shape: Any) -> None:
    a = rng.standard_normal(shape)

    def function(x: Any) -> Any:
        return softmax(x, -1), softmax(x, 0), layer_norm(x), layer_norm(softmax(x, -1) * x)

    for found, wanted in zip(run(function, a), expected(function, a), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


SHAPES = [
    ((4, 5), (5, 6)),
    ((40, 50), (50, 60)),
    ((5,), (5,)),
    ((7, 5), (5,)),
    ((5,), (5, 7)),
    ((1, 5), (5, 1)),
    ((4, 1), (1, 6)),
    ((3, 4, 5), (3, 5, 6)),
    ((2, 1, 4, 5), (3, 5, 6)),
    ((3, 1, 5), (5, 6)),
    ((3, 40, 5), (5, 1)),
    ((4, 0), (0, 3)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_products(first: Any, second: Any, dtype: Any) -> None:
    a = rng.integers(-4, 5, first).astype(dtype)
    b = rng.integers(-4, 5, second).astype(dtype)
    (found,) = run(lambda x, y: np.matmul(x, y), a, b)
    assert_same_bits(found + dtype(0), np.matmul(a, b) + dtype(0))


@pytest.mark.parametrize("size", [3, 30])
def test_products_of_transposed_and_sliced_matrices(size: int) -> None:
    a = rng.integers(-4, 5, (size, size + 2)).astype(np.float64)
    b = rng.integers(-4, 5, (size, size + 2)).astype(np.float64)

    def function(x: Any, y: Any) -> Any:
        return (
            np.matmul(x, y.T),
            np.matmul(x.T, y),
            np.matmul(x[::2, 1:], y[:, 1:].T),
            np.matmul(x[:, ::2], y[:, ::2].T),
            np.matmul((x * 2).T, y + 1),
            np.dot(x.T, y[:, 0]),
            np.dot(x[0], x[1]),
        )

    for found, wanted in zip(run(function, a, b), expected(function, a, b), strict=True):
        assert_same_bits(found + 0.0, wanted + 0.0)


def test_large_matrices_are_multiplied_by_blas() -> None:
    a = np.zeros((40, 50))
    text = source_of(recorded(lambda x: np.matmul(x, x.T), a))
    assert "gs_dgemm_call('T', 'N', 40, 40, 50" in text


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("batch", [(50,), (1, 50), (50, 1), (3, 20)])
def test_one_matrix_and_many_vectors_are_one_product(batch: tuple[int, ...], order: Any) -> None:
    matrix = np.asarray(rng.integers(-4, 5, (17, 13)).astype(np.float64), order=order)
    columns = rng.integers(-4, 5, (*batch, 13, 1)).astype(np.float64)
    rows = rng.integers(-4, 5, (*batch, 1, 17)).astype(np.float64)
    for function, vectors in (
        (lambda m, v: np.matmul(m, v), columns),
        (lambda m, v: np.matmul(np.broadcast_to(m, (*batch, 17, 13)), v), columns),
        (lambda m, v: np.matmul(v, m), rows),
        (lambda m, v: np.matmul(v, np.broadcast_to(m, (*batch, 17, 13))), rows),
    ):
        program = recorded(function, matrix, vectors)
        text = source_of(program)
        assert text.count("gemm_call('") == (0 if batch == (3, 20) else 1)
        assert_same_bits(build(program)(matrix, vectors)[0], function(matrix, vectors))


def test_without_scipy_large_matrices_are_multiplied_by_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blas, "library", lambda: None)
    a = rng.integers(-4, 5, (40, 50)).astype(np.float64)
    program = recorded(lambda x: np.matmul(x * 2, x.T) + 1, a)
    assert "gemm_call('" not in source_of(program)
    assert_same_bits(build(program)(a)[0], 2 * a @ a.T + 1)


def test_logistic_regression_reads_its_matrix_in_one_nest() -> None:
    a, w, y = rng.standard_normal((200, 7)), rng.standard_normal(7), rng.random(200)

    def function(x: Any, v: Any, t: Any) -> Any:
        p = 1 / (1 + np.exp(-np.matmul(x, v)))
        return np.matmul(x.T, p - t)

    text = source_of(recorded(function, a, w, y))
    assert text.count("/* 200×7") == 1
    np.testing.assert_allclose(run(function, a, w, y)[0], function(a, w, y), rtol=1e-12)
