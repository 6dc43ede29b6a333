"""Function transforms, alone and in each other: as in `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]

X = np.random.default_rng(0).standard_normal((5, 3))
W = np.random.default_rng(1).standard_normal((3, 4))
Y = np.random.default_rng(2).standard_normal(3)

Program = Callable[[Any, Any, Any, Any, Any], Any]
"""A program of a library, its transforms, and three tensors."""


def wave(t: Any) -> Any:
    return (t.exp() * t.sin()).sum() * t.prod()


def loss(g: Any) -> Callable[[Any, Any], Any]:
    return lambda w, r: (g.tanh(r @ w) ** 2).sum()


PROGRAMS: dict[str, Program] = {
    "an elementwise op": lambda g, f, x, w, y: f.vmap(g.sin)(x),
    "a product with what is shared": lambda g, f, x, w, y: f.vmap(g.dot, (0, None))(x, y),
    "a matrix from outside": lambda g, f, x, w, y: f.vmap(lambda r: r @ w)(x),
    "columns": lambda g, f, x, w, y: f.vmap(lambda c: c.sum() * c, in_dims=1, out_dims=1)(x),
    "a new dimension": lambda g, f, x, w, y: f.vmap(lambda r: r[None] * 2, out_dims=1)(x),
    "chunks": lambda g, f, x, w, y: f.vmap(lambda r: r.sum(), chunk_size=2)(x),
    "a tree of arguments": lambda g, f, x, w, y: f.vmap(
        lambda d, s: (d["a"] * s[0], {"b": d["b"] + s[1]}), in_dims=({"a": 0, "b": None}, (0, None))
    )({"a": x, "b": y}, (x, y)),
    "an argument by name": lambda g, f, x, w, y: f.vmap(lambda r, by: r[0] * by)(x, by=x),
    "batch normalisation": lambda g, f, x, w, y: f.vmap(
        lambda r: g.nn.functional.batch_norm(r, None, None, training=True)
    )(g.stack([x, x * x])),
    "elements along a dimension": lambda g, f, x, w, y: f.vmap(
        lambda r: g.take_along_dim(r, r.argsort() - 3, 0)
    )(x),
    "membership": lambda g, f, x, w, y: f.vmap(lambda r: g.isin(r, r[:2]))(x),
    "ranks": lambda g, f, x, w, y: f.vmap(lambda r: g.linalg.matrix_rank(g.outer(r, r)))(x),
    "positions": lambda g, f, x, w, y: f.vmap(lambda r: g.unravel_index(r.argsort(), (2, 2)))(x),
    "bags": lambda g, f, x, w, y: f.vmap(
        lambda r: g.nn.functional.embedding_bag(r.argsort()[None], w, mode="mean")
    )(x),
    "losses of alignments": lambda g, f, x, w, y: f.vmap(
        lambda r: g.nn.functional.ctc_loss(
            r.log_softmax(0).expand(4, 1, 3), g.tensor([[1, 2]]), (4,), (2,)
        )
    )(x),
    "fake quantisation": lambda g, f, x, w, y: f.vmap(
        f.grad(lambda r: g.fake_quantize_per_tensor_affine(r, 0.1, 0, -8, 7).sin().sum())
    )(x),
    "a strided view of what is shared": lambda g, f, x, w, y: f.vmap(
        lambda r: f.grad(lambda z: (z.as_strided((2, 2), (1, 1)) * r[0]).sum())(y)
    )(x),
    "the derivative of a strided view": lambda g, f, x, w, y: f.jacfwd(
        lambda z: z.as_strided((2, 2), (1, 1))
    )(y),
    "the gradient": lambda g, f, x, w, y: f.grad(loss(g))(w, y),
    "the value beside it": lambda g, f, x, w, y: f.grad_and_value(wave)(y),
    "something else beside it": lambda g, f, x, w, y: f.grad(
        lambda t: ((t**3).sum(), t.sin()), has_aux=True
    )(y),
    "by two arguments": lambda g, f, x, w, y: f.grad(lambda w, r: loss(g)(w, r), (0, 1))(w, y),
    "by the last argument": lambda g, f, x, w, y: f.grad(lambda w, r: loss(g)(w, r), -1)(w, y),
    "by a dict": lambda g, f, x, w, y: f.grad(lambda p: ((p["a"] @ p["b"]) ** 2).sum())(
        {"a": y, "b": w}
    ),
    "by what does not count": lambda g, f, x, w, y: f.grad(lambda a, b: b.sum())(y, y),
    "a vjp": lambda g, f, x, w, y: f.vjp(lambda t: (t**3).sin(), y)[1](y * 2),
    "a vjp of two": lambda g, f, x, w, y: f.vjp(lambda a, b: (a @ b, a.sum()), y, w)[1](
        (w[0], y[0])
    ),
    "a jvp": lambda g, f, x, w, y: f.jvp(lambda t: (t**3).sin(), (y,), (y * 2,)),
    "a jvp of two": lambda g, f, x, w, y: f.jvp(lambda a, b: a @ b, (y, w), (y * 2, w * 3)),
    "a linear map": lambda g, f, x, w, y: f.linearize(lambda t: t.sin(), y)[1](y),
    "jacrev": lambda g, f, x, w, y: f.jacrev(lambda t: g.tanh(t @ w))(y),
    "jacrev in chunks": lambda g, f, x, w, y: f.jacrev(lambda t: g.tanh(t @ w), chunk_size=3)(y),
    "jacrev by two": lambda g, f, x, w, y: f.jacrev(lambda a, b: a @ b, (0, 1))(y, w),
    "jacrev of two": lambda g, f, x, w, y: f.jacrev(lambda t: (t * 2, t @ w))(y),
    "jacfwd": lambda g, f, x, w, y: f.jacfwd(lambda t: g.tanh(t @ w))(y),
    "jacfwd by two": lambda g, f, x, w, y: f.jacfwd(lambda a, b: a @ b, (0, 1))(y, w),
    "jacfwd of two": lambda g, f, x, w, y: f.jacfwd(lambda t: (t * 2, t @ w))(y),
    "hessian": lambda g, f, x, w, y: f.hessian(wave)(y),
    "grad of grad": lambda g, f, x, w, y: f.grad(lambda s: (f.grad(wave)(s) ** 2).sum())(y),
    "vmap of grad": lambda g, f, x, w, y: f.vmap(f.grad(loss(g)), (None, 0))(w, x),
    "vmap of vmap": lambda g, f, x, w, y: f.vmap(lambda a: f.vmap(lambda b: (a * b).sum())(x))(x),
    "vmap of jacrev": lambda g, f, x, w, y: f.vmap(f.jacrev(lambda t: g.softmax(t @ w, 0)))(x),
    "vmap of jacfwd": lambda g, f, x, w, y: f.vmap(f.jacfwd(lambda t: g.softmax(t @ w, -1)))(x),
    "vmap of jvp": lambda g, f, x, w, y: f.vmap(
        lambda r: f.jvp(lambda t: (t**3).sin(), (r,), (y,))
    )(x),
    "vmap of vjp": lambda g, f, x, w, y: f.vmap(lambda r: f.vjp(g.sin, y)[1](r))(x),
    "vmap of hessian": lambda g, f, x, w, y: f.vmap(f.hessian(wave))(x),
    "jvp of vmap": lambda g, f, x, w, y: f.jvp(
        lambda t: f.vmap(lambda r: r.sin().sum() * r)(t), (x,), (x * 3,)
    ),
    "grad of vmap": lambda g, f, x, w, y: f.grad(
        lambda t: f.vmap(lambda r: r.sin().sum() * r)(t).sum()
    )(x),
    "grad of jvp": lambda g, f, x, w, y: f.grad(
        lambda s: f.jvp(lambda t: (t**3).sin(), (s,), (s * 2,))[1].sum()
    )(y),
    "jvp of grad": lambda g, f, x, w, y: f.jvp(f.grad(wave), (y,), (y * 2,)),
    "jacrev of jacrev": lambda g, f, x, w, y: f.jacrev(f.jacrev(wave))(y),
    "jacrev of jacfwd": lambda g, f, x, w, y: f.jacrev(f.jacfwd(wave))(y),
    "jacfwd of jacfwd": lambda g, f, x, w, y: f.jacfwd(f.jacfwd(wave))(y),
    "three deep": lambda g, f, x, w, y: f.vmap(f.jacrev(f.jacfwd(lambda t: t.sin().sum() * t)))(x),
    "grad of vmap of grad": lambda g, f, x, w, y: f.grad(
        lambda s: f.vmap(f.grad(lambda r, s: (r * s).sin().sum()), (0, None))(x, s).pow(2).sum()
    )(y),
    "grad by a closure": lambda g, f, x, w, y: f.vmap(
        lambda r: f.grad(lambda q: (q * r).sin().sum())(y)
    )(x),
    "an index": lambda g, f, x, w, y: f.vmap(lambda r, i: r[i])(x, g.tensor([0, 1, 2, 0, 1])),
    "two indices": lambda g, f, x, w, y: f.vmap(lambda i: x[i, i % 3])(g.tensor([0, 1, 2, 3, 4])),
    "an index behind": lambda g, f, x, w, y: f.vmap(lambda i: w[:, i])(
        g.tensor([[0, 1], [2, 3], [0, 0]])
    ),
    "gather": lambda g, f, x, w, y: f.vmap(lambda r, i: g.gather(r, 0, i))(
        x, g.tensor([[0, 1], [2, 2], [1, 0], [0, 0], [1, 2]])
    ),
    "writing": lambda g, f, x, w, y: f.vmap(lambda r: written(r * 1))(x),
    "in place": lambda g, f, x, w, y: f.vmap(lambda r: (r * 1).add_(r).mul_(2))(x),
    "cross entropy": lambda g, f, x, w, y: f.vmap(
        f.grad(lambda r, t: g.nn.functional.cross_entropy(r[None], t[None]))
    )(x, g.tensor([0, 1, 2, 0, 1])),
    "reductions": lambda g, f, x, w, y: f.vmap(
        lambda r: r.std() + r.var(0) + r.max() + r.norm() + r.mean() + r.prod() + r.argmax()
    )(x),
    "stack": lambda g, f, x, w, y: f.vmap(lambda r: g.stack([r, y, r.flip(0)], -1))(x),
    "cat": lambda g, f, x, w, y: f.vmap(lambda r: g.cat([r, y]))(x),
    "where, of what is shared and a number": lambda g, f, x, w, y: f.vmap(
        lambda r: g.where(r > 0, y, 0.0)
    )(x),
    "a gradient that is one number": lambda g, f, x, w, y: f.grad(
        lambda t: (g.special.xlog1py(t, -0.5) * 1.0).sum().abs()
    )(y[0]),
    "where": lambda g, f, x, w, y: f.vmap(lambda r: g.where(r > 0, r, g.zeros_like(r)))(x),
    "einsum": lambda g, f, x, w, y: f.vmap(lambda r: g.einsum("i,ij->j", r, w))(x),
    "inverse": lambda g, f, x, w, y: f.vmap(
        lambda r: g.linalg.inv(g.outer(r, r) + g.eye(3, dtype=g.float64))
    )(x),
    "solve": lambda g, f, x, w, y: f.vmap(
        lambda r: g.linalg.solve(g.outer(r, r) + g.eye(3, dtype=g.float64), r)
    )(x),
    "shapes": lambda g, f, x, w, y: f.vmap(
        lambda r: r.expand(2, 3).reshape(-1).view(3, 2).t().unsqueeze(0).squeeze()
    )(x),
    "sort": lambda g, f, x, w, y: f.vmap(lambda r: (g.sort(r)[0], r.topk(2)[0]))(x),
    "sums along": lambda g, f, x, w, y: f.vmap(lambda r: r.cumsum(0) + r.logsumexp(0))(x),
    "new tensors": lambda g, f, x, w, y: f.vmap(lambda r: r.new_ones(3) * r + g.ones_like(r))(x),
    "layer norm": lambda g, f, x, w, y: f.vmap(
        f.grad(lambda r: (g.nn.functional.layer_norm(r, [3]) ** 3).sum())
    )(x),
    "linear": lambda g, f, x, w, y: f.vmap(
        f.grad(lambda w, r: g.nn.functional.linear(r, w.t()).exp().sum()), (None, 0)
    )(w, x),
    "convolution": lambda g, f, x, w, y: f.vmap(
        f.grad(lambda k, r: (g.nn.functional.conv1d(r[None, None], k) ** 2).sum()), (None, 0)
    )(w[:1, :2][None], x),
}


def written(r: Any) -> Any:
    r[0] = r[1] * 5
    r[1:] = r[1:] * 2
    return r


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_pytorch(torch: Any, name: str) -> None:
    import torch.func

    program = PROGRAMS[name]
    ours = program(gs, gs.func, *map(gs.tensor, (X, W, Y)))
    theirs = program(torch, torch.func, *map(torch.tensor, (X, W, Y)))
    compare(ours, theirs)


def compare(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            compare(*pair)
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            compare(ours[key], theirs[key])
    else:
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
        assert not ours.requires_grad
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-12)


REFUSED: dict[str, Program] = {
    "no dimension": lambda g, f, x, w, y: f.vmap(lambda a: a, in_dims=None)(x),
    "no such dimension": lambda g, f, x, w, y: f.vmap(lambda a: a, in_dims=2)(x),
    "another structure": lambda g, f, x, w, y: f.vmap(lambda a: a, in_dims=(0, 0))(x),
    "other sizes": lambda g, f, x, w, y: f.vmap(lambda a, b: a)(x, y),
    "no tensor": lambda g, f, x, w, y: f.vmap(lambda a, b: a)(x, 3),
    "no tensor returned": lambda g, f, x, w, y: f.vmap(lambda a: 3)(x),
    "no arguments": lambda g, f, x, w, y: f.vmap(lambda: x)(),
    "a value read": lambda g, f, x, w, y: f.vmap(lambda r: r.sum().item())(x),
    "a condition": lambda g, f, x, w, y: f.vmap(lambda r: r if r.sum() > 0 else -r)(x),
    "writing to what is shared": lambda g, f, x, w, y: f.vmap(lambda r: y.add_(r))(x),
    "a mask": lambda g, f, x, w, y: f.vmap(lambda r: r[r > 0])(x),
    "random numbers": lambda g, f, x, w, y: f.vmap(lambda r: r + g.rand(3))(x),
    "randomness": lambda g, f, x, w, y: f.vmap(lambda r: r, randomness="no")(x),
    "chunks of nothing": lambda g, f, x, w, y: f.vmap(lambda r: r, chunk_size=0)(x),
    "a gradient of a vector": lambda g, f, x, w, y: f.grad(lambda t: t)(y),
    "a gradient of no tensor": lambda g, f, x, w, y: f.grad(lambda t: 3.0)(y),
    "an argument too far": lambda g, f, x, w, y: f.grad(lambda t: t.sum(), 1)(y),
    "no pair": lambda g, f, x, w, y: f.grad(lambda t: t.sum(), has_aux=True)(y),
    "another tangent": lambda g, f, x, w, y: f.jvp(g.sin, (y,), (x,)),
    "two tangents": lambda g, f, x, w, y: f.jvp(g.sin, (y,), (y, y)),
    "no tuple": lambda g, f, x, w, y: f.jvp(g.sin, y, y),
    "another cotangent": lambda g, f, x, w, y: f.vjp(g.sin, y)[1](x),
    "whole numbers": lambda g, f, x, w, y: f.grad(lambda t: t.sum())(g.tensor([1, 2])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_in_pytorch(torch: Any, name: str) -> None:
    import torch.func

    program = REFUSED[name]
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever it is
        program(torch, torch.func, *map(torch.tensor, (X, W, Y)))
    with pytest.raises(theirs.type):
        program(gs, gs.func, *map(gs.tensor, (X, W, Y)))
