"""Functions that read values, inside `vmap`, and strided views of what examples share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as F
from gradspec.func import grad, jacfwd, jacrev, vmap

X = [[1.0, 4.0, 2.0], [3.0, 0.0, 3.0]]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: gs.take_along_dim(x, x.argsort(), 0), [[1, 2, 4], [0, 3, 3]]),
        (lambda x: gs.take_along_dim(x, x.argmax(0, keepdim=True) - 3, -1), [[4], [3]]),
        (lambda x: gs.isin(x, gs.tensor([3.0, 4.0])), [[0, 1, 0], [1, 0, 1]]),
        (lambda x: gs.isin(gs.tensor([1.0]), test_elements=x), [[1], [0]]),
        (gs.isreal, [[1, 1, 1], [1, 1, 1]]),
        (lambda x: gs.isreal(gs.complex(x, x)), [[0, 0, 0], [0, 1, 0]]),
        (lambda x: gs.unravel_index(x.long(), (2, 2))[1], [[1, 0, 0], [1, 0, 1]]),
        (lambda x: gs.linalg.matrix_rank(gs.outer(x, x)), [1, 1]),
        (lambda x: gs.nonzero_static(x, size=2), [[[0], [1]], [[0], [2]]]),
        (lambda x: gs.histogram(x, 3).hist, [[1, 1, 1], [1, 0, 2]]),
        (lambda x: gs.histogramdd(x[:, None], [3]).hist, [[1, 1, 1], [1, 0, 2]]),
        (lambda x: gs.geqrf(x[:, None]).a[0, 0].abs(), [math.sqrt(21), math.sqrt(18)]),
        (lambda x: F.embedding_bag(x.long() // 3, gs.eye(2), gs.tensor([0])), None),
        (lambda x: gs.fake_quantize_per_tensor_affine(x, 2.0, 0, 0, 1), [[0, 2, 2], [2, 0, 2]]),
        (lambda x: x.view(gs.int64)[1:2] == 0, [[0], [1]]),
    ],
)
def test_each_example(function: Callable[[Any], Any], expected: Any) -> None:
    found = vmap(function)(gs.tensor(X, dtype=gs.float64)).numpy()
    if expected is None:
        expected = [[[2 / 3, 1 / 3]], [[1 / 3, 2 / 3]]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_levels_of_vmap() -> None:
    found = vmap(vmap(lambda x: gs.isin(x, gs.tensor([3.0]))))(gs.tensor(X))
    assert found.tolist() == [[False, False, False], [True, False, True]]


def test_a_dtype_that_one_example_cannot_be_viewed_as() -> None:
    with pytest.raises(RuntimeError, match=r"dim\(\) cannot be 0"):
        vmap(lambda x: x.view(gs.int16))(gs.tensor([1.0, 2.0]))


def test_ctc_losses_of_examples() -> None:
    # One frame and one label: the loss is minus its log-probability.
    rows = gs.tensor([[0.0, -1.0, -2.0], [-3.0, -4.0, 0.0]])

    def loss(row: Any) -> Any:
        return F.ctc_loss(row[None, None], gs.tensor([[1]]), (1,), (1,))

    assert vmap(loss)(rows).tolist() == [1, 4]
    assert vmap(grad(loss))(rows).tolist() == [[0, -1, 0], [0, -1, 0]]


def test_gradients_of_each_bag() -> None:
    def total(table: Any, row: Any) -> Any:
        return F.embedding_bag(row[None], table, mode="sum").sum()

    found = vmap(grad(total), (None, 0))(gs.zeros(2, 1), gs.tensor([[0, 0], [1, 0]]))
    assert found.tolist() == [[[2], [0]], [[1], [1]]]


def test_windows_of_each_example() -> None:
    x = gs.tensor([[[[1.0, 2.0], [3.0, 4.0]]], [[[8.0, 7.0], [6.0, 5.0]]]])
    assert vmap(F.fractional_max_pool2d, (0, None, None), randomness="different")(
        x, 2, 1
    ).flatten().tolist() == [4, 8]


def test_gradients_of_strided_views_of_what_all_examples_share() -> None:
    shared = gs.tensor([1.0, 2.0, 3.0])
    weights = gs.tensor([1.0, 0.0, 5.0])

    def scaled(weight: Any) -> Any:
        return grad(lambda x: (x.as_strided((2, 2), (1, 1)) * weight).sum())(shared)

    assert vmap(scaled)(weights).tolist() == [[1, 2, 1], [0, 0, 0], [5, 10, 5]]


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_of_strided_views(jacobian: Any) -> None:
    found = jacobian(lambda x: x.as_strided((2, 2), (1, 1)))(gs.tensor([1.0, 2.0, 3.0]))
    assert found.tolist() == [[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]]]
