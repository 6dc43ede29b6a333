"""Writes in place, and views, in compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs

from .comparing import assert_gradients_same, assert_same


def through_views(x: gs.Tensor) -> Any:
    y = x.clone()
    y[0] += 1
    z = y.t()
    z[1].mul_(3)
    y.view(-1)[2] = 7.0
    return y


def into_zeros(x: gs.Tensor) -> Any:
    out = gs.zeros(4, *x.shape[1:])
    out[1] = x[0]
    out[2] += x[1] * 2
    first = out[0]
    first += x[2]
    return out


def at_indices(x: gs.Tensor) -> Any:
    out = gs.zeros(x.shape)
    order = x.argsort(0)
    out[order[:, 0]] = x
    out.index_add_(0, order[:, 1], x)
    return out


def where_a_mask_is(x: gs.Tensor) -> Any:
    y = x.clone()
    y.masked_fill_(x > 0, 2.0)
    y.masked_fill_(x < -1, 5.0)
    return y


def a_view_before_a_write(x: gs.Tensor) -> Any:
    y = x * 2
    row = y[1]
    before = row * 1
    y.mul_(10)
    return row + before


def on_the_diagonal(x: gs.Tensor) -> Any:
    y = x * 2
    y.diagonal().add_(x[0, :3])
    y.diagonal(1).cos_()
    return y


FUNCTIONS = [
    on_the_diagonal,
    through_views,
    into_zeros,
    at_indices,
    where_a_mask_is,
    a_view_before_a_write,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_writes(function: Callable[..., Any]) -> None:
    gs.manual_seed(0)
    compiled = gs.compile(function, backend="numpy")
    for _ in range(3):
        assert_same(compiled(x := gs.randn(3, 4)), function(x))
    for _ in range(3):
        assert_gradients_same(compiled, function, [gs.randn(3, 4, requires_grad=True)])


def test_an_argument_is_written() -> None:
    def function(x: gs.Tensor, y: gs.Tensor) -> Any:
        x.add_(y)
        y[0] = x[1]
        return x * y

    compiled = gs.compile(function, backend="numpy")
    for _ in range(2):
        ours, theirs = [[gs.arange(3.0), gs.ones(3)] for _ in range(2)]
        assert_same(compiled(*ours), function(*theirs))
        assert_same(ours, theirs)
        assert ours[0]._version == 1


def test_arguments_are_exchanged() -> None:
    def function(x: gs.Tensor, y: gs.Tensor) -> None:
        old = x.clone()
        x.copy_(y)
        y.copy_(old)

    x, y = gs.zeros(2), gs.ones(2)
    gs.compile(function, backend="numpy")(x, y)
    assert (x.tolist(), y.tolist()) == ([1.0, 1.0], [0.0, 0.0])


def test_a_write_after_the_call_is_noticed() -> None:
    x = gs.randn(4, requires_grad=True)
    result = gs.compile(lambda x: x.exp(), backend="numpy")(x)
    result.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()

    given = gs.randn(4)
    result = gs.compile(lambda x, y: x * y, backend="numpy")(x, given)
    given.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_arguments_that_overlap_are_refused_if_one_is_written() -> None:
    x = gs.zeros(4)

    def function(x: gs.Tensor, y: gs.Tensor) -> Any:
        x.add_(1)
        return y * 2

    with pytest.raises(gs.compiler.CaptureError, match="same memory"):
        gs.compile(function, backend="numpy")(x, x[:2])


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_copy_in_another_layout_is_written_to(backend: str) -> None:
    def function(x: gs.Tensor) -> Any:
        y, z = x.clone(), x.clone()
        y.floor_()
        z[1] += y[0]
        return y, z

    turned = gs.tensor([[-0.2, 1.6, -1.7], [0.7, 0.3, -0.6], [1.0, -0.8, -1.2]]).t()
    every_other = gs.arange(12.0).reshape(2, 6)[:, ::2]
    for x in (turned, every_other):
        assert_same(gs.compile(function, backend=backend)(x), function(x))


def test_a_write_whose_gradient_would_be_lost_is_refused() -> None:
    def function(target: gs.Tensor, x: gs.Tensor) -> Any:
        target.mul_(x)
        return x * 2

    with pytest.raises(
        gs.compiler.CaptureError, match=r"shape \[2\] .* written to by MulBackward0"
    ):
        gs.compile(function)(gs.ones(2), gs.ones(2, requires_grad=True))


def test_a_leaf_that_is_made_and_returned_is_refused() -> None:
    with pytest.raises(gs.compiler.CaptureError, match=r"requires_grad_\(\) on the result"):
        gs.compile(lambda: gs.ones(2, requires_grad=True))()


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_complex_argument_is_written(backend: str) -> None:
    def function(x: gs.Tensor) -> Any:
        x.mul_(2j)
        return x.real + 1

    compiled = gs.compile(function, backend=backend)
    ours, theirs = (gs.tensor([1 + 2j, 3 - 1j]) for _ in range(2))
    assert_same(compiled(ours), function(theirs))
    assert_same(ours, theirs)
    assert "x1" in gs.compiler.explain(compiled, ours).forward.source
