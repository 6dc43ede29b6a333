"""Errors and results of views and indices that PyTorch's own tests look at."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same

pytestmark = pytest.mark.oracle


def delete(library: Any) -> None:
    del library.ones(2)[0]


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "flatten": (lambda lib: lib.ones(2, 3).flatten(5, 10), IndexError, "Dimension out of range"),
    "transposed 3D": (lambda lib: lib.ones(2).mH, RuntimeError, "only supported on matrices"),
    "ambiguous -1": (lambda lib: lib.empty(0).view(-1, 0), RuntimeError, "can be any value"),
    "ambiguous -1 inside": (
        lambda lib: lib.empty(0).view(3, 0, -1, 0),
        RuntimeError,
        "can be any value",
    ),
    "split of a number": (
        lambda lib: lib.tensor(1.0).tensor_split(2),
        RuntimeError,
        "but got a tensor with 0 dims",
    ),
    "split at floats": (
        lambda lib: lib.ones(4).tensor_split(lib.tensor(1.5)),
        RuntimeError,
        "to have dtype of long, but got Float",
    ),
    "split at a matrix": (
        lambda lib: lib.ones(4).tensor_split(lib.tensor([[1]])),
        RuntimeError,
        "but got a tensor with 2 dims",
    ),
    "complex of a number": (
        lambda lib: lib.view_as_complex(lib.tensor(1.0)),
        RuntimeError,
        "Input tensor must have one or more dimensions",
    ),
    "moved from one place": (
        lambda lib: lib.movedim(lib.ones(2, 3), (0, 0), (0, 1)),
        RuntimeError,
        "movedim: repeated dim in `source`",
    ),
    "moved to one place": (
        lambda lib: lib.movedim(lib.ones(2, 3), (0, 1), (1, 1)),
        RuntimeError,
        "movedim: repeated dim in `destination`",
    ),
    "windows below zero": (
        lambda lib: lib.ones(3).unfold(0, -1, 1),
        RuntimeError,
        "size is -1 but must be >= 0",
    ),
    "out of another dtype": (
        lambda lib: lib.nonzero(lib.ones(3), out=lib.empty(0)),
        RuntimeError,
        "scalar type Long",
    ),
    "deleted": (delete, TypeError, "deleting items"),
    "unflattened beyond the last": (
        lambda lib: lib.ones(2, 3).unflatten(2, (1, 2)),
        IndexError,
        "Dimension out of range",
    ),
    "unflattened before the first": (
        lambda lib: lib.ones(2, 3).unflatten(-3, (1, 2)),
        IndexError,
        "Dimension out of range",
    ),
    "unflattened to nothing": (
        lambda lib: lib.ones(2, 1).unflatten(1, ()),
        RuntimeError,
        "sizes must be non-empty",
    ),
    "diagonal of a number": (
        lambda lib: lib.diag(lib.tensor(1.0)),
        RuntimeError,
        "diag(): Supports 1D or 2D tensors",
    ),
    "diagonal of a cube": (
        lambda lib: lib.ones(2, 2, 2).diag(),
        RuntimeError,
        "diag(): Supports 1D or 2D tensors",
    ),
    "turned bits of floats": (
        lambda lib: ~lib.ones(2),
        TypeError,
        "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
    ),
    "stride of a dimension": (
        lambda lib: lib.ones(2, 3).stride(2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    "outside of the second dimension": (
        lambda lib: lib.ones(2, 5, 3)[0, 5],
        IndexError,
        "index 5 is out of bounds for dimension 1 with size 5",
    ),
    "outside of nothing": (
        lambda lib: lib.empty(3, 0)[:, [0, 1]],
        IndexError,
        "for dimension with size 0",
    ),
    "filled by a complex number": (
        lambda lib: lib.ones(2).index_fill_(0, lib.tensor([0]), 1j),
        RuntimeError,
        "Converting complex Scalar",
    ),
    "indices of a tensor as shape": (
        lambda lib: lib.unravel_index(lib.tensor([1]), lib.tensor([1, 2])),
        TypeError,
        "expected 'shape' to be int or sequence",
    ),
    "int8 as index": (
        lambda lib: lib.ones(3)[lib.tensor([1, 0], dtype=lib.int8)],
        IndexError,
        "tensors used as indices must be long, int, byte or bool tensors",
    ),
    "int16 as index of a write": (
        lambda lib: lib.ones(2, 3).__setitem__((0, lib.tensor([1], dtype=lib.int16)), 1.0),
        IndexError,
        "tensors used as indices must be long, int, byte or bool tensors",
    ),
    "nuclear norm of one dimension": (
        lambda lib: lib.norm(lib.ones(2, 3), "nuc", 0),
        RuntimeError,
        "linalg.matrix_norm: dim must be a 2-tuple. Got 0",
    ),
    "shape of a float": (
        lambda lib: lib.broadcast_shapes(1.5),
        RuntimeError,
        "Input shapes should be of type ints, a tuple of ints, or a list of ints, got 1.5",
    ),
    "stacked number": (
        lambda lib: lib.vstack([lib.ones(2), 1.0]),
        TypeError,
        "expected Tensor as element 1 in argument 0, but got float",
    ),
    "stacked array": (
        lambda lib: lib.column_stack([np.ones(2)]),
        TypeError,
        "expected Tensor as element 0 in argument 0, but got",
    ),
    "split into parts of a number": (
        lambda lib: lib.ones(4).tensor_split(1.5),
        TypeError,
        "tensor_split()",
    ),
    "complex number for nan": (
        lambda lib: lib.nan_to_num(lib.tensor([1]), nan=1j),
        TypeError,
        "nan_to_num(): argument 'nan' must be float, not complex",
    ),
    "indices of a float as length": (
        lambda lib: lib.unravel_index(lib.tensor([1]), (1, 2.0)),
        TypeError,
        "expected 'shape' sequence to only contain ints",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(torch: Any, name: str) -> None:
    call, kind, words = ERRORS[name]

    def behaviour(library: Any) -> Any:
        with pytest.raises(kind, match=re.escape(words)):
            call(library)
        return True

    assert_same(behaviour, torch)
    assert behaviour(torch)


def test_results(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        x = library.arange(6.0).view(2, 3)
        rows = library.empty(0, dtype=library.int64)
        library.nonzero(x > 2, out=rows)
        diagonal, first, second = library.empty(2), library.empty(3), library.empty(3)
        library.diagonal_copy(x, out=diagonal)
        library.split_copy(x.view(-1), 3, out=(first, second))
        return [
            rows,
            diagonal,
            [first, second],
            library.swapaxes(x, axis0=0, axis1=1),
            library.swapdims(x, dim0=0, dim1=1),
            x.swapaxes(-1, 0),
            [~(x > 2), ~x.long()],
            [x.view(2, 1, 3, 1).squeeze(1, 3), x.view(1, 2, 3, 1).squeeze_(0, -1)],
            [x.squeeze(0), x.count_nonzero(0, 1), x.count_nonzero(), x.count_nonzero(-1)],
            [x.sparse_dim(), x.dense_dim()],
        ]

    assert_same(behaviour, torch)


def test_strides_of_dimensions_that_were_added(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        x = library.arange(24.0).view(2, 3, 4)
        views = [
            *(x[None], x[0, None, None], x[..., None], x.unsqueeze(1), x.unsqueeze(-1)),
            *(x.transpose(0, 2).unsqueeze(0), x.expand(1, 1, 2, 3, 4), x[:, :1].unsqueeze(1)),
            *(library.atleast_3d(x[0, 0]), library.atleast_2d(x[0, 0, 0]), x[:0].unsqueeze(0)),
            *library.meshgrid(x[0, 0, 0], x[0, 0, :1], indexing="ij"),
        ]
        return [(view, view.stride()) for view in views]

    assert_same(behaviour, torch)


def test_masks_of_bytes_warn(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        mask = library.tensor([1, 0, 1], dtype=library.uint8)
        with pytest.warns(UserWarning, match="uint8"):
            return library.zeros(3).index_put_((mask,), library.tensor([1.0, 2.0]))

    assert_same(behaviour, torch)


@pytest.mark.parametrize("reduce", ["add", "multiply", "sum"])
@pytest.mark.parametrize("source", ["tensor", "number"])
@pytest.mark.parametrize("name", ["scatter", "scatter_"])
def test_scatter_that_reduces(torch: Any, reduce: str, source: str, name: str) -> None:
    def behaviour(library: Any) -> Any:
        x = library.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]])
        index = library.tensor([[0, 0], [2, 1]])
        given = 5.0 if source == "number" else library.tensor([[1.5, 2.0], [3.0, 4.0]])
        return [getattr(x, name)(1, index, given, reduce=reduce), x]

    assert_same(behaviour, torch)


def test_gradients_of_scatter_that_reduces() -> None:
    """They are those of the sums and products; PyTorch refuses to compute them."""
    x = gs.tensor([2.0, 3.0], dtype=gs.float64, requires_grad=True)
    y = gs.tensor([4.0, 5.0], dtype=gs.float64, requires_grad=True)
    index = gs.tensor([0, 0])
    x.scatter(0, index, y, reduce="multiply").sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [20.0, 1.0]
    assert y.grad.tolist() == [10.0, 8.0]


def test_indices_of_a_shape_lie_side_by_side(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        rows, columns = library.unravel_index(library.tensor([5, 3]), (2, 3))
        return [rows, columns, rows.stride(), columns.stride(), columns.storage_offset()]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_a_single_number_of_any_dtype_is_an_index(torch: Any, dtype: str) -> None:
    def behaviour(library: Any) -> Any:
        x, at = library.arange(6.0).view(2, 3), library.tensor(1, dtype=getattr(library, dtype))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return [x[at], x[0, at], len(caught)]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("order", [2.0, 1.0])
def test_orders_of_norms_that_are_tensors(torch: Any, order: float) -> None:
    def behaviour(library: Any) -> Any:
        x, p = library.arange(6.0).view(2, 3), library.tensor(order)
        return [library.linalg.norm(x, p), library.linalg.matrix_norm(x, p)]

    assert_same(behaviour, torch)
