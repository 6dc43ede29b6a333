"""Checks of properties that gradients of all functions have, such as linearity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..core.node import Node, next_sequence_nr
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from .backward import grad
from .jacobians import (
    GradcheckError,
    components,
    forward_tangents,
    fresh,
    from_components,
    outputs_of,
    zero_tangents,
)

_BATCH_SIZE: Final = 2
"""The size of the batches that are tried."""


class UndefinedGrad(Node):
    """Node that passes no gradient on, as if the output above it were not used."""

    __slots__ = ()

    def __init__(self, grad_node: Node | None) -> None:
        self.next_nodes = (grad_node,)
        self.hooks = None
        self.sequence_nr = next_sequence_nr()

    def apply(self, grad: Any, needs: Sequence[object]) -> tuple[Any, ...]:
        """Return no gradient."""
        return (None,)

    apply_differentiable = apply


def _undefined(output: Tensor) -> Tensor:
    hidden = wrap(output.array)
    hidden.grad_node = UndefinedGrad(output.grad_node)
    return hidden


def _run(func: Callable[..., Any], args: Sequence[Any]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the differentiable outputs, and the inputs that require grad."""
    leaves = fresh(args)
    outputs = [output for output in outputs_of(func, leaves) if output.requires_grad]
    return outputs, [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]


def check_zero_cotangents(func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Check that zero cotangents give zero gradients, as gradients are linear in them."""
    outputs, inputs = _run(func, args)
    if not outputs:
        return
    zeros = [wrap(np.zeros_like(output.array)) for output in outputs]
    for i, found in enumerate(grad(outputs, inputs, zeros, allow_unused=True)):
        if found is not None and np.any(found.array):
            raise GradcheckError(
                f"backward not multiplied by grad_output: the gradient of input {i} is "
                f"{found.array} where all cotangents are zero"
            )


def check_undefined_cotangents(func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Check that gradients can be computed where some, or all, of the outputs were not used."""
    count = len(_run(func, args)[0])
    everything: list[set[int]] = [set(range(count))]
    for undefined in everything + [{nr} for nr in range(count) if count > 1]:
        outputs, inputs = _run(func, args)
        hidden = [_undefined(o) if nr in undefined else o for nr, o in enumerate(outputs)]
        zeros = [wrap(np.zeros_like(output.array)) for output in outputs]
        if not hidden:
            return
        try:
            found = grad(hidden, inputs, zeros, allow_unused=True)
        except RuntimeError as error:
            _warn_of_check("check_undefined_grad")
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: where a gradient is "
                "None, the gradients that depend on it are None or zero"
            ) from error
        if any(gradient is not None and np.any(gradient.array) for gradient in found):
            _warn_of_check("check_undefined_grad")
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero."
            )


def _warn_of_check(switch: str) -> None:
    warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        f"default, but it may break existing callers of this function. Pass {switch}=False to do "
        "without.",
    )


def check_undefined_tangents(func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Check that an input without a tangent is like one with a tangent of zeros."""
    given = zero_tangents(args)
    for i, zeros in enumerate(given):
        if zeros is None:
            continue
        tangents: list[Tensor | None] = [
            None if zero is None else wrap(np.ones_like(zero.array)) for zero in given
        ]
        tangents[i] = zeros
        with_zeros = forward_tangents(func, args, tangents)
        tangents[i] = None
        without = forward_tangents(func, args, tangents)
        for nr, (one, other) in enumerate(zip(with_zeros, without, strict=True)):
            if not np.allclose(one, other, equal_nan=True):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {nr} when input: {i} has "
                    f"an undefined tangent value: {other}, but {one} if it is zero"
                )


def check_batched_cotangents(func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Check that a batch of cotangents gives the gradients that each of them gives."""
    rng = np.random.default_rng(0)
    for nr in range(len(_run(func, args)[0])):
        outputs, inputs = _run(func, args)
        output = outputs[nr]
        size = components(output.array).size
        cotangents = [
            from_components(rng.normal(size=size), output.array) for _ in range(_BATCH_SIZE)
        ]
        each = [
            grad(output, inputs, wrap(cotangent), retain_graph=True, allow_unused=True)
            for cotangent in cotangents
        ]
        try:
            batch = wrap(np.stack(cotangents))
            found = grad(
                output, inputs, batch, retain_graph=True, allow_unused=True, is_grads_batched=True
            )
        except RuntimeError as error:
            raise GradcheckError(
                "gradcheck or gradgradcheck failed while testing batched gradient computation "
                f"of output {nr}: pass check_batched_grad=False to do without"
            ) from error
        for i, batched in enumerate(found):
            rows = [gradients[i] for gradients in each]
            stacked = np.stack([np.zeros(()) if row is None else row.array for row in rows])
            if batched is not None and not np.allclose(batched.array, stacked):
                raise GradcheckError(
                    f"For output {nr} and input {i}: the batched gradient {batched.array} is not "
                    f"what the cotangents give one by one, {stacked}"
                )


def check_batched_tangents(func: Callable[..., Any], args: Sequence[Any]) -> None:
    """Check that tangents are linear in those of each input: a sum gives the sum."""
    rng = np.random.default_rng(0)
    for i, zeros in enumerate(zero_tangents(args)):
        if zeros is None:
            continue
        size = components(zeros.array).size
        drawn = [rng.normal(size=size) for _ in range(_BATCH_SIZE)]
        found = []
        for direction in (*drawn, np.sum(drawn, axis=0)):
            tangents: list[Tensor | None] = [None] * len(args)
            tangents[i] = wrap(from_components(direction, zeros.array))
            found.append(forward_tangents(func, args, tangents))
        for nr, (*each, of_sum) in enumerate(zip(*found, strict=True)):
            if not np.allclose(sum(each), of_sum):
                raise GradcheckError(
                    f"For output {nr} and input {i}: the tangents {each} do not add up to that of "
                    f"their sum, {of_sum}"
                )
