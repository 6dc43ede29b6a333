"""Gradients computed inside of a level have tangents: products with the Hessian."""

import gc
from weakref import ref

import pytest

import gradspec as gs


def cube(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * 3 * x**2

    return Cube.apply


def exponential(t):
    class Exponential(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            ctx.save_for_forward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

        @staticmethod
        def jvp(ctx, tangent):
            (y,) = ctx.saved_tensors
            return tangent * y

    return Exponential.apply


def saved_output_written_in_place(t):
    return lambda d: (d * 1).exp_() * d


def write_through_a_view(t):
    def function(d):
        y = d * 1
        y[1:].mul_(d[:1])
        return y**2

    return function


CASES = {
    "function": cube,
    "function that saves its output": lambda t: lambda d: exponential(t)(d) ** 2,
    "in place": saved_output_written_in_place,
    "view": write_through_a_view,
    "softmax": lambda t: lambda d: d.softmax(0)[0],
    "list": lambda t: lambda d: t.cat([d, d * d]).prod(),
    "broadcast": lambda t: lambda d: t.outer(d, d).logsumexp(0) + d[0],
}


def product_with_the_hessian(t, case, create_graph, on_dual):
    with t.autograd.forward_ad.dual_level():
        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        d = t.autograd.forward_ad.make_dual(x, t.tensor([1.0, 1.5], dtype=t.float64))
        y = CASES[case](t)(d).sum()
        (grad,) = t.autograd.grad(y, d if on_dual else x, create_graph=create_graph)
        primal, tangent = t.autograd.forward_ad.unpack_dual(grad)
        return primal.tolist(), tangent.tolist(), tangent.requires_grad


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.parametrize("on_dual", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_as_in_pytorch(torch, case, create_graph, on_dual):
    mine = product_with_the_hessian(gs, case, create_graph, on_dual)
    theirs = product_with_the_hessian(torch, case, create_graph, on_dual)
    assert mine[0] == pytest.approx(theirs[0])
    assert mine[1] == pytest.approx(theirs[1])
    assert mine[2] == theirs[2]


def test_accumulated_gradients_have_tangents_until_the_level_closes():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.autograd.forward_ad.dual_level():
        d = gs.autograd.forward_ad.make_dual(x, gs.tensor([1.0, 1.5]))
        (d**3).sum().backward()
        assert gs.autograd.forward_ad.unpack_dual(x.grad).tangent.tolist() == [6.0, 18.0]
    assert x.grad.tolist() == [3.0, 12.0]
    (x**3).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]


def test_two_leaves_do_not_share_their_recorded_gradient():
    a, b = gs.ones(2, requires_grad=True), gs.ones(2, requires_grad=True)
    (a + b).sum().backward(create_graph=True)
    a.grad.detach().zero_()
    assert b.grad.tolist() == [1.0, 1.0]


def test_graphs_are_freed_without_the_garbage_collector_when_the_level_closes():
    x = gs.ones(2, requires_grad=True)
    gc.disable()
    try:
        with gs.autograd.forward_ad.dual_level():
            y = gs.autograd.forward_ad.make_dual(x, gs.ones(2)).exp()
            node = ref(y.grad_fn)
            gs.autograd.grad(y.sum(), x)
            del y
        assert node() is None
    finally:
        gc.enable()
