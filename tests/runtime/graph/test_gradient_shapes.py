"""Gradients of another shape than what they belong to are refused, whatever a node gives."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> gs.Tensor:
    """A leaf whose sine has a gradient of one element."""
    leaf = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    node: Any = type(leaf.sin().grad_fn)
    monkeypatch.setattr(node, "apply", lambda self, grad, needs: (grad[:1],))
    return leaf


def test_backward_refuses_them(wrong: gs.Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"shape \[1\] arrived at a tensor of shape \[3\]"):
        wrong.sin().sum().backward()
    assert wrong.grad is None


def test_grad_refuses_them(wrong: gs.Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"shape \[1\] arrived at a tensor of shape \[3\]"):
        gs.autograd.grad(wrong.sin().sum(), wrong)


def test_a_gradient_comes_in_the_dtype_of_its_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = gs.tensor([1.0, 2.0], requires_grad=True)
    node: Any = type(leaf.sin().grad_fn)
    monkeypatch.setattr(node, "apply", lambda self, grad, needs: (grad.astype("float64"),))
    leaf.sin().sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.dtype == gs.float32


class Doubles(gs.autograd.Function):
    """The identity, whose gradient has more digits than the argument."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.double()


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_have_the_dtype_of_what_they_belong_to(create_graph: bool) -> None:
    x = gs.ones(2, 3, requires_grad=True)
    turned = gs.ones(4, 3, requires_grad=True)[::2].detach().requires_grad_()
    for leaf in (x, turned):
        inner = leaf * 2
        wanted = (leaf, inner)
        found = gs.autograd.grad(Doubles.apply(inner).sum(), wanted, create_graph=create_graph)
        assert [grad.dtype for grad in found] == [gs.float32] * 2
        assert [grad.requires_grad for grad in found] == [False] * 2
        for _ in range(2):
            Doubles.apply(leaf).sum().backward(create_graph=create_graph)
        assert leaf.grad is not None
        assert leaf.grad.dtype == gs.float32
        assert leaf.grad.tolist() == [[2.0] * 3] * 2
