"""Strides of the gradients of leaves: PyTorch's promises, and checks of the arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

LEAVES: dict[str, Callable[[Any], Any]] = {
    "in order": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "turned": lambda x: x.permute(1, 2, 0),
    "with gaps": lambda x: x[:, :, ::2],
    "expanded": lambda x: x[:1, :1, :1].expand(2, 3, 4),
    "turned, with gaps": lambda x: x[:, :, ::2].permute(2, 0, 1),
}
COTANGENTS: dict[str, Callable[[Any, Any], Any]] = {
    "in order": lambda lib, shape: lib.ones(*shape).double(),
    "turned": lambda lib, shape: lib.ones(*shape[::-1]).double().permute(2, 1, 0),
    "expanded": lambda lib, shape: lib.ones(1, 1, 1).double().expand(*shape),
    "with gaps": lambda lib, shape: lib.ones(*shape[:2], 2 * shape[2]).double()[:, :, ::2],
}


def strides(tensor: Any) -> list[int]:
    """Nothing depends on the steps between elements that are not there."""
    return [step for step, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


def gradient(lib: Any, leaf: str, cotangent: str, create_graph: bool, passes: int) -> Any:
    x = LEAVES[leaf](lib.tensor(np.arange(24.0).reshape(2, 3, 4))).detach().requires_grad_()
    for _ in range(passes):
        grad = COTANGENTS[cotangent](lib, x.shape).requires_grad_(create_graph)
        (x * 1.0).backward(grad, create_graph=create_graph)
    return x.grad


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:Using backward.*with create_graph")
@pytest.mark.parametrize(("passes", "create_graph"), [(1, False), (2, False), (1, True)])
@pytest.mark.parametrize("cotangent", COTANGENTS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_strides_of_gradients(
    torch: Any, leaf: str, cotangent: str, create_graph: bool, passes: int
) -> None:
    ours, theirs = (gradient(lib, leaf, cotangent, create_graph, passes) for lib in (gs, torch))
    assert strides(ours) == strides(theirs)
    names = [
        g.grad_fn and g.grad_fn.name().removeprefix("torch::autograd::") for g in (ours, theirs)
    ]
    assert names[0] == names[1]


def test_a_gradient_lies_as_a_permuted_parameter_does() -> None:
    x = gs.zeros(2, 3, 4).permute(1, 2, 0).requires_grad_()
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.stride() == x.stride() == (4, 1, 12)


def test_a_gradient_of_a_part_lies_in_order() -> None:
    x = gs.zeros(2, 6)[:, ::2].detach().requires_grad_()
    x.t().backward(gs.ones(3, 2))
    assert x.grad is not None
    assert x.grad.is_contiguous()
