"""A backward that works on arrays is differentiable once, and says so the second time."""

import numpy as np
import pytest

from gradspec.autograd import Function, grad
from gradspec.autograd.function import once_differentiable
from gradspec.core.tensor import wrap


class OnceSquare(Function):
    """Its backward works on arrays."""

    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return wrap(2 * a.array * g.array)


def test_once_differentiable():
    x = wrap(np.array([2.0, 3.0])).requires_grad_()
    OnceSquare.apply(x).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    weights = wrap(np.ones(2)).requires_grad_()
    (first,) = grad((OnceSquare.apply(x) * weights).sum(), x, create_graph=True)
    assert first.requires_grad
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked"):
        first.sum().backward()
