"""Gradients by place that are right where PyTorch's are not, or where it has none."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec.core.tensor import Tensor


def _leaf(*values: float) -> Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


def test_the_copy_of_a_part_that_is_counted_from_the_end() -> None:
    x = _leaf(1, 2, 3)
    x.narrow_copy(0, -1, 1).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 1]


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_who_does_not_take_part_has_no_share(name: str, reduce: str) -> None:
    there, came = _leaf(3, 5), _leaf(3, 3)
    index = gs.tensor([0, 0])
    getattr(there, name)(0, index, came, reduce, include_self=False).sum().backward()
    assert there.grad is not None
    assert came.grad is not None
    assert there.grad.tolist() == [0, 1]
    assert came.grad.tolist() == [0.5, 0.5]


def test_second_derivatives_of_a_product_with_two_zeros() -> None:
    """`w * x * y * z` at `x = y = 0` has one that is not zero, by `x` and `y`: `w * z`."""
    there, came = _leaf(2), _leaf(0, 0, 5)
    result = there.scatter_reduce(0, gs.tensor([0, 0, 0]), came, "prod")
    (first,) = gs.autograd.grad(result, came, create_graph=True)
    assert first.tolist() == [0, 0, 0]
    (second,) = gs.autograd.grad(first[0], came)
    assert second.tolist() == [0, 10, 0]


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax"])
def test_a_source_larger_than_its_index(reduce: str) -> None:
    """Elements without a position in the index are not read."""
    there, came = _leaf(0, 1, 2), _leaf(7, 8, 9)
    index = gs.tensor([0, 2])
    result = there.scatter_reduce(0, index, came, reduce, include_self=False)
    result.sum().backward()
    assert result.tolist() == [7, 1, 8]
    assert came.grad is not None
    assert came.grad.tolist() == [1, 1, 0]


def test_what_scatter_and_scatter_add_do_not_read() -> None:
    for name in ("scatter", "scatter_add"):
        there, came = gs.zeros(2, 2, dtype=gs.float64), gs.ones(2, 3, dtype=gs.float64)
        came.requires_grad_()
        getattr(there, name)(1, gs.tensor([[1, 0]]), came).sum().backward()
        assert came.grad is not None
        assert came.grad.tolist() == [[1, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
def test_a_number_counts_as_a_list_of_one(name: str) -> None:
    """An index of one place takes a number, and one that is a number the first of a list."""
    there, came = gs.zeros(3, dtype=gs.float64), gs.tensor(5.0, dtype=gs.float64)
    came.requires_grad_()
    result = getattr(there, name)(0, gs.tensor([1]), came)
    (result * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert result.tolist() == [0, 5, 0]
    assert came.grad is not None
    assert came.grad.item() == 2

    row = _leaf(7, 8)
    result = getattr(there, name)(0, gs.tensor(2), row)
    (result * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert result.tolist() == [0, 0, 7]
    assert row.grad is not None
    assert row.grad.tolist() == [3, 0]
