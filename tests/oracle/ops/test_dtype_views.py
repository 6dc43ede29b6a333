"""`tensor.view(dtype)`, wrong shapes and `in`: as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

CALLS = {
    "narrower": lambda T: T.arange(6.0).reshape(2, 3).view(T.int16),
    "wider": lambda T: T.arange(8.0).reshape(2, 4).view(T.float64),
    "as wide": lambda T: T.arange(6.0).reshape(2, 3).t().view(T.int32),
    "complex": lambda T: T.arange(8.0).reshape(2, 4).view(T.complex64),
    "by name": lambda T: T.arange(6.0).view(dtype=T.uint8),
    "number": lambda T: T.tensor(1.5).view(T.int32),
    "number, wider": lambda T: T.tensor(1.5).view(T.float64),
    "odd": lambda T: T.ones(3).view(T.float64),
    "columns": lambda T: T.ones(4, 2).t().view(T.float64),
    "columns, narrower": lambda T: T.ones(4, 2).t().view(T.int16),
    "offset": lambda T: T.ones(3, 4)[:, 1:3].view(T.float64),
    "odd rows": lambda T: T.ones(3, 3)[:, :2].view(T.float64),
    "nothing, wider": lambda T: T.empty(0).view(T.float64),
    "nothing, narrower": lambda T: T.empty(3, 0, dtype=T.float64).view(T.float32),
    "no rows, wider": lambda T: T.empty(0, 4).view(T.complex64),
    "no rows, odd": lambda T: T.empty(0, 3).view(T.float64),
    "size below -1": lambda T: T.ones(6).view(2, -2),
    "reshape below -1": lambda T: T.ones(6).reshape(2, -2),
    "flatten backwards": lambda T: T.ones(4, 2).flatten(1, 0),
    "squeeze twice": lambda T: T.ones(4, 1).squeeze((0, -2)),
    "in": lambda T: T.tensor([1.0 in T.ones(2), 2 in T.ones(2), T.tensor(1) in T.ones(2)]),
    "in, text": lambda T: "a" in T.ones(2),
    "in, list": lambda T: [1.0] in T.ones(2),
}


def answer(lib: Any, call: Any) -> Any:
    try:
        found = call(lib)
    except RuntimeError:
        return "RuntimeError"
    return list(found.shape), found.tolist(), str(found.dtype).removeprefix("torch.")


@pytest.mark.parametrize("name", CALLS)
def test_same_answer(name: str) -> None:
    import torch

    assert answer(gs, CALLS[name]) == answer(torch, CALLS[name])


def test_the_memory_and_its_version_are_shared_and_no_gradient_flows() -> None:
    import torch

    for lib in (gs, torch):
        x = lib.ones(2, 2)
        viewed = x.view(lib.int32)
        viewed.zero_()
        assert x.tolist() == [[0, 0], [0, 0]]
        assert x._version == 1
        assert not lib.ones(2, requires_grad=True).view(lib.int32).requires_grad
