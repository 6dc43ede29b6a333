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
