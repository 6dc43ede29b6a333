"""Gradients of indexing: each element is added where it was taken from, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as F
from gradspec.dispatch.registry import ops

SHAPE = (5, 4, 6)
LISTS = {"repeated": [2, 0, 2, 3], "matrix": [[1, 1, 0], [3, -1, 1]], "empty": []}


@pytest.mark.parametrize("positions", LISTS)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_list_of_positions_along_one_dimension(dim: int, positions: str) -> None:
    index = np.array(LISTS[positions], np.int64)
    key = (slice(None),) * dim + (index,)
    wanted = np.zeros(SHAPE)
    weights = np.random.default_rng(dim).standard_normal(wanted[key].shape)
    np.add.at(wanted, key, weights)
    x = gs.zeros(SHAPE, dtype=gs.float64, requires_grad=True)
    picked = x[(slice(None),) * dim + (gs.tensor(index),)]
    (grad,) = gs.autograd.grad(picked, x, gs.tensor(weights))
    np.testing.assert_allclose(grad.numpy(), wanted, rtol=1e-15)
    if index.ndim == 1:
        selected = gs.index_select(x, dim, gs.tensor(index))
        (grad,) = gs.autograd.grad(selected, x, gs.tensor(weights))
        np.testing.assert_allclose(grad.numpy(), wanted, rtol=1e-15)


@pytest.mark.parametrize("row", [3, -4])
@pytest.mark.parametrize("width", [1, 64, 600])
def test_a_row_that_is_not_there_is_refused(width: int, row: int) -> None:
    grad, indices = gs.ones(2, width), gs.tensor([0, row])
    with pytest.raises(IndexError, match=r"out of (range|bounds)"):
        ops.embedding_dense_backward(grad, indices, 3, -1, False)


MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("widths", [(2, 1, 0, 3), (0, 0, 1, 1), (2, 2, 3, 3)])
@pytest.mark.parametrize("mode", MODES)
def test_what_was_padded_on_is_added_where_it_came_from(
    mode: str, widths: tuple[int, int, int, int]
) -> None:
    left, right, top, bottom = widths
    sources = np.arange(20).reshape(4, 5)
    padded = np.pad(sources, ((top, bottom), (left, right)), MODES[mode])
    weights = np.random.default_rng(0).standard_normal((2, 3, *padded.shape))
    weights[0, 1, 0, 0] = np.inf  # which must not reach other elements
    wanted = np.zeros((2, 3, 20))
    np.add.at(wanted, (slice(None), slice(None), padded.reshape(-1)), weights.reshape(2, 3, -1))
    x = gs.zeros(2, 3, 4, 5, dtype=gs.float64, requires_grad=True)
    F.pad(x, widths, mode=mode).backward(gs.tensor(weights))
    np.testing.assert_allclose(x.grad.numpy(), wanted.reshape(2, 3, 4, 5), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_a_large_triangle_is_solved_part_by_part(
    batch: tuple[int, ...], left: bool, upper: bool
) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((*batch, 150, 150)) + 150 * np.eye(150)
    right = rng.standard_normal((150, 3) if left else (3, 150))
    found = gs.linalg.solve_triangular(
        gs.tensor(matrix), gs.tensor(right), upper=upper, left=left
    ).numpy()
    half = np.triu(matrix) if upper else np.tril(matrix)
    product = half @ found if left else found @ half
    np.testing.assert_allclose(product, np.broadcast_to(right, product.shape), rtol=1e-12)


@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"])
def test_what_is_shuffled_has_memory_of_its_own(name: str) -> None:
    """In PyTorch the result is no view, also where no element has to move."""
    x = gs.ones(1, 4, 1, 1)
    moved = getattr(gs.nn.functional, name)(x, 1 if name == "pixel_unshuffle" else 2)
    moved.mul_(3)
    assert x.flatten().tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("size", "pad"), [(0, [-1, 1]), (1, [-2, 3]), (3, [-2, -2])])
def test_no_more_is_cut_off_than_there_is(size: int, pad: list[int]) -> None:
    with pytest.raises(RuntimeError, match="length must be non-negative"):
        gs.nn.functional.pad(gs.zeros(size), pad)
