"""The answers of an op that was emitted for JAX, which is imported when they are asked for."""

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
    """Call the emitted function in float64; return its results by the labels of the question.

    JAX transposes without a conjugate; gradients are told by PyTorch's convention, with one.
    """
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        call = caller(spec, function, question, jnp.asarray, jnp.dtype)
        leaves = tuple(jnp.asarray(leaf) for leaf in leaves_of(question))
        weights = tuple(map(jnp.asarray, question.weights))
        cotangents = tuple(map(jnp.asarray, question.cotangents))

        def chosen(*xs: Any) -> tuple[Any, ...]:
            results = call(*xs)
            return tuple(results[i] for i in question.outputs)

        found = dict(zip(map(values_of, question.outputs), chosen(*leaves), strict=True))
        if leaves and question.outputs:
            found |= _derivatives(question, chosen, leaves, cotangents, weights)
        return {label: np.asarray(value) for label, value in found.items()}


def _derivatives(
    question: Question, chosen: Any, leaves: Any, cotangents: Any, weights: Any
) -> dict[str, Any]:
    import jax
    import jax.numpy as jnp

    def conjugates(values: Any) -> tuple[Any, ...]:
        return tuple(map(jnp.conj, values))

    def gradients(xs: Any, cts: Any) -> tuple[Any, ...]:
        results, pull = jax.vjp(chosen, *xs)
        fitting = (c.astype(r.dtype) for c, r in zip(conjugates(cts), results, strict=True))
        return conjugates(pull(tuple(fitting)))

    found = dict(zip(map(gradient_by, question.leaves), gradients(leaves, cotangents), strict=True))
    if any(label.startswith("JVP") for label in question.expected):
        _, tangents = jax.jvp(chosen, leaves, weights)
        found |= dict(zip(map(tangent_of, question.outputs), tangents, strict=True))
    if any(label.startswith("second") for label in question.expected):
        _, pull = jax.vjp(gradients, leaves, cotangents)
        by_leaf, by_cotangent = pull(conjugates(weights))
        found |= dict(zip(map(second_by, question.leaves), conjugates(by_leaf), strict=True))
        labels = map(second_by_cotangent, question.outputs)
        found |= dict(zip(labels, conjugates(by_cotangent), strict=True))
    return found


def of_kernel(spec: OpSpec, function: Callable[..., Any]) -> Iterator[str]:
    """Compare a function that computes the op for JAX at other calls; arrays have one layout."""
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        yield from differences(spec, function, jnp.asarray, jnp.dtype, has_layouts=False)
