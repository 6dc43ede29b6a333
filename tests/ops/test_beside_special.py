"""NaN and infinity change nothing beside them: neighbours and whole matrices."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional

NAN = math.nan


@pytest.mark.parametrize("special", [0.0, -1.0, -2.0, math.inf, -math.inf, NAN])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64], ids=str)
def test_lgamma_keeps_its_sign(special: float, dtype: gs.dtype) -> None:
    found = gs.lgamma(gs.tensor([1.5, special], dtype=dtype))
    np.testing.assert_allclose(found.array[0], math.lgamma(1.5), rtol=1e-6)
    if not math.isnan(special):
        assert found.array[1] == math.inf


@pytest.mark.parametrize("order", [2, 3, 0.5, 1, math.inf, -1])
@pytest.mark.parametrize("size", [1e38, 1e-30])
def test_the_norm_of_one_element_is_its_size(order: float, size: float) -> None:
    x = gs.tensor([-size], requires_grad=True)
    norm = gs.linalg.vector_norm(x, order)
    norm.backward()
    assert norm.item() == -x.item()
    assert x.grad.item() == -1
    rows = gs.tensor([[size], [-size]])
    assert gs.equal(gs.linalg.vector_norm(rows, order, 1), rows.abs()[:, 0])


def test_one_element_is_normalized() -> None:
    assert nn_functional.normalize(gs.tensor([[1e30], [-1e30]])).tolist() == [[1], [-1]]


def test_a_determinant_beside_nan_has_its_gradient() -> None:
    matrices = gs.tensor([[[NAN, 1], [2, 3]], [[1, 2], [2, 4]]], dtype=gs.float64)
    matrices.requires_grad_()
    gs.linalg.det(matrices).sum().backward()
    assert matrices.grad[0].isnan().all()
    np.testing.assert_allclose(matrices.grad[1].array, [[4, -2], [-2, 1]], rtol=1e-12)


def test_a_matrix_of_nan_has_no_factor() -> None:
    good, bad = [[1.0, 0], [0, 4]], [[1.0, 0], [NAN, 3]]
    with pytest.raises(gs.linalg.LinAlgError, match="order 2 is not positive-definite"):
        gs.linalg.cholesky(gs.tensor(bad))
    found = gs.linalg.cholesky_ex(gs.tensor([good, bad]))
    assert found.info.tolist() == [0, 2]
    assert found.L[0].tolist() == [[1, 0], [0, 2]]


def test_nan_is_eliminated_as_numbers_are() -> None:
    found, pivots = gs.linalg.lu_factor(gs.tensor([[[NAN, 1], [2, 3]], [[4.0, 2], [2, 3]]]))
    assert found[0].isnan().any()
    assert found[1].tolist() == [[4, 2], [0.5, 2]]
    assert pivots[1].tolist() == [1, 2]


def test_what_overflows_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gs.nan_to_num(gs.tensor([math.inf]), posinf=1e39).item() == math.inf
        assert gs.fft.fft(gs.tensor([3e38, 3e38])).real[0].item() == math.inf
        assert gs.fft.rfft(gs.tensor([math.inf, 1.0])).real[0].item() == math.inf
