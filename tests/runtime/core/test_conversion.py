"""`to` and the methods named after dtypes, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "dtype": lambda m, x: x.to(m.float64),
    "dtype by name": lambda m, x: x.to(dtype=m.float64),
    "device": lambda m, x: x.to("cpu"),
    "device and dtype": lambda m, x: x.to("cpu", m.float64),
    "device by name": lambda m, x: x.to(device="cpu", dtype=m.float16, copy=True),
    "another tensor": lambda m, x: x.to(m.ones(1, dtype=m.complex64)),
    "non_blocking and copy": lambda m, x: x.to(m.float32, True, True),
    "channels_last": lambda m, x: x.to(m.float32, memory_format=m.channels_last),
    "contiguous_format": lambda m, x: x.transpose(0, 1).to(
        m.float32, memory_format=m.contiguous_format
    ),
    "double": lambda m, x: x.double(),
    "double in another order": lambda m, x: x.double(memory_format=m.channels_last),
    "another order and dtype": lambda m, x: x.to(m.float64, memory_format=m.contiguous_format),
    "back to rows": lambda m, x: x.to(m.float32, memory_format=m.channels_last).to(
        m.float64, memory_format=m.contiguous_format
    ),
    "short": lambda m, x: x.short(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("call", CALLS)
def test_values_dtype_and_order_in_memory(call: str) -> None:
    import torch

    numbers = np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2)
    mine, theirs = (CALLS[call](m, m.tensor(numbers, requires_grad=True)) for m in (gs, torch))
    expected = theirs.detach().numpy()
    assert mine.array.dtype == expected.dtype
    assert mine.array.strides == expected.strides
    np.testing.assert_array_equal(mine.array, expected)
    assert mine.requires_grad is theirs.requires_grad
    assert (mine.grad_fn is None) is (theirs.grad_fn is None)


def test_nothing_to_do_gives_the_tensor_itself() -> None:
    x = gs.ones(2, 2)
    assert x.to(gs.float32) is x
    assert x.to("cpu", memory_format=gs.contiguous_format) is x
    assert x.to(gs.float32, copy=True) is not x


def test_refusals() -> None:
    x = gs.ones(2)
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        x.to("cuda")
    with pytest.raises(RuntimeError, match="required rank 4"):
        x.to(gs.float64, memory_format=gs.channels_last)
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        x.to(gs.float64, dtype=gs.float32)
    with pytest.raises(TypeError, match="memory_format must be"):
        x.to(gs.float64, memory_format="rows")


@pytest.mark.parametrize(
    "ask",
    [
        lambda dtype: gs.ones(2, 2).view(dtype),
        lambda dtype: gs.ones(2).sum(dtype=dtype),
        lambda dtype: gs.promote_types(dtype, gs.float32),
        lambda dtype: gs.can_cast(gs.float32, dtype),
        lambda dtype: gs.zeros(2, dtype=dtype),
    ],
)
def test_a_dtype_that_is_refused_says_what_to_use(ask):
    with pytest.raises(TypeError, match="bfloat16 is not supported: NumPy has no such numbers"):
        ask(gs.bfloat16)
