"""How results lie in memory, and what NumPy's numbers do to dtypes, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "cat": lambda lib, x: lib.cat([x, x * 2], 1),
    "stack": lambda lib, x: lib.stack([x, x], 1),
    "index_select": lambda lib, x: x.index_select(1, lib.tensor([2, 0, 2])),
    "topk": lambda lib, x: x.topk(2, 1)[0],
    "topk of many": lambda lib, x: x.repeat(1, 20, 9).topk(3, 1)[0],
    "topk of all": lambda lib, x: x.topk(4, 1)[0],
    "sort": lambda lib, x: x.sort(1)[0],
    "places of a sort": lambda lib, x: x.sort(2, descending=True)[1],
    "cumsum": lambda lib, x: x.cumsum(1),
    "cumprod": lambda lib, x: x.cumprod(2),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "in order": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "turned": lambda x: x.permute(2, 0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_strides(name: str, layout: str) -> None:
    import torch

    data = np.random.default_rng(0).permutation(64).reshape(4, 4, 4) / 8
    results = []
    for lib in (gs, torch):
        found = CALLS[name](lib, LAYOUTS[layout](lib.tensor(data)))
        results.append((found.numpy().tolist(), tuple(found.stride())))
    assert results[0] == results[1]


NUMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "power": lambda lib, x, n: x**n,
    "power of a number": lambda lib, x, n: n**x,
    "clamp": lambda lib, x, n: x.clamp(n, max=n),
    "difference": lambda lib, x, n: n - x,
    "product": lambda lib, x, n: n * x,
    "remainder": lambda lib, x, n: x % n,
    "fmod": lambda lib, x, n: lib.fmod(x, n),
    "lerp": lambda lib, x, n: x.lerp(x * 2, n),
    "sum": lambda lib, x, n: lib.add(x, x * 2, alpha=n),
    "rsub": lambda lib, x, n: lib.rsub(x, x * 2, alpha=n),
    "addcmul": lambda lib, x, n: lib.addcmul(x, x, x, value=n),
    "addr": lambda lib, x, n: lib.addr(x.diag(), x, x, beta=n, alpha=n),
    "clamp_min": lambda lib, x, n: lib.clamp_min(x, n),
    "softplus": lambda lib, x, n: lib.nn.functional.softplus(x, n, n),
    "leaky_relu": lambda lib, x, n: lib.nn.functional.leaky_relu(-x, n),
    "huber_loss": lambda lib, x, n: lib.nn.functional.huber_loss(x, x * 3, delta=n),
    "layer_norm": lambda lib, x, n: lib.nn.functional.layer_norm(x, (2,), eps=n),
    "norm": lambda lib, x, n: lib.linalg.vector_norm(x, n),
    "variance": lambda lib, x, n: x.var(correction=n - 1),
    "full": lambda lib, x, n: lib.full((2,), n, dtype=None) * x,
}


@pytest.mark.parametrize("number", [np.float64(1.5), np.float32(1.5), np.int64(2)], ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_numpy_do_not_decide_dtypes(name: str, number: Any) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x = lib.tensor([0.5, 2.5], requires_grad=True)
        found = NUMBERS[name](lib, x, number if lib is gs else number.item())
        found.sum().backward()
        results.append((found.detach().numpy(), x.grad.numpy()))
    for own, wanted in zip(*results, strict=True):
        assert own.dtype == wanted.dtype == np.float32
        np.testing.assert_allclose(own, wanted, rtol=1e-6)
