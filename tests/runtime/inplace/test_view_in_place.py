"""`t_`, `unsqueeze_` and their like: a tensor that changes its own shape."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf


def state(x):
    return list(x.shape), x._version, x._is_view(), x


def plain(lib):
    x = lib.arange(6.0).reshape(2, 3).clone()
    y = x.t_()
    return y is x, state(x), state(x.unsqueeze_(0)), state(x.squeeze_()), state(x.transpose_(0, 1))


def squeezed(lib):
    x = lib.ones(2, 1, 3, 1)
    first, second = state(x.squeeze_(1)), state(x.swapaxes_(0, 1))
    return first[:2], second[:2], state(x.squeeze_())[:2], state(x.swapdims_(0, 1))


def of_a_leaf(lib):
    a = lib.ones(2, 3, requires_grad=True)
    refused = attempt(lambda: a.t_())
    with lib.no_grad():
        a.t_()
    (a * lib.arange(6.0).reshape(3, 2)).sum().backward()
    return refused, state(a), a.grad


def of_a_result(lib):
    a = leaf(lib, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    x = a.reshape(2, 3) * 2
    x.t_()
    (x * lib.arange(6.0).double().reshape(3, 2)).sum().backward()
    return state(x), a.grad


def saved_before(lib):
    x = leaf(lib, 1.0, 2.0) * 1
    y = x.sin()
    x.unsqueeze_(0)
    return attempt(lambda: (y.sum() + x.sum()).backward())


def of_a_saved_result(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.exp()
    y.unsqueeze_(0)
    return attempt(lambda: y.sum().backward())


def of_a_view(lib):
    a = lib.ones(2, 3, dtype=lib.float64, requires_grad=True)
    b = a * 2
    v = b[0]
    v.unsqueeze_(0)
    names = [v.grad_fn.name(), b.grad_fn.name()]
    v.mul_(3)
    (b.sum() * v.sum()).backward()
    return names, state(v), state(b), a.grad


def of_a_view_of_a_leaf(lib):
    return attempt(lambda: lib.ones(2, 3, requires_grad=True)[0].unsqueeze_(0))


def of_one_of_several(lib):
    return attempt(lambda: (leaf(lib, 1.0, 2.0) * 1).unbind()[0].unsqueeze_(0))


def a_base_with_a_view(lib):
    a = lib.ones(2, 3, dtype=lib.float64, requires_grad=True)
    b = a * 2
    v = b.view(6)
    b.t_()
    b[0] *= 5
    (v * lib.arange(6.0).double()).sum().backward()
    return state(b), state(v), a.grad


def retained(lib):
    b = leaf(lib, 1.0, 2.0) * 2
    b.retain_grad()
    b.unsqueeze_(0)
    (b * 3).sum().backward()
    return b.grad


def misused(lib):
    return (
        attempt(lambda: lib.ones(2, 3, 4).t_()),
        attempt(lambda: lib.ones(2).unsqueeze_(5)),
        attempt(lambda: lib.ones(2).transpose_(0, 3)),
    )


def twice_differentiated(lib):
    a = leaf(lib, 1.0, 2.0)
    x = a * a
    x.unsqueeze_(0)
    (first,) = lib.autograd.grad((x * x).sum(), a, create_graph=True)
    return first, lib.autograd.grad(first.sum(), a)


BEHAVIOURS = [
    *(plain, squeezed, of_a_leaf, of_a_result, saved_before, of_a_saved_result, of_a_view),
    *(of_a_view_of_a_leaf, of_one_of_several, a_base_with_a_view, retained, misused),
    twice_differentiated,
]


@pytest.mark.oracle
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda function: function.__name__)
def test_behaviour_is_that_of_pytorch(torch, behaviour):
    assert_same(behaviour, torch)


def test_the_gradient_goes_through_the_change():
    a = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = a * 2
    assert x.t_() is x
    assert x.tolist() == [[2, 6], [4, 8]]
    assert x.grad_fn.name() == "TBackward1"
    (x * gs.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert a.grad.tolist() == [[2, 6], [4, 8]]


def test_a_dual_is_refused():
    ad = gs.autograd.forward_ad
    with ad.dual_level():
        dual = ad.make_dual(gs.ones(2, 3), gs.ones(2, 3))
        with pytest.raises(NotImplementedError, match="not supported"):
            dual.t_()


@pytest.mark.oracle
@pytest.mark.parametrize("call", ["t_()", "transpose_(0, 1)", "unsqueeze_(0)", "squeeze_()"])
def test_a_view_that_is_turned_without_gradients(torch, call):
    def behaviour(lib):
        x = leaf(lib, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
        view = (x * 1).view(2, 3)
        with lib.no_grad():
            eval(f"view.{call}", {"view": view})
        weights = lib.arange(1.0, 7.0).view(view.shape)
        return view, lib.autograd.grad((view * weights).sum(), x)

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["unbind", "view_as", "custom"])
@pytest.mark.parametrize("grad_then", [True, False])
@pytest.mark.parametrize("grad_now", [True, False])
def test_a_restricted_view_in_every_mode(torch, kind, grad_then, grad_now):
    def behaviour(lib):
        class Part(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, grad):
                return grad

        base = lib.ones(2, 3, requires_grad=True).clone()
        with lib.set_grad_enabled(grad_then):
            makers = {"unbind": lambda: base.unbind()[0], "view_as": lambda: base.view_as(base)}
            view = makers.get(kind, lambda: Part.apply(base))()
        with lib.set_grad_enabled(grad_now):
            refused = attempt(lambda: list(view.unsqueeze_(0).shape))
        return refused, list(view.shape), attempt(lambda: view.add_(1))

    assert_same(behaviour, torch)


def test_a_result_that_is_turned_without_gradients():
    x = gs.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    with gs.no_grad():
        y.t_()
    weights = gs.arange(6.0).reshape(3, 2)
    (grad,) = gs.autograd.grad((y * weights).sum(), x)
    assert grad.tolist() == (2 * weights.t()).tolist()


def test_a_saved_tensor_that_was_detached_is_named_so():
    x = gs.ones(2, requires_grad=True).clone()
    y = x.sin()
    x.detach_()
    with pytest.raises(RuntimeError, match="saved tensor that has been detached in-place: Sin"):
        y.sum().backward()
    z = x.requires_grad_().clone()
    w = z.sin()
    z.detach_().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        w.sum().backward()
