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


def _in_itself() -> list[Any]:
    endless: list[Any] = [0]
    endless.append(endless)
    return endless


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
    **{
        f"{name} of a tensor": lambda t, name=name: getattr(t, name)(t.f(2, 2))
        for name in ("hstack", "vstack", "row_stack", "dstack", "column_stack")
    },
    **{
        f"{name} of nothing": lambda t, name=name: getattr(t, name)([])
        for name in ("hstack", "vstack", "dstack", "column_stack")
    },
    "an imaginary part for reals": lambda t: t.full((2,), 1j, dtype=t.float32),
    "an imaginary part for integers": lambda t: t.full_like(t.i(1, 2), 1j),
    "an imaginary part to fill with": lambda t: t.f(2).fill_(1j),
    "an imaginary part under a mask": lambda t: t.f(2).masked_fill(t.f(2) > 0, 1j),
    "an imaginary part to scatter": lambda t: t.f(2).scatter(0, t.i(0), 1j),
    "float_power_ of floats": lambda t: t.f(2).float().float_power_(2),
    "float_power_ of integers": lambda t: t.i(1, 2).float_power_(t.f(2)),
    "float_power_ by a complex number": lambda t: t.f(2).float_power_(2j),
    "arange to infinity": lambda t: t.arange(0, float("inf")),
    "arange from nan": lambda t: t.arange(float("nan"), 3),
    "arange of nothing": lambda t: t.arange(),
    "arange of bools": lambda t: t.arange(2, dtype=t.bool),
    "arange of complex numbers": lambda t: t.arange(2, dtype=t.complex64),
    "range without an end": lambda t: t.range(3),
    "linspace of a vector": lambda t: t.linspace(t.f(1), 1, 3),
    "linspace that loses imaginary parts": lambda t: t.linspace(1j, 1, 3, dtype=t.float32),
    "logspace that loses imaginary parts": lambda t: t.logspace(0, 1j, 3, dtype=t.float32),
    "more memory than there can be": lambda t: t.empty(2, 4, 2**29, 2**29, dtype=t.float64),
    "new memory than there can be": lambda t: t.f(1).new_zeros(2**62, 8),
    "steps beyond all memory": lambda t: t.empty_strided((8, 8), (2**61, 1)),
    "empty_permuted of a repeated dimension": lambda t: t.empty_permuted((2, 3), (0, 0)),
    "empty_permuted of too few": lambda t: t.empty_permuted((2, 3), (0,)),
    "a list in itself": lambda t: t.tensor(_in_itself()),
    "frombuffer of a list": lambda t: t.frombuffer([1, 2], dtype=t.int32),
    "asarray of a number that is shared": lambda t: t.asarray(np.float32(1), copy=False),
    "randint of floats": lambda t: t.randint(0.5, 3, (2,)),
    "randint beyond bytes": lambda t: t.randint(0, 257, (2,), dtype=t.uint8),
    "randint below bytes": lambda t: t.randint(-1, 3, (2,), dtype=t.uint8),
    "randint beyond bools": lambda t: t.randint(0, 3, (2,), dtype=t.bool),
    "randint without a bound": lambda t: t.randint(size=(3,)),
    "randperm of a float": lambda t: t.randperm(3.0),
    "randperm beyond bytes": lambda t: t.randperm(257, dtype=t.uint8),
    "random_ to 0": lambda t: t.f(2).random_(0),
    "random_ beyond halves": lambda t: t.f(2).half().random_(0, 70000),
    "random_ below halves": lambda t: t.f(2).half().random_(-70000, 0),
    "random_ beyond bools": lambda t: t.i(1).bool().random_(0, 3),
    "uniform_ in the wrong order": lambda t: t.f(2).uniform_(3, 1),
    "uniform_ below halves": lambda t: t.f(2).half().uniform_(-1e6, 0),
    "uniform_ to infinity": lambda t: t.f(2).uniform_(0, float("inf")),
    "uniform_ from nan": lambda t: t.f(2).uniform_(float("nan"), 1),
    "uniform_ of too far bounds": lambda t: t.f(2).uniform_(-1e308, 1.7e308),
    "normal_ of a negative width": lambda t: t.f(2).normal_(0, -1),
    "normal of shapes that do not fit": lambda t: t.normal(t.f(2, 3), t.f(3, 2)),
    "histogram of other bins": lambda t: t.histogram(t.f(2), t.f(2).float()),
    "histogram of other weights": lambda t: t.histogram(t.f(2), 1, weight=t.f(2).float()),
    "histogram of no edges": lambda t: t.histogram(t.f(2), t.f(0)),
    "histogram of a range beside edges": lambda t: t.histogram(t.f(2), t.f(2), range=(0, 1)),
    "histogram of a range in the wrong order": lambda t: t.histogram(t.f(2), 2, range=(1, 0)),
    "histogramdd of a number": lambda t: t.histogramdd(t.f(), 2),
    "histogramdd of too few bins": lambda t: t.histogramdd(t.f(2, 3), [1, 2]),
    "histogramdd of too short a range": lambda t: t.histogramdd(t.f(2, 2), 2, range=(0, 1)),
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


WORDS: dict[str, Callable[[Library], Any]] = {
    "max must be larger than min": lambda t: t.histc(t.i(1, 2), 4, 5, 1),
    r"range of \[1, inf\] is not finite": lambda t: t.histc(t.tensor([1.0, float("inf")])),
    r"Negative strides .* got strides: \[2, -1\]": lambda t: t.as_strided(t.f(4), (1, 1), (2, -1)),
    "float_power_ has dtype Float but the operation's result requires dtype Double": lambda t: (
        t.f(2).float().float_power_(2)
    ),
    "Storage size calculation overflowed": lambda t: t.empty(2, 4, 2**29, 2**29),
    r"torch.logspace\(\): inferred dtype": lambda t: t.logspace(0, 1j, 3, dtype=t.float64),
    "self-referential lists are incompatible": lambda t: t.tensor(_in_itself()),
    "does not implement Python buffer protocol": lambda t: t.frombuffer([1], dtype=t.int8),
    "to - 1 is out of bounds for": lambda t: t.i(1).char().random_(0, 129),
    "from is out of bounds for": lambda t: t.f(1).half().uniform_(-1e6, 0),
}


@pytest.mark.parametrize("words", WORDS)
def test_same_words(words: str) -> None:
    import torch

    for library in (Library(torch, None), Library(gs, None)):
        with pytest.raises((RuntimeError, TypeError, ValueError), match=words):
            WORDS[words](library)
