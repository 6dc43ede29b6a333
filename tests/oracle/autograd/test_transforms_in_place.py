"""Function transforms, in each other, of functions that write in place: as in `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]

Write = Callable[[Any, Any, Any], object]
"""Statements of a library's program that change a tensor `y`, and read another, `x`."""


def _set_element(g: Any, y: Any, x: Any) -> None:
    y[0] = x[1] ** 2


def _set_mask(g: Any, y: Any, x: Any) -> None:
    y[g.tensor([True, False, True])] = 2.0


def _add_at(g: Any, y: Any, x: Any) -> None:
    y[g.tensor([0, 2])] += x[:2].exp()


WRITES: dict[str, Write] = {
    "elementwise": lambda g, y, x: y.sin_().add_(x).pow_(3).mul_(2),
    "by what is differentiated": lambda g, y, x: y.mul_(x).div_(x + 3),
    "bounds": lambda g, y, x: y.clamp_(-1, 1).sub_(x),
    "fused": lambda g, y, x: y.addcmul_(x, x, value=0.3).lerp_(x, 0.4),
    "sums": lambda g, y, x: y.cumsum_(0),
    "a part": lambda g, y, x: y[1:].mul_(3).sin_(),
    "a view of a view": lambda g, y, x: y.view(3, 1).transpose(0, 1).pow_(2).add_(x),
    "what it copies": lambda g, y, x: y.copy_(x.cos()),
    "a number": lambda g, y, x: y[:1].fill_(x[2]),
    "zeros": lambda g, y, x: y[:1].zero_(),
    "a mask": lambda g, y, x: y.masked_fill_(g.tensor([True, False, False]), 3.0),
    "scattered": lambda g, y, x: y.scatter_add_(0, g.tensor([1, 1]), x[:2] ** 2),
    "copied to indices": lambda g, y, x: y.index_copy_(0, g.tensor([1, 2]), x[:2] ** 2),
    "an element": _set_element,
    "masked elements": _set_mask,
    "added at indices": _add_at,
}

Transform = Callable[[Any, Any, Any], Any]

TRANSFORMS: dict[str, Transform] = {
    "gradients of examples": lambda f, h, x: f.vmap(f.grad(lambda t: h(t).sum()))(x),
    "the Jacobian of a batch": lambda f, h, x: f.jacrev(f.vmap(h))(x),
    "tangents of examples": lambda f, h, x: f.vmap(lambda t: f.jvp(h, (t,), (t,))[1])(x),
    "a Hessian": lambda f, h, x: f.hessian(lambda t: h(t).sin().sum())(x[0]),
    "Hessians of examples": lambda f, h, x: f.vmap(f.hessian(lambda t: h(t).sin().sum()))(x),
    "the tangent of a Jacobian": lambda f, h, x: f.jvp(f.jacrev(h), (x[0],), (x[1],))[1],
    "twice backward": lambda f, h, x: f.jacrev(f.jacrev(h))(x[0]),
    "batches of batches": lambda f, h, x: f.vmap(f.vmap(h))(x[None]),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_same_numbers(torch: Any, write: Write, transform: Transform) -> None:
    found = []
    for library in (gs, torch):

        def function(x: Any, library: Any = library) -> Any:
            y = x * 2
            write(library, y, x)
            return y * x

        x = library.tensor([[0.3, -0.7, 1.2], [0.6, 0.4, -0.2]], dtype=library.float64)
        found.append(transform(library.func, function, x).detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)
