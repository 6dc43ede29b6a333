"""Elements chosen, and added up, by arrays of positions in C: no function of Python's is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.nn import functional as F

from .test_layers import run_kernel

rng = np.random.default_rng(0)

SHAPE = (3, 4, 5)
ROWS = {dim: rng.integers(0, SHAPE[dim], 6) for dim in range(3)}
ELEMENTS = {dim: rng.integers(0, SHAPE[dim], [2 if d == dim else n for d, n in enumerate(SHAPE)])
            for dim in range(3)}  # fmt: skip


def numbers(shape: Any, dtype: str = "float64") -> Any:
    """Whole numbers, whose sums are the same in any order."""
    return rng.integers(-9, 9, shape).astype(dtype)


def like(dim: int, length: int) -> list[int]:
    return [length if each == dim else n for each, n in enumerate(SHAPE)]


CALLS: dict[str, Callable[[int, str], Any]] = {
    "index_select": lambda d, t: (numbers(SHAPE, t), d, ROWS[d]),
    "gather": lambda d, t: (numbers(SHAPE, t), d - 3, ELEMENTS[d]),
    "index_select_backward": lambda d, t: (numbers(like(d, 6), t), SHAPE, d, ROWS[d]),
    "gather_backward": lambda d, t: (numbers(like(d, 2), t), SHAPE, d, ELEMENTS[d]),
    "index_add": lambda d, t: (numbers(SHAPE, t), d, ROWS[d], numbers(like(d, 6), t), 1),
    "scatter_add": lambda d, t: (numbers(SHAPE, t), d, ELEMENTS[d], numbers(like(d, 2), t)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", range(3))
@pytest.mark.parametrize("name", CALLS)
def test_kernels_along_a_dimension(name: str, dim: int, dtype: str) -> None:
    found, expected = run_kernel(name, *CALLS[name](dim, dtype))
    for ours, wanted in zip(found, expected, strict=True):
        assert ours.dtype == wanted.dtype
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_embeddings(dtype: str) -> None:
    places = rng.integers(0, 7, (3, 2)).astype(dtype)
    for name, args in (
        ("embedding", (numbers((7, 4)), places, False)),
        ("embedding_dense_backward", (numbers((3, 2, 4)), places, 7, -1, False)),
    ):
        found, expected = run_kernel(name, *args)
        np.testing.assert_array_equal(found[0], expected[0])


INDEXED: list[Callable[[Any, Any], Any]] = [
    lambda x, rows: x[rows],
    lambda x, rows: x[:, rows],
    lambda x, rows: x[..., rows].relu(),
    lambda x, rows: x.transpose(0, 2)[rows],
    lambda x, rows: x[:, 1:3][rows - 1] * 2,
    lambda x, rows: x[rows, :, rows],
    lambda x, rows: x[rows[0]][:, :2, :1] + x[:, rows[1]][:2, :, :1],
]


@pytest.mark.parametrize("function", INDEXED)
def test_indices_and_their_gradients(function: Any) -> None:
    """Numbers that are negative count from the end; what does not lie in rows is as right."""
    run = gs.compile(function, backend="c")
    for rows in ([[0, -1], [2, 1]], [[1, 1], [-2, 0]]):
        x, y = (gs.arange(60.0, dtype=gs.float64).reshape(SHAPE).requires_grad_() for _ in range(2))
        index = gs.tensor(rows)
        expected, found = function(x, index), run(y, index)
        np.testing.assert_array_equal(found.numpy(force=True), expected.numpy(force=True))
        (wanted,) = gs.autograd.grad(expected.square().sum(), x)
        (grad,) = gs.autograd.grad(found.square().sum(), y)
        np.testing.assert_allclose(grad.numpy(), wanted.numpy(), 1e-14)


@pytest.mark.parametrize(
    ("function", "outside"),
    [
        (lambda x, rows: x[rows], [-4, 3]),
        (lambda x, rows: x.index_select(0, rows), [-1, 3]),
        (lambda x, rows: F.embedding(rows, x), [-1, 3]),
        (lambda x, rows: x.gather(0, rows[:, None].expand(1, 4)), [-1, 3]),
        (lambda x, rows: x.scatter_add(0, rows[:, None].expand(1, 4), x[:1]), [-1, 3]),
    ],
)
def test_a_number_that_is_no_position_is_refused(function: Any, outside: Any) -> None:
    x = gs.ones(3, 4)
    run = gs.compile(function, backend="c")
    run(x, gs.tensor([2]))
    for row in outside:
        with pytest.raises((IndexError, RuntimeError)) as expected:
            function(x, gs.tensor([row]))
        with pytest.raises(expected.type, match=r"out of (range|bounds)"):
            run(x, gs.tensor([row]))
