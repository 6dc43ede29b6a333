"""Reads, writes and arrangements by place: values, nodes, dtypes and refusals are PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.oracle.behaviours import Behaviour, assert_same, leaf

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:index_reduce"),
    pytest.mark.filterwarnings("ignore:To copy construct"),
]


def _gradients(lib: Any, function: Callable[..., Any], *shapes: tuple[int, ...]) -> Any:
    """The outputs and the gradients of a function of tensors that count up from 1."""
    inputs = [
        lib.arange(1, 1 + math.prod(shape), dtype=lib.float64).reshape(shape).requires_grad_()
        for shape in shapes
    ]
    found = function(*inputs)
    outputs = list(found) if isinstance(found, tuple | list) else [found]
    sum((out * out).sum() for out in outputs).backward()
    return outputs, [x.grad for x in inputs]


def _written(lib: Any, write: Callable[[Any, Any], Any], *source: int) -> Any:
    """An in-place write into a result, and into a view of one."""

    def whole(x: Any, values: Any) -> Any:
        y = x * 1
        write(y, values)
        return y

    def row(x: Any, values: Any) -> Any:
        y = x * 1
        write(y[1], values)
        return y

    return _gradients(lib, whole, (3,), source), _gradients(lib, row, (2, 3), source)


def _with_numbers(lib: Any, call: Callable[[Any, Any, Any], Any]) -> list[Any]:
    """A scatter of numbers and lists of one, in every combination whose gradients PyTorch has."""
    return [
        _gradients(lib, lambda x, v, i=i: call(x, lib.tensor(i), v), shape, source)
        for shape, (i, source) in product([(3,), ()], [(0, ()), ([0], ()), ([0], (1,))])
    ]


CALLS: dict[str, Behaviour] = {
    "take": lambda t: _gradients(t, lambda x: x.take(t.tensor([[5, -6], [5, 0]])), (2, 3)),
    "take of nothing": lambda t: t.ones(2, 2).take(t.tensor([], dtype=t.int64)),
    "put": lambda t: _gradients(t, lambda x, v: x.put(t.tensor([[-1, 0]]), v), (2, 2), (2, 1)),
    "put of one place twice": lambda t: _gradients(
        t, lambda x, v: x.put(t.tensor([1, 1]), v, accumulate=True), (2, 2), (2,)
    ),
    "put_": lambda t: _written(t, lambda x, v: x.put_(t.tensor([-1]), v), 1),
    "masked_select": lambda t: _gradients(
        t, lambda x: x.masked_select(t.tensor([[True], [False], [True]])), (2,)
    ),
    "masked_select of a number": lambda t: t.masked_select(t.tensor(2.0), t.tensor(True)),
    "masked_scatter": lambda t: _gradients(
        t, lambda x, v: x.masked_scatter(t.tensor([[True, False], [True, True]]), v), (2,), (2, 2)
    ),
    "masked_scatter_": lambda t: _written(
        t, lambda x, v: x.masked_scatter_(t.tensor([True, False, True]), v), 3
    ),
    "scatter of numbers": lambda t: _with_numbers(t, lambda x, i, v: x.scatter(0, i, v)),
    "scatter_add of numbers": lambda t: _with_numbers(t, lambda x, i, v: x.scatter_add(0, i, v)),
    **{
        f"scatter_reduce of numbers, {how}": lambda t, how=how: _with_numbers(
            t, lambda x, i, v: x.scatter_reduce(0, i, v, how)
        )
        for how in ("sum", "prod", "mean", "amax", "amin")
    },
    "index_add": lambda t: _gradients(
        t, lambda x, v: x.index_add(1, t.tensor([2, 2]), v, alpha=-0.5), (2, 3), (2, 2)
    ),
    "index_add of int32 positions": lambda t: t.zeros(3).index_add(
        0, t.tensor([1], dtype=t.int32), t.ones(1)
    ),
    "index_add of half an integer": lambda t: t.tensor([1, 2]).index_add(
        0, t.tensor([0]), t.tensor([2]), alpha=0.5
    ),
    "index_add_": lambda t: _written(t, lambda x, v: x.index_add_(0, t.tensor([1, 1]), v), 2),
    "index_copy": lambda t: _gradients(
        t, lambda x, v: x.index_copy(-1, t.tensor([2, 0]), v), (2, 3), (2, 2)
    ),
    "index_copy of a number": lambda t: _gradients(
        t, lambda x, v: x.index_copy(0, t.tensor([1]), v), (3,), ()
    ),
    "index_copy_": lambda t: _written(t, lambda x, v: x.index_copy_(0, t.tensor([2, 0]), v), 2),
    "index_fill": lambda t: _gradients(t, lambda x: x.index_fill(1, t.tensor([-1, -1]), 7), (2, 3)),
    "index_fill of a tensor": lambda t: _gradients(
        t, lambda x, v: x.index_fill(1, t.tensor([1, 1]), v), (2, 3), ()
    ),
    "index_fill of integers": lambda t: t.tensor([1, 2]).index_fill(0, t.tensor([0]), 1.5),
    "index_fill_": lambda t: _written(t, lambda x, v: x.index_fill_(0, t.tensor([0]), v[0]), 1),
    "scatter_reduce_": lambda t: _written(
        t, lambda x, v: x.scatter_reduce_(0, t.tensor([1, 1]), v, "prod"), 2
    ),
    "index_reduce_": lambda t: _written(
        t, lambda x, v: x.index_reduce_(0, t.tensor([1, 1]), v, "mean", include_self=False), 2
    ),
    "mean of integers": lambda t: t.tensor([1, 2]).scatter_reduce(
        0, t.tensor([0, 0]), t.tensor([-3, -6]), "mean"
    ),
    "prod of bools": lambda t: t.tensor([True, True]).scatter_reduce(
        0, t.tensor([0, 0]), t.tensor([True, False]), "prod"
    ),
    "amin of bytes": lambda t: t.tensor([0, 1], dtype=t.uint8).index_reduce(
        0, t.tensor([0]), t.tensor([255], dtype=t.uint8), "amin", include_self=False
    ),
    "select_scatter of float32": lambda t: _gradients(
        t, lambda x, v: x.select_scatter(v.float(), 0, -1), (2, 2), (2,)
    ),
    "slice_scatter of float32": lambda t: _gradients(
        t, lambda x, v: x.slice_scatter(v.float(), 1, 0, 9, 2), (2, 3), (2, 2)
    ),
    "diagonal_scatter of float32": lambda t: _gradients(
        t, lambda x, v: x.diagonal_scatter(v.float(), 1), (2, 3), (2,)
    ),
    "narrow_copy": lambda t: _gradients(t, lambda x: x.narrow_copy(0, -2, 1), (3,)),
    "unfold": lambda t: _gradients(t, lambda x: x.unfold(0, 3, 1), (5, 2)),
    "unfold into empty windows": lambda t: _gradients(t, lambda x: x.unfold(0, 0, 2), (5,)),
    "unfold of a number": lambda t: _gradients(t, lambda x: x.unfold(0, 1, 1), ()),
    "a write into windows": lambda t: _gradients(
        t, lambda x: (x * 1).unfold(0, 2, 3).mul_(2)._base, (5,)
    ),
    "rot90": lambda t: [
        _gradients(t, lambda x, k=k: t.rot90(x, k, (0, -1)), (2, 1, 3)) for k in range(-4, 5)
    ],
    "strides of rot90": lambda t: [[*_steps(t.rot90(t.ones(2, 3, 4), k))] for k in range(4)],
    "block_diag": lambda t: _gradients(
        t, lambda a, b, c, d: t.block_diag(a, b, c.float(), d), (), (2,), (2, 1), (0,)
    ),
    "block_diag of nothing": lambda t: t.block_diag(),
    "block_diag of two dtypes": lambda t: t.block_diag(t.tensor([1]), t.tensor(True)),
    "repeat_interleave": lambda t: _gradients(t, lambda x: x.repeat_interleave(2, -1), (2, 2)),
    "repeat_interleave of all": lambda t: _gradients(
        t, lambda x: x.repeat_interleave(3, output_size=12), (2, 2)
    ),
    "repeat_interleave by a tensor": lambda t: _gradients(
        t, lambda x: x.repeat_interleave(t.tensor([0, 2]), 1), (2, 2)
    ),
    "repeat_interleave by one number in a tensor": lambda t: _gradients(
        t, lambda x: x.repeat_interleave(t.tensor(2), 0, output_size=4), (2,)
    ),
    "repeat_interleave of positions": lambda t: t.repeat_interleave(
        t.tensor([2, 0, 1], dtype=t.int32)
    ),
    "repeat_interleave of a number": lambda t: _gradients(t, lambda x: x.repeat_interleave(2), ()),
    "take_along_dim": lambda t: _gradients(
        t, lambda x: t.take_along_dim(x, t.tensor([[-1], [0]]), 1), (1, 3)
    ),
    "take_along_dim of all": lambda t: _gradients(
        t, lambda x: x.take_along_dim(t.tensor([[0, 3]])), (2, 2)
    ),
    "sum_to_size": lambda t: [
        _gradients(t, lambda x: x.sum_to_size(1, 2), (2, 2)),
        _gradients(t, lambda x: x.sum_to_size((2,)), (2, 2)),
        _gradients(t, lambda x: x.sum_to_size(2, 2), (2, 2)),
        _gradients(t, lambda x: x.sum_to_size(()), (2, 2)),
    ],
    "type_as": lambda t: [
        leaf(t, 1.5).type_as(t.ones(1)),
        leaf(t, 1.5).type_as(t.tensor([1])),
        leaf(t, 1.5).type_as(leaf(t, 2.0)),
    ],
    "broadcast_tensors": lambda t: _gradients(t, t.broadcast_tensors, (2, 1), (3,)),
    "broadcast_tensors of one shape": lambda t: t.broadcast_tensors(leaf(t, 1.0), leaf(t, 2.0)),
    "broadcast_shapes": lambda t: [
        list(t.broadcast_shapes(*shapes))
        for shapes in ((), ((2, 1), (3,)), (2, (3, 1)), ((0,), (1,)))
    ],
    "meshgrid": lambda t: [
        _gradients(t, lambda *x, i=i: t.meshgrid(*x, indexing=i), (2,), (), (3,))
        for i in ("ij", "xy")
    ],
    "meshgrid of a list": lambda t: t.meshgrid([t.ones(2), t.ones(3)], indexing="xy"),
    "strides of meshgrid": lambda t: [
        [*_steps(grid)] for grid in t.meshgrid(t.ones(2), t.ones(3), indexing="xy")
    ],
    "cartesian_prod": lambda t: _gradients(t, t.cartesian_prod, (2,), (1,), (2,)),
    "cartesian_prod of one": lambda t: t.cartesian_prod(leaf(t, 1.0, 2.0)),
    "combinations": lambda t: [
        _gradients(t, lambda x, r=r, w=w: t.combinations(x, r, w), (4,))
        for r, w in product((1, 2, 3), (False, True))
    ],
    "no combinations": lambda t: [t.combinations(t.ones(3), r) for r in (0, 4)],
    "hsplit": lambda t: [t.hsplit(leaf(t, 1.0, 2.0), 2), t.hsplit(t.ones(1, 4), [1, 3])],
    "vsplit": lambda t: _gradients(t, lambda x: x.vsplit((1,)), (3, 1)),
    "dsplit": lambda t: _gradients(t, lambda x: x.dsplit(2), (1, 2, 4)),
    "argwhere": lambda t: [
        t.argwhere(x) for x in (leaf(t, 0.0, 2.0), t.tensor(True), t.tensor([[0, 3]]))
    ],
    "triangles": lambda t: [
        [t.tril_indices(3, 4, offset), t.triu_indices(3, 4, offset, dtype=t.int32)]
        for offset in (-4, -1, 0, 2, 5)
    ],
    "new tensors": lambda t: [
        t.tensor([1]).new_zeros(2, 3),
        leaf(t, 1.0).new_ones((2,), dtype=t.float32, requires_grad=True),
        t.tensor([1]).new_full((2,), 3.7),
        t.tensor([True]).new_tensor([0.0, 2.0]),
        t.tensor([1.0]).new_tensor([1, 2], device="cpu"),
        list(t.tensor([1]).new_empty(size=(2, 0)).shape),
    ],
}


def _steps(tensor: Any) -> tuple[int, ...]:
    """The strides in elements."""
    if hasattr(tensor, "array"):
        return tuple(stride // tensor.array.itemsize for stride in tensor.array.strides)
    return tensor.stride()  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


TIES = {
    "all": ([2.0, 5.0], [2.0, 2.0]),
    "two that came": ([1.0, 5.0], [3.0, 3.0]),
    "none": ([2.0, 5.0], [1.0, 3.0]),
    "a zero that was there": ([0.0, 5.0], [2.0, 3.0]),
    "a zero that came": ([2.0, 5.0], [0.0, 3.0]),
    "a zero that was there and one that came": ([0.0, 5.0], [0.0, 3.0]),
    "two zeros that came": ([2.0, 5.0], [0.0, 0.0]),
}


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("text", TIES)
def test_ties_and_zeros(text: str, reduce: str) -> None:
    import torch

    def behaviour(lib: Any) -> Any:
        there, came = (leaf(lib, *values) for values in TIES[text])
        index = lib.tensor([0, 0])
        result = there.scatter_reduce(0, index, came, reduce)
        return result, lib.autograd.grad((result * result).sum(), (there, came))

    assert_same(behaviour, torch)


def _bools(t: Any, *shape: int) -> Any:
    return t.ones(*shape) > 0


REFUSED: dict[str, Behaviour] = {
    "take out of range": lambda t: t.ones(2).take(t.tensor([2])),
    "take of nothing": lambda t: t.ones(0).take(t.tensor([0])),
    "take by int32": lambda t: t.ones(2).take(t.tensor([0], dtype=t.int32)),
    "put of too few": lambda t: t.ones(2).put(t.tensor([0, 1]), t.ones(1)),
    "put of float64": lambda t: t.ones(2).put(t.tensor([0]), t.ones(1).double()),
    "masked_select by floats": lambda t: t.ones(2).masked_select(t.ones(2)),
    "masked_select of wrong sizes": lambda t: t.ones(2).masked_select(_bools(t, 3)),
    "masked_scatter of too few": lambda t: t.ones(2).masked_scatter(_bools(t, 2), t.ones(1)),
    "masked_scatter_ of another shape": lambda t: t.ones(1).masked_scatter_(
        _bools(t, 2), t.ones(2)
    ),
    "index_add of a negative": lambda t: t.ones(2).index_add(0, t.tensor([-1]), t.ones(1)),
    "index_add of too many": lambda t: t.ones(2).index_add(0, t.tensor([0]), t.ones(2)),
    "index_add of a number": lambda t: t.ones(2).index_add(0, t.tensor([0]), t.tensor(1.0)),
    "index_add by a matrix": lambda t: t.ones(2).index_add(0, t.tensor([[0]]), t.ones(1)),
    "index_add of float64": lambda t: t.ones(2).index_add(0, t.tensor([0]), t.ones(1).double()),
    "index_copy out of range": lambda t: t.ones(2).index_copy(0, t.tensor([2]), t.ones(1)),
    "index_copy of too many": lambda t: t.ones(2).index_copy(0, t.tensor([0]), t.ones(2)),
    "index_copy of other slices": lambda t: t.ones(2, 2).index_copy(0, t.tensor([0]), t.ones(1, 3)),
    "index_copy by int32": lambda t: t.ones(2).index_copy(
        0, t.tensor([0], dtype=t.int32), t.ones(1)
    ),
    "index_fill out of range": lambda t: t.ones(2).index_fill(0, t.tensor([2]), 1),
    "index_fill by floats": lambda t: t.ones(2).index_fill(0, t.ones(1), 1),
    "index_fill by a matrix": lambda t: t.ones(2).index_fill(0, t.tensor([[0]]), 1),
    "index_fill of a vector": lambda t: t.ones(2).index_fill(0, t.tensor([0]), t.ones(1)),
    "index_fill of a complex number": lambda t: t.ones(2).index_fill(0, t.tensor([0]), 1j),
    "an unknown reduction": lambda t: t.ones(2).scatter_reduce(
        0, t.tensor([0]), t.ones(1), "median"
    ),
    "amax of complex": lambda t: t.tensor([1j]).scatter_reduce(
        0, t.tensor([0]), t.tensor([1j]), "amax"
    ),
    "mean of bools": lambda t: _bools(t, 1).scatter_reduce(0, t.tensor([0]), _bools(t, 1), "mean"),
    "index_reduce by a sum": lambda t: t.ones(2).index_reduce(0, t.tensor([0]), t.ones(1), "sum"),
    "index_reduce of complex": lambda t: t.tensor([1j]).index_reduce(
        0, t.tensor([0]), t.tensor([1j]), "prod"
    ),
    "select_scatter of another shape": lambda t: t.ones(2, 2).select_scatter(t.ones(1), 0, 0),
    "slice_scatter of a number": lambda t: t.tensor(1.0).slice_scatter(t.tensor(1.0)),
    "diagonal_scatter of a vector": lambda t: t.ones(2).diagonal_scatter(t.ones(2)),
    "narrow_copy of too much": lambda t: t.ones(3).narrow_copy(0, 1, 3),
    "unfold of a large window": lambda t: t.ones(3).unfold(0, 4, 1),
    "unfold without a step": lambda t: t.ones(3).unfold(0, 1, 0),
    "rot90 of a vector": lambda t: t.rot90(t.ones(2)),
    "rot90 of one dim": lambda t: t.rot90(t.ones(2, 2), 1, [0]),
    "rot90 of a dim twice": lambda t: t.rot90(t.ones(2, 2), 1, [0, -2]),
    "block_diag of three dimensions": lambda t: t.block_diag(t.ones(1, 1, 1)),
    "negative repeats": lambda t: t.ones(2).repeat_interleave(-1),
    "repeats of another size": lambda t: t.ones(2).repeat_interleave(t.tensor([1, 2, 3]), 0),
    "repeats that are floats": lambda t: t.ones(2).repeat_interleave(t.ones(2)),
    "a wrong output_size": lambda t: t.ones(2).repeat_interleave(2, output_size=3),
    "repeats of a number": lambda t: t.tensor(1.0).repeat_interleave(2, 0),
    "take_along_dim of other dimensions": lambda t: t.take_along_dim(
        t.ones(2, 2), t.tensor([0]), 0
    ),
    "take_along_dim of all from the end": lambda t: t.take_along_dim(t.ones(2), t.tensor([-1])),
    "take_along_dim by floats": lambda t: t.take_along_dim(t.ones(2), t.ones(1), 0),
    "sum_to_size of another size": lambda t: t.ones(2, 2).sum_to_size(3),
    "sum_to_size of nothing": lambda t: t.ones(2).sum_to_size(),
    "broadcast_tensors of wrong sizes": lambda t: t.broadcast_tensors(t.ones(2), t.ones(3)),
    "broadcast_shapes of a negative": lambda t: t.broadcast_shapes((-1,)),
    "meshgrid of a matrix": lambda t: t.meshgrid(t.ones(2, 2), indexing="ij"),
    "meshgrid of nothing": lambda t: t.meshgrid(indexing="ij"),
    "meshgrid of two dtypes": lambda t: t.meshgrid(t.ones(2), t.tensor([1]), indexing="ij"),
    "meshgrid in another order": lambda t: t.meshgrid(t.ones(2), indexing="ji"),
    "cartesian_prod of a matrix": lambda t: t.cartesian_prod(t.ones(2, 2)),
    "combinations of a matrix": lambda t: t.combinations(t.ones(2, 2)),
    "combinations of a negative": lambda t: t.combinations(t.ones(2), -1),
    "hsplit of a number": lambda t: t.hsplit(t.tensor(1.0), 1),
    "hsplit that does not divide": lambda t: t.hsplit(t.ones(3), 2),
    "vsplit of a vector": lambda t: t.vsplit(t.ones(2), 2),
    "triangles of floats": lambda t: t.tril_indices(2, 2, dtype=t.float32),
    "triangles of a negative": lambda t: t.triu_indices(-1, 2),
    "new_full of an int": lambda t: t.ones(1).new_full(2, 3),
    "new_zeros of a negative": lambda t: t.ones(1).new_zeros(-1),
    "new_tensor of a complex number": lambda t: t.ones(1).new_tensor(1j),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    import torch

    with pytest.raises(Exception, match=r"."):
        REFUSED[text](torch)
    assert_same(REFUSED[text], torch)
