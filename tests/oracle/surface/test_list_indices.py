"""Lists as indices: those that hold lists, tensors or slices stand for a tuple, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

INDICES: dict[str, Any] = {
    "of two lists": lambda _: [[0, 1], [1, 0]],
    "of one list": lambda _: [[0, 1]],
    "of a nested list": lambda _: [[[0, 1]]],
    "of tuples": lambda _: [(0, 1), (2, 1)],
    "of a slice": lambda _: [slice(0, 2)],
    "of a number and a slice": lambda _: [0, slice(0, 2)],
    "of None": lambda _: [None, 0],
    "of an ellipsis": lambda _: [..., 0],
    "of tensors": lambda library: [library.tensor([0, 2]), library.tensor([1, 1])],
    "of tensors without dimensions": lambda library: [library.tensor(0), library.tensor(1)],
    "of arrays": lambda _: [np.array([0, 2]), np.array([1, 1])],
    "of numbers": lambda _: [0, 2],
    "of bools": lambda _: [True, False, True],
    "in a tuple": lambda _: ([[0, 1], [1, 0]],),
}
"""Indices of a tensor of three rows and three columns."""


def _matrix(library: Any) -> Any:
    return library.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_a_list_reads_what_it_reads_in_pytorch(torch: Any, index: Any) -> None:
    assert_same(lambda library: _matrix(library)[index(library)], torch)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_a_list_writes_where_it_writes_in_pytorch(torch: Any, index: Any) -> None:
    def write(library: Any) -> Any:
        matrix = _matrix(library)
        matrix[index(library)] = 100.0
        return matrix

    assert_same(write, torch)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_gradients_pass_as_in_pytorch(torch: Any, index: Any) -> None:
    def pass_back(library: Any) -> Any:
        leaf = _matrix(library).requires_grad_()
        (leaf[index(library)] ** 2).sum().backward()
        return leaf.grad

    assert_same(pass_back, torch)


def test_a_list_that_stands_for_a_tuple_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"x\[tuple\(index\)\]"):
        _ = gs.ones(3, 3)[[[0, 1], [1, 0]]]
