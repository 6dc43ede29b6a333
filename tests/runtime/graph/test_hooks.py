"""Hooks of tensors and nodes."""

import pytest

import gradspec as gs


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), requires_grad=True)


def test_a_tensor_hook_sees_the_gradient():
    x = leaf(2.0)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x**2).backward()
    assert seen == [[4.0]]


def test_what_a_tensor_hook_returns_takes_the_place_of_the_gradient():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda grad: grad * 10)
    y.backward()
    assert x.grad.tolist() == [30.0]


def test_tensor_hooks_run_in_order_and_can_be_removed():
    x = leaf(1.0)
    first = x.register_hook(lambda grad: grad + 1)
    x.register_hook(lambda grad: grad * 2)
    (x * 1).backward()
    assert x.grad.tolist() == [4.0]
    first.remove()
    first.remove()
    x.grad = None
    (x * 1).backward()
    assert x.grad.tolist() == [2.0]


def test_a_hook_that_changes_the_shape_is_refused():
    x = leaf(1.0, 2.0)
    x.register_hook(lambda grad: grad.sum())
    with pytest.raises(RuntimeError, match="changed the size"):
        (x * 2).sum().backward()


def test_retain_grad_keeps_what_the_hooks_made():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 5)
    (y * 3).backward()
    assert y.retains_grad
    assert y.grad.tolist() == [15.0]
    assert x.grad.tolist() == [30.0]


def test_without_retain_grad_a_result_has_none():
    x = leaf(1.0)
    y = x * 2
    (y * 3).backward()
    with pytest.warns(UserWarning, match=r"The \.grad attribute .* not a leaf Tensor"):
        assert y.grad is None
    assert not y.retains_grad


def test_retain_grad_needs_a_gradient():
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        gs.tensor([1.0]).retain_grad()
    with pytest.raises(RuntimeError, match=r"requires? grad"):
        gs.tensor([1.0]).register_hook(print)


def test_node_hooks_see_both_sides():
    x = leaf(2.0)
    y = x * x
    seen = []
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(
        lambda into, out: seen.append(([g.tolist() for g in into], [g.tolist() for g in out]))
    )
    y.backward()
    assert seen == [([[4.0], [4.0]], [[2.0]])]
    assert x.grad.tolist() == [8.0]


class _Both(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 3


def test_node_hooks_of_a_custom_function_see_the_gradient_of_each_output():
    x = leaf(2.0)
    seen = []
    result = _Both.apply(x)[1]
    result.grad_fn.register_prehook(lambda arriving: seen.append([g is None for g in arriving]))
    result.grad_fn.register_hook(lambda leaving, arriving: (leaving[0] * 10,))
    result.backward()
    assert seen == [[True, False]]
    assert x.grad.tolist() == [30.0]
