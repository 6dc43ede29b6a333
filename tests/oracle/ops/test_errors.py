"""Calls that PyTorch refuses are refused with an exception of the same type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional

pytestmark = pytest.mark.oracle


class Library:
    """Tensors and functions of one of the two libraries, under one set of names."""

    def __init__(self, module: Any, functional: Any) -> None:
        self.module = module
        self.nn = functional

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def f(self, *shape: int) -> Any:
        """A float tensor."""
        return self.module.tensor(np.ones(shape))

    def i(self, *values: int) -> Any:
        """A vector of integers."""
        return self.module.tensor(np.array(values, np.int64))


REFUSED: dict[str, Callable[[Library], Any]] = {
    "shapes of +": lambda t: t.f(2, 3) + t.f(2),
    "adjoint of a vector": lambda t: t.adjoint(t.f(2)),
    "a dim flipped twice": lambda t: t.flip(t.f(3), [0, -1]),
    "values of more dims than are put": lambda t: t.index_put(
        t.f(2, 3), [t.i(0, 1), t.i(-1, 0)], t.f(1, 1, 2), accumulate=True
    ),
    "values of more dims than are set": lambda t: t.index_put(
        t.f(2, 3), [t.i(0, 1), t.i(-1, 0)], t.f(1, 2)
    ),
    "bounds of hardtanh": lambda t: t.nn.hardtanh(t.f(2), 2.0, 1.0),
    "fliplr of a vector": lambda t: t.fliplr(t.f(2)),
    "flipud of a number": lambda t: t.flipud(t.f()),
    "shapes of where": lambda t: t.where(t.f(2) > 0, t.f(3), t.f(3)),
    "condition of where": lambda t: t.where(t.f(2), t.f(2), t.f(2)),
    "mm of vectors": lambda t: t.mm(t.f(2), t.f(2, 2)),
    "mm of wrong sizes": lambda t: t.mm(t.f(2, 3), t.f(2, 3)),
    "mm of two dtypes": lambda t: t.mm(t.f(2, 2), t.tensor(np.ones((2, 2), np.float32))),
    "bmm of matrices": lambda t: t.bmm(t.f(2, 2), t.f(2, 2)),
    "bmm of wrong sizes": lambda t: t.bmm(t.f(2, 2, 3), t.f(2, 2, 3)),
    "bmm of wrong batches": lambda t: t.bmm(t.f(2, 2, 2), t.f(3, 2, 2)),
    "dot of matrices": lambda t: t.dot(t.f(2, 2), t.f(2, 2)),
    "dot of wrong sizes": lambda t: t.dot(t.f(2), t.f(3)),
    "mv of wrong sizes": lambda t: t.mv(t.f(2, 3), t.f(2)),
    "addmm of wrong sizes": lambda t: t.addmm(t.f(5), t.f(2, 3), t.f(3, 2)),
    "matmul of scalars": lambda t: t.matmul(t.f(), t.f()),
    "matmul that would fold": lambda t: t.matmul(t.f(2, 3, 4), t.f(6, 2)),
    "matmul of vectors that would fold": lambda t: t.matmul(t.f(2, 3, 4), t.f(6)),
    "matmul of wrong batches": lambda t: t.matmul(t.f(2, 2, 2), t.f(3, 2, 2)),
    "linear of wrong sizes": lambda t: t.nn.linear(t.f(2, 3, 4), t.f(2, 6), t.f(2)),
    "t of three dimensions": lambda t: t.t(t.f(2, 2, 2)),
    "transpose": lambda t: t.transpose(t.f(2, 2), 0, 2),
    "transpose of a scalar": lambda t: t.transpose(t.f(), 0, 1),
    "permute of too few": lambda t: t.permute(t.f(2, 2), (0,)),
    "permute of a repeated": lambda t: t.permute(t.f(2, 2), (0, 0)),
    "permute of a large": lambda t: t.permute(t.f(2, 2), (0, 2)),
    "view of wrong size": lambda t: t.f(2, 3).view(4),
    "view of two unknown": lambda t: t.f(2, 3).view(-1, -1),
    "view that needs a copy": lambda t: t.f(2, 3).t().view(6),
    "reshape of wrong size": lambda t: t.reshape(t.f(2, 3), (4,)),
    "expand of wrong size": lambda t: t.f(2, 3).expand(2, 4),
    "expand to fewer": lambda t: t.f(2, 3).expand(3),
    "expand with a leading -1": lambda t: t.f(3).expand(-1, 3),
    "unsqueeze": lambda t: t.unsqueeze(t.f(2), 2),
    "squeeze": lambda t: t.squeeze(t.f(2), 1),
    "sum": lambda t: t.sum(t.f(2), 1),
    "sum of a dim twice": lambda t: t.sum(t.f(2, 2), (0, 0)),
    "sum of a scalar": lambda t: t.sum(t.f(), 1),
    "mean of integers": lambda t: t.mean(t.i(1, 2)),
    "var of integers": lambda t: t.var(t.i(1, 2)),
    "max": lambda t: t.max(t.f(2), 1),
    "max of nothing": lambda t: t.max(t.f(0)),
    "max of nothing along a dim": lambda t: t.max(t.f(0, 2), 0),
    "amax of nothing": lambda t: t.amax(t.f(0, 2), 0),
    "argmax of nothing": lambda t: t.argmax(t.f(0)),
    "cumsum": lambda t: t.cumsum(t.f(2), 1),
    "softmax": lambda t: t.softmax(t.f(2), 1),
    "clamp without bounds": lambda t: t.clamp(t.f(2)),
    "tril of a vector": lambda t: t.tril(t.f(2)),
    "cat of nothing": lambda t: t.cat([]),
    "cat of scalars": lambda t: t.cat([t.f(), t.f()]),
    "cat of wrong sizes": lambda t: t.cat([t.f(2, 2), t.f(2, 3)]),
    "cat of other dimensions": lambda t: t.cat([t.f(2, 2), t.f(2)]),
    "cat along a wrong dim": lambda t: t.cat([t.f(2)], 1),
    "stack of nothing": lambda t: t.stack([]),
    "stack of wrong sizes": lambda t: t.stack([t.f(2), t.f(3)]),
    "unbind of a scalar": lambda t: t.unbind(t.f()),
    "select out of range": lambda t: t.select(t.f(2), 0, 2),
    "select of a scalar": lambda t: t.select(t.f(), 0, 0),
    "index out of range": lambda t: t.f(2)[t.i(2)],
    "too many indices": lambda t: t.f(2)[0, 0],
    "slice of a negative step": lambda t: t.f(2)[::-1],
    "narrow of too much": lambda t: t.narrow(t.f(2), 0, 1, 2),
    "index_select of a matrix": lambda t: t.index_select(t.f(2), 0, t.i(0).reshape(1, 1)),
    "index_select out of range": lambda t: t.index_select(t.f(2), 0, t.i(2)),
    "gather out of range": lambda t: t.gather(t.f(2), 0, t.i(2)),
    "gather of a negative": lambda t: t.gather(t.f(2), 0, t.i(-1)),
    "gather of other dimensions": lambda t: t.gather(t.f(2, 2), 0, t.i(0)),
    "gather of a large index": lambda t: t.gather(t.f(2, 1), 0, t.i(0, 0).reshape(1, 2)),
    "gather by floats": lambda t: t.gather(t.f(2), 0, t.f(2)),
    "scatter_add out of range": lambda t: t.scatter_add(t.f(2), 0, t.i(2), t.f(1)),
    "scatter_add of a small src": lambda t: t.scatter_add(t.f(2), 0, t.i(0, 1), t.f(1)),
    "masked_fill by floats": lambda t: t.masked_fill(t.f(2), t.f(2), 0.0),
    "masked_fill of a vector": lambda t: t.masked_fill(t.f(2), t.f(2) > 0, t.f(2)),
    "narrow of a negative length": lambda t: t.narrow(t.f(2), 0, 1, -1),
    "narrow of a start out of range": lambda t: t.narrow(t.f(2), 0, 3, 0),
    "gelu": lambda t: t.nn.gelu(t.f(2), approximate="fast"),
    "nll_loss out of range": lambda t: t.nn.nll_loss(t.f(1, 2), t.i(2)),
    "nll_loss of another batch": lambda t: t.nn.nll_loss(t.f(2, 2), t.i(0)),
    "nll_loss of floats": lambda t: t.nn.nll_loss(t.f(2, 2), t.f(2)),
    "cross_entropy of another batch": lambda t: t.nn.cross_entropy(t.f(2, 2), t.i(0)),
    "bce of another shape": lambda t: t.nn.binary_cross_entropy_with_logits(t.f(2), t.f(1)),
    "minus a bool": lambda t: t.f(2) - True,
    "a bool minus": lambda t: True - t.f(2),
    "bools minus": lambda t: (t.f(2) > 0) - t.f(2),
    "bools minus bools": lambda t: (t.f(2) > 0) - (t.f(2) > 0),
    "a number minus bools": lambda t: 1 - (t.f(2) > 0),
    "subtraction of bools in place": lambda t: t.f(2).sub_(t.f(2) > 0),
    "negative bools": lambda t: -(t.f(2) > 0),
    "a fraction of integers": lambda t: t.add(t.i(1), t.i(2), alpha=0.5),
    "a number minus a fraction of integers": lambda t: t.rsub(t.i(1), 2, alpha=0.5),
    "lerp of two dtypes": lambda t: t.lerp(t.f(2), t.tensor(np.ones(2, np.float32)), 0.5),
    "lerp of integers": lambda t: t.lerp(t.i(1), t.i(2), 0.5),
    "lerp by tensors, of two dtypes": lambda t: t.lerp(t.f(2), t.i(1, 2), t.f(2)),
    "cross product of two dtypes": lambda t: t.linalg.cross(t.f(3), t.i(1, 2, 3)),
    "logaddexp of integers": lambda t: t.logaddexp(t.i(1), t.i(2)),
    "powers of bools": lambda t: t.pow(t.f(2) > 0, t.f(2) > 0),
    "mse of integers": lambda t: t.nn.mse_loss(t.i(1), t.i(2)),
    "bce of two dtypes": lambda t: t.nn.binary_cross_entropy(t.f(2), t.i(0, 1)),
    "bce of integers": lambda t: t.nn.binary_cross_entropy(t.i(0, 1), t.i(0, 1)),
    "nll_loss of weights of another dtype": lambda t: t.nn.nll_loss(t.f(1, 2), t.i(1), t.i(1, 2)),
    "batch_norm of weights of another dtype": lambda t: t.nn.batch_norm(
        t.f(2, 2), None, None, t.i(1, 2), training=True
    ),
    "a reduction": lambda t: t.nn.cross_entropy(t.f(1, 2), t.i(0), reduction="all"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_same_type(text: str) -> None:
    import torch

    refused = REFUSED[text]
    with pytest.raises(Exception, match=r".") as expected:
        refused(Library(torch, torch.nn.functional))
    with pytest.raises(expected.type, match=r"."):
        refused(Library(gs, nn_functional))


BROADCAST: dict[str, Callable[[Library], Any]] = {
    "two vectors": lambda t: t.broadcast_tensors(t.f(2), t.f(3)),
    "a middle one": lambda t: t.broadcast_tensors(t.f(1), t.f(4, 2), t.f(2, 3, 2)),
    "a last one": lambda t: t.broadcast_tensors(t.f(4, 2), t.f(2), t.f(1, 3, 2)),
    "shapes": lambda t: t.broadcast_shapes((2,), (3,)),
    "shapes of several dimensions": lambda t: t.broadcast_shapes((1, 4, 2), 2, (3, 3, 1)),
    "parameters": lambda t: t.distributions.Normal(t.f(2), t.f(3)),
}


@pytest.mark.parametrize("text", BROADCAST)
def test_same_message_where_shapes_differ(text: str) -> None:
    import torch

    messages = []
    for library in (Library(torch, None), Library(gs, None)):
        with pytest.raises(RuntimeError) as refused:
            BROADCAST[text](library)
        messages.append(str(refused.value))
    assert messages[1] == messages[0]
