"""The answers of an op that was emitted for JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradspec_codegen.spec.model import OpSpec
from tests.codegen.targets.agreement import (
    Answers,
    differentiable,
    numbers_like,
    placed,
    positional,
    taken,
)
from tests.ops.cases import Arguments, variables


def jax_answers(op: OpSpec, function: Any, arguments: Arguments) -> Answers:
    """Call the emitted function on float64."""
    with jax.enable_x64(True):
        return _answers(op, function, arguments)


def _answers(op: OpSpec, function: Any, arguments: Arguments) -> Answers:
    places = variables(op, arguments)

    def run(*leaves: Any) -> list[Any]:
        given = placed(arguments, places, list(leaves), jnp.asarray)
        args, keywords = positional(op, given)
        out = function(*args, **keywords)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    leaves = tuple(jnp.asarray(a) for a in taken(arguments, places))
    structure = jax.eval_shape(lambda *xs: run(*xs), *leaves)
    wanted = differentiable(op, [np.empty(each.shape, each.dtype) for each in structure])

    def weights(arrays: Any, word: str) -> tuple[Any, ...]:
        return tuple(jnp.asarray(numbers_like(np.empty(x.shape), word)) for x in arrays)

    def chosen(*xs: Any) -> tuple[Any, ...]:
        out = run(*xs)
        return tuple(out[i] for i in wanted)

    def gradients(*xs: Any) -> tuple[Any, ...]:
        values, pull = jax.vjp(chosen, *xs)
        found: tuple[Any, ...] = pull(weights(values, "cotangent"))
        return found

    def weighted(*xs: Any) -> Any:
        found = gradients(*xs)
        return sum((w * g).sum() for w, g in zip(weights(found, "second"), found, strict=True))

    @jax.jit
    def everything(*xs: Any) -> tuple[Any, ...]:
        if not xs or not wanted:
            return run(*xs), (), (), ()
        _, tangents = jax.jvp(chosen, xs, weights(xs, "tangent"))
        second = jax.grad(weighted, tuple(range(len(xs))))(*xs)
        return run(*xs), gradients(*xs), tangents, second

    values, first, tangents, second = (list(map(np.asarray, x)) for x in everything(*leaves))
    return Answers(values, first, tangents, second)
