"""Comparison of a compiled function with the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradspec as gs
from gradspec.func.trees import leaves_of


def arrays_of(tree: Any) -> list[Any]:
    """The arrays of the tensors in a structure."""
    return [leaf.array if isinstance(leaf, gs.Tensor) else leaf for leaf in leaves_of(tree)]


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    """Compare structures of tensors: dtypes, shapes, and numbers to the last bit, or nearly so."""
    ours, theirs = arrays_of(found), arrays_of(expected)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, np.ndarray):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
        else:
            assert one == other


def assert_gradients_same(
    compiled: Callable[..., Any],
    function: Callable[..., Any],
    inputs: list[Any],
    parameters: Any = (),
    rtol: float = 0.0,
) -> None:
    """Compare the first result, and its gradients by the inputs and parameters that have one."""
    wanted = [x for x in (*inputs, *parameters) if x.requires_grad]
    rng = np.random.default_rng(0)
    answers = []
    for call in (compiled, function):
        result = leaves_of(call(*inputs))[0]
        if not answers:
            cotangent = gs.from_numpy(
                np.asarray(rng.normal(size=result.shape)).astype(result.dtype)
            )
        answers.append([result, *gs.autograd.grad(result, wanted, cotangent, allow_unused=True)])
    assert_same(answers[0], answers[1], rtol)
