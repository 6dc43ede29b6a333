"""Products of batches that have no elements, by one matrix for all."""

from __future__ import annotations

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
