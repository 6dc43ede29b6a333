"""Strides of results, and dtypes with NumPy's numbers, against PyTorch."""

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
    **{
        name: lambda lib, x, name=name: _first(getattr(x, name)(1))
        for name in (
            *("sum", "mean", "amax", "amin", "all", "any", "std", "var", "prod", "nansum"),
            *("logsumexp", "norm", "median", "nanmedian", "max", "min", "argmax", "softmax"),
            *("log_softmax", "mode", "flip", "count_nonzero", "roll", "tril", "triu"),
        )
    },
    "sum that is kept": lambda lib, x: x.sum((0, 2), keepdim=True) + x.sum(1, keepdim=True),
    "mean of one": lambda lib, x: x.mean((0,)),
    "clone": lambda lib, x: x.clone(),
    "several rolls": lambda lib, x: x.roll((1, 2), (0, 2)),
    "several flips": lambda lib, x: x.flip((0, 2)),
    "median of a view": lambda lib, x: x[:, ::2].median(0)[1],
    "k-th value": lambda lib, x: x.kthvalue(2, 0)[0],
    "masked_fill": lambda lib, x: x.masked_fill(x > 3, 0.0),
    "gather": lambda lib, x: x.gather(1, (x > 3).long()),
    "take_along_dim": lambda lib, x: x.take_along_dim((x > 3).long(), 1),
    "repeat": lambda lib, x: x.repeat(1, 1, 1),
    "tile": lambda lib, x: x.tile((2,)),
    "pad": lambda lib, x: lib.nn.functional.pad(x, (1, 1), value=2.0),
    "reflection": lambda lib, x: lib.nn.functional.pad(x, (1, 1), "reflect"),
    "circular padding": lambda lib, x: lib.nn.functional.pad(x, (1, 1), "circular"),
    "average pool": lambda lib, x: lib.nn.functional.avg_pool1d(x, 2),
    "largest of pools": lambda lib, x: lib.nn.functional.max_pool1d(x, 2),
    "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, (4,)),
    "batch_norm": lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True),
    "group_norm": lambda lib, x: lib.nn.functional.group_norm(x, 2),
    "linear": lambda lib, x: lib.nn.functional.linear(x, x[0]),
    "product of matrices": lambda lib, x: x @ x,
    "index_fill": lambda lib, x: x.index_fill(1, lib.tensor([0, 2]), 1.0),
    "index_put": lambda lib, x: x.index_put((lib.tensor([0, 2]),), lib.tensor(1.0).double()),
    "put": lambda lib, x: x.put(lib.tensor([0, 2]), lib.tensor([1.0, 2.0]).double()),
    "positions": lambda lib, x: (x > 3).nonzero(),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 1.0),
    "zeros like it": lambda lib, x: lib.zeros_like(x),
    "zeros like an expansion": lambda lib, x: lib.zeros_like(x[:1].expand(3, 4, 4)),
    "a copy of an expansion": lambda lib, x: x[:1].expand(3, 4, 4).clone(),
    "a copy of what is apart": lambda lib, x: x[:, ::2, ::2].clone(),
    "numbers like it": lambda lib, x: lib.rand_like(x) * 0,
    "function": lambda lib, x: (x * 2 + 1).sin(),
    "where": lambda lib, x: lib.where(x > 3, x, -x),
    "diagonal": lambda lib, x: x.diagonal(0, 0, 1) + 1,
    "renorm": lambda lib, x: x.renorm(2, 0, 1.0),
    "order of a sort": lambda lib, x: x.argsort(1),
    "order of a stable sort": lambda lib, x: x.argsort(dim=0, stable=True),
    "logsigmoid": lambda lib, x: lib.nn.functional.logsigmoid(x),
    "counts of no rate": lambda lib, x: lib.poisson(x * 0),
    **{f"{k} right angles": lambda lib, x, k=k: x.rot90(k, (0, 2)) for k in range(-1, 4)},
    "one_hot": lambda lib, x: lib.nn.functional.one_hot((x > 3).long()),
}


def _first(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


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
        # Nothing depends on the steps between elements that are not there.
        steps = [step for step, n in zip(found.stride(), found.shape, strict=True) if n > 1]
        results.append((found.numpy(), steps))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    assert results[0][1] == results[1][1]


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
