"""Cholesky factors in C, calls of Python beside C, and the threads that BLAS starts meanwhile."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.c import blas
from tests.runtime.compiler.comparing import assert_gradients_same


def definite(size: int, dtype: Any, order: Any = "C") -> Any:
    """A positive definite matrix of which either triangle is enough."""
    root = np.random.default_rng(size).normal(size=(size, size))
    return np.array(root @ root.T + size * np.eye(size), dtype, order=order)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "precision"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_a_factor_times_itself_is_the_matrix(
    upper: bool, order: str, dtype: Any, precision: float
) -> None:
    given = definite(9, dtype, order)
    other = np.tril if upper else np.triu
    given += other(np.ones_like(given), -1 if upper else 1)  # the half that is not read
    factor = gs.compile(lambda a: gs.linalg.cholesky(a, upper=upper), backend="c")
    found = factor(gs.from_numpy(given)).numpy()
    lower = found.T if upper else found
    np.testing.assert_array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(lower @ lower.T, definite(9, dtype), rtol=precision, atol=precision)
    shown = gs.compiler.explain(factor, gs.from_numpy(given)).forward
    assert "potrf_call('" in shown.source


@pytest.mark.parametrize("upper", [False, True])
def test_its_gradients(upper: bool) -> None:
    def logarithm(a: Any) -> Any:
        return gs.linalg.cholesky(a @ a.t() + 9 * gs.eye(9), upper=upper).diagonal().log().sum()

    given = gs.from_numpy(np.random.default_rng(0).normal(size=(9, 9))).requires_grad_()
    assert_gradients_same(gs.compile(logarithm, backend="c"), logarithm, [given], rtol=1e-11)


def test_what_is_not_definite() -> None:
    right, wrong = definite(6, np.float64), definite(6, np.float64)
    wrong[3, 3] = -1.0
    checked = gs.compile(lambda a: gs.linalg.cholesky(a), backend="c")
    told = gs.compile(lambda a: gs.linalg.cholesky_ex(a), backend="c")
    checked(gs.from_numpy(right))
    with pytest.raises(gs.linalg.LinAlgError, match="not positive-definite"):
        checked(gs.from_numpy(wrong))
    for matrix, info in ((right, 0), (wrong, 4)):
        factor, found = told(gs.from_numpy(matrix))
        assert (found.item(), found.dtype) == (info, gs.int32)
        assert bool(factor.isnan().all()) is (info == 4)


@pytest.mark.parametrize("place", [(0, 0), (2, 1), (3, 3)])
def test_a_matrix_of_nan_is_not_definite(place: tuple[int, int]) -> None:
    given = definite(4, np.float64)
    given[place] = np.nan
    factor, info = gs.compile(lambda a: gs.linalg.cholesky_ex(a), backend="c")(gs.from_numpy(given))
    expected, known = gs.linalg.cholesky_ex(gs.from_numpy(given))
    np.testing.assert_array_equal(np.isnan(factor.numpy()), np.isnan(expected.numpy()))
    assert info.item() == known.item() == place[0] + 1


def test_blas_has_its_threads_again() -> None:
    library = blas.library()
    assert library is not None
    addresses = library.thread_counts
    assert addresses is not None, "NumPy's BLAS is not that of its wheels"
    count = ctypes.CFUNCTYPE(ctypes.c_int)(addresses[0])
    set_count = ctypes.CFUNCTYPE(None, ctypes.c_int)(addresses[1])
    before = count()
    set_count(2)  # the tests are run with one
    program = gs.compile(lambda a, b: a @ b, backend="c")
    given = gs.from_numpy(definite(90, np.float64))
    found, after = program(given, given), count()
    set_count(before)
    np.testing.assert_allclose(found.numpy(), given.numpy() @ given.numpy())
    assert after == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scipy_s_blas_does_where_numpy_brings_none(
    monkeypatch: pytest.MonkeyPatch, dtype: Any
) -> None:
    scipy_s = blas.of_scipy()
    monkeypatch.setattr(blas, "library", lambda: scipy_s)
    given = definite(90, np.float64).astype(dtype)

    def solved(a: gs.Tensor) -> list[gs.Tensor]:
        factor = gs.linalg.cholesky(a)
        return [a @ a, factor, gs.linalg.solve_triangular(factor, a, upper=False)]

    found = gs.compile(solved, backend="c")(gs.from_numpy(given))
    expected = solved(gs.from_numpy(given))
    for ours, theirs in zip(found, expected, strict=True):
        scale = abs(theirs.numpy()).max() * np.finfo(dtype).eps * 90
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=scale)


def test_loops_are_not_mixed_up() -> None:
    """gcc 12 with -floop-unroll-and-jam computes other numbers."""
    x = gs.tensor([[1.4, -0.5], [0.8, -1.5], [-1.0, 0.1]], dtype=gs.float64, requires_grad=True)

    def curved(x: gs.Tensor) -> gs.Tensor:
        inverse = gs.linalg.pinv(x)
        (slope,) = gs.autograd.grad(inverse.std(), [x], create_graph=True)
        return gs.autograd.grad(slope.sin().sum(), [x])[0].detach()

    found = gs.compile(curved, backend="c")(x)
    np.testing.assert_allclose(found.numpy(), curved(x).numpy(), rtol=1e-10)


def test_calls_of_python_give_no_warnings() -> None:
    x = gs.tensor([-1.0, 4.0]).half()  # which has no C
    found = gs.compile(lambda x: x.sqrt() * 1, backend="c")(x)
    assert found[1].item() == 2
    assert found.isnan().tolist() == [True, False]
