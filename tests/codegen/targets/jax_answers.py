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
    """What the emitted function answers on float64."""
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
    answers = Answers(list(map(np.asarray, run(*leaves))))
    wanted = differentiable(op, answers.values)
    if not leaves or not wanted:
        return answers
    cotangents = tuple(jnp.asarray(numbers_like(answers.values[i], "cotangent")) for i in wanted)

    def chosen(*xs: Any) -> tuple[Any, ...]:
        out = run(*xs)
        return tuple(out[i] for i in wanted)

    def gradients(*xs: Any) -> tuple[Any, ...]:
        _, pull = jax.vjp(chosen, *xs)
        found: tuple[Any, ...] = pull(cotangents)
        return found

    def weighted(*xs: Any) -> Any:
        terms = (
            (jnp.asarray(numbers_like(np.empty(g.shape), "second")) * g).sum()
            for g in gradients(*xs)
        )
        return sum(terms)

    answers.gradients = list(map(np.asarray, gradients(*leaves)))
    tangents = tuple(jnp.asarray(numbers_like(np.asarray(x), "tangent")) for x in leaves)
    answers.tangents = list(map(np.asarray, jax.jvp(chosen, leaves, tangents)[1]))
    positions = tuple(range(len(leaves)))
    answers.second = list(map(np.asarray, jax.grad(weighted, positions)(*leaves)))
    return answers
