"""The answers of an op that was emitted for PyTorch, which is imported when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..spec.model import OpSpec
from .call import caller, leaves_of
from .questions import (
    Array,
    Question,
    gradient_by,
    second_by,
    second_by_cotangent,
    tangent_of,
    values_of,
)
from .target_kernels import differences


def answers(spec: OpSpec, function: Callable[..., Any], question: Question) -> dict[str, Array]:
    """Call the emitted function in float64; return its results by the labels of the question."""
    import torch

    def array(value: Any) -> Any:
        return torch.from_numpy(np.array(value))

    call = caller(spec, function, question, array, lambda name: getattr(torch, name))
    leaves = [array(leaf).requires_grad_() for leaf in leaves_of(question)]
    results = call(*leaves)
    found = {values_of(i): results[i] for i in question.outputs}
    roots = [
        (results[i], array(c).requires_grad_())
        for i, c in zip(question.outputs, question.cotangents, strict=True)
    ]
    asked = [(root, cotangent) for root, cotangent in roots if root.requires_grad]
    weights = [array(weight) for weight in question.weights]
    if leaves and asked:
        gradients = torch.autograd.grad(
            [root for root, _ in asked],
            leaves,
            [cotangent for _, cotangent in asked],
            create_graph=True,
            materialize_grads=True,
        )
        for leaf, gradient in zip(question.leaves, gradients, strict=True):
            found[gradient_by(leaf)] = gradient
        found |= _second(question, leaves, [c for _, c in roots], gradients, weights)
    if leaves and any(label.startswith("JVP") for label in question.expected):
        plain = tuple(leaf.detach() for leaf in leaves)
        tangents = torch.func.jvp(
            lambda *xs: tuple(call(*xs)[i] for i in question.outputs), plain, tuple(weights)
        )[1]
        found |= {
            tangent_of(i): tangent for i, tangent in zip(question.outputs, tangents, strict=True)
        }
    return {label: value.numpy(force=True) for label, value in found.items()}


def of_kernel(spec: OpSpec, function: Callable[..., Any]) -> Iterator[str]:
    """Compare a function that computes the op for PyTorch at other calls."""
    import torch

    return differences(
        spec, function, torch.from_numpy, lambda name: getattr(torch, name), has_layouts=True
    )


def _second(
    question: Question, leaves: list[Any], cotangents: list[Any], gradients: Any, weights: list[Any]
) -> dict[str, Any]:
    """The gradient of the weighted gradients."""
    import torch

    again = [(g, w.to(g.dtype)) for g, w in zip(gradients, weights, strict=True) if g.requires_grad]
    if not again:
        return {}
    both = torch.autograd.grad(
        [gradient for gradient, _ in again],
        [*leaves, *cotangents],
        [weight for _, weight in again],
        materialize_grads=True,
    )
    labels = [
        *(second_by(leaf) for leaf in question.leaves),
        *(second_by_cotangent(i) for i in question.outputs),
    ]
    return dict(zip(labels, both, strict=True))
