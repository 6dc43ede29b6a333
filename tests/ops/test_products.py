"""Products of batches of matrices, of which one may be the same for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs


@pytest.mark.parametrize("shape", [(2, 0, 2), (2, 2, 0), (2, 0, 0), (3, 0, 4)])
@pytest.mark.parametrize("columns", [0, 3])
def test_empty_batches_by_one_matrix_for_all(shape: tuple[int, ...], columns: int) -> None:
    """An expanded second factor has stride 0: it is multiplied once, by all rows."""
    left = gs.zeros(*shape, dtype=gs.float64, requires_grad=True)
    right = gs.ones(shape[2], columns, dtype=gs.float64, requires_grad=True)
    product = gs.bmm(left, right.expand(shape[0], shape[2], columns))
    assert product.shape == (shape[0], shape[1], columns)
    grads = gs.autograd.grad(
        product, [left, right], gs.ones(1, dtype=gs.float64).expand_as(product)
    )
    assert [grad.shape for grad in grads] == [left.shape, right.shape]
    assert np.array_equal(product.detach().numpy(), np.zeros(product.shape))
    assert np.array_equal(grads[1].numpy(), np.zeros(right.shape))


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("shared", ["left", "right", "both"])
def test_one_matrix_for_all(columns: int, is_transposed: bool, shared: str) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((4, 3, 2)), rng.standard_normal((4, 2, columns))
    if is_transposed:
        right = right.transpose(0, 2, 1).copy().transpose(0, 2, 1)
    a, b = gs.from_numpy(left), gs.from_numpy(right)
    if shared != "right":
        left, a = left[[0] * 4], a[0].expand(4, 3, 2)
    if shared != "left":
        right, b = right[[0] * 4], b[0].expand(4, 2, columns)
    expected = np.einsum("nij,njk->nik", left, right)
    np.testing.assert_allclose(gs.bmm(a, b).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(gs.vmap(gs.mm)(a, b).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("left", [(2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("right", [(3, 1), (3, 2)])
def test_matrices_that_do_not_fit_are_refused(left: Any, right: Any) -> None:
    """A column by several rows would be broadcast."""
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        gs.vmap(gs.mm)(gs.ones(4, *left), gs.ones(4, *right))
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions"):
        gs.bmm(gs.ones(4, *left), gs.ones(4, *right))
