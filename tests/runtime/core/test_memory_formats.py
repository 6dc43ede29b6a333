"""Tensors whose channels come last in memory, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import attempt

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "strides": lambda lib, x: x.contiguous(memory_format=lib.channels_last).stride(),
    "that order already": lambda lib, x: (
        (y := x.contiguous(memory_format=lib.channels_last))
        is y.contiguous(memory_format=lib.channels_last)
    ),
    "and back": lambda lib, x: x.contiguous(memory_format=lib.channels_last).contiguous().stride(),
    "questions": lambda lib, x: [
        y.is_contiguous(memory_format=format)
        for y in (x, x.contiguous(memory_format=lib.channels_last), x.permute(0, 3, 1, 2), x[0])
        for format in (lib.contiguous_format, lib.channels_last, lib.channels_last_3d)
    ],
    "of one channel": lambda lib, x: x[:, :1].is_contiguous(memory_format=lib.channels_last),
    "its node": lambda lib, x: (
        x.clone().requires_grad_().contiguous(memory_format=lib.channels_last).grad_fn.name()
    ),
    "sine": lambda lib, x: x.contiguous(memory_format=lib.channels_last).sin().stride(),
    "like it": lambda lib, x: lib.ones_like(x.contiguous(memory_format=lib.channels_last)).stride(),
    "its copy": lambda lib, x: x.contiguous(memory_format=lib.channels_last).clone().stride(),
    "copies in an order": lambda lib, x: [
        y.clone(memory_format=format).stride()
        for y in (x, x.permute(0, 2, 3, 1))
        for format in (None, lib.contiguous_format, lib.preserve_format, lib.channels_last)
    ],
    "the node of a copy": lambda lib, x: lib.clone(
        x.requires_grad_(), memory_format=lib.channels_last
    ).grad_fn.name(),
    "a copy of three dimensions": lambda lib, x: attempt(
        lambda: x[0].clone(memory_format=lib.channels_last)
    ),
    "three dimensions": lambda lib, x: attempt(
        lambda: x[0].contiguous(memory_format=lib.channels_last)
    ),
    "five dimensions": lambda lib, x: (
        x[None].contiguous(memory_format=lib.channels_last_3d).stride()[1:]
    ),
    "no format": lambda lib, x: (
        x.contiguous(memory_format=lib.preserve_format) is x,
        attempt(lambda: x.mT.contiguous(memory_format=lib.preserve_format)),
    ),
}


@pytest.mark.oracle
@pytest.mark.parametrize("text", CALLS)
def test_same(torch: Any, text: str) -> None:
    results = [
        CALLS[text](lib, lib.tensor(np.arange(120.0).reshape(2, 3, 4, 5))) for lib in (gs, torch)
    ]
    assert results[0] == results[1]


def test_values_and_gradients_of_another_format() -> None:
    x = gs.tensor(np.arange(24.0).reshape(1, 2, 3, 4), requires_grad=True)
    y = x.contiguous(memory_format=gs.channels_last)
    assert y.tolist() == x.tolist()
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == (2 * x).tolist()
    assert x.grad.is_contiguous()


def test_a_copy_whose_channels_come_last() -> None:
    x = gs.ones(1, 2, 3, 4, requires_grad=True)
    copied = x.clone(memory_format=gs.channels_last)
    assert copied.stride() == (24, 1, 8, 2)
    (copied * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.unique().tolist() == [2]
