"""Copies in other orders in memory, and the order of dimensions."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

ROWS, LAST = (60, 20, 5, 1), (60, 1, 15, 3)


def images(memory_format: Any) -> gs.Tensor:
    return gs.arange(120.0).reshape(2, 3, 4, 5).contiguous(memory_format=memory_format)


@pytest.mark.parametrize(
    ("of", "wanted", "strides"),
    [
        (gs.contiguous_format, None, ROWS),
        (gs.contiguous_format, gs.preserve_format, ROWS),
        (gs.contiguous_format, gs.contiguous_format, ROWS),
        (gs.contiguous_format, gs.channels_last, LAST),
        (gs.channels_last, None, LAST),
        (gs.channels_last, gs.preserve_format, LAST),
        (gs.channels_last, gs.contiguous_format, ROWS),
        (gs.channels_last, gs.channels_last, LAST),
    ],
)
def test_clone_in_an_order(of: Any, wanted: Any, strides: tuple[int, ...]) -> None:
    x = images(of).requires_grad_()
    for copy in (x.clone(memory_format=wanted), gs.clone(x, memory_format=wanted)):
        assert copy.stride() == strides
        assert copy.tolist() == x.tolist()
        assert copy.data_ptr() != x.data_ptr()
    (gradient,) = gs.autograd.grad((copy * copy).sum(), x)
    assert gradient.tolist() == (2 * x.detach()).tolist()


def test_clone_in_an_order_that_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match="required rank 4 tensor"):
        gs.ones(2, 3).clone(memory_format=gs.channels_last)
    with pytest.raises(TypeError, match="memory_format"):
        gs.ones(2, 3).clone(memory_format=3)


@pytest.mark.parametrize(
    ("tensor", "check", "order"),
    [
        (gs.ones(2, 3), True, (0, 1)),
        (gs.ones(2, 3).t(), True, (1, 0)),
        (gs.ones(2, 3, 4, 1), False, (0, 1, 2, 3)),
        (gs.ones(2, 3, 4, 1), [gs.contiguous_format], (0, 1, 2, 3)),
        (gs.ones(2, 3, 4, 1), [gs.contiguous_format, gs.channels_last], (0, 1, 2, 3)),
        (images(gs.channels_last), True, (0, 2, 3, 1)),
    ],
)
def test_order_of_dimensions(tensor: gs.Tensor, check: Any, order: tuple[int, ...]) -> None:
    assert tensor.dim_order(ambiguity_check=check) == order


@pytest.mark.parametrize(
    ("tensor", "check"),
    [
        (gs.ones(2, 1), True),
        (gs.ones(2, 3, 4, 1), [gs.channels_last]),
        (gs.ones(2, 1, 4, 5), [gs.contiguous_format, gs.channels_last]),
        (gs.ones(1).expand(3, 3), True),
    ],
)
def test_several_orders_of_dimensions(tensor: gs.Tensor, check: Any) -> None:
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        tensor.dim_order(ambiguity_check=check)


@pytest.mark.parametrize("check", ["yes", None, [3]])
def test_an_ambiguity_check_of_another_kind(check: Any) -> None:
    with pytest.raises(TypeError, match="ambiguity_check"):
        gs.ones(2).dim_order(ambiguity_check=check)


def test_reversed() -> None:
    assert reversed(gs.arange(4)).tolist() == [3, 2, 1, 0]
    assert reversed(gs.arange(4).reshape(2, 2)).tolist() == [[2, 3], [0, 1]]
    assert reversed(gs.tensor(5)).tolist() == 5


def test_type_of_the_default_dtype() -> None:
    assert gs.ones(2, dtype=gs.int64).type(gs.Tensor).dtype == gs.float32


def test_new_of_a_size() -> None:
    made = gs.ones(2, dtype=gs.float64).new(size=(3, 4))
    assert (made.shape, made.dtype) == ((3, 4), gs.float64)
