"""Entries that stand in no table, emitted for JAX: equal to autodiff of their own forward.

What JAX differentiates by itself is the function below the `custom_jvp`: no rule of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradspec_codegen.spec.model import OpSpec
from tests.codegen.targets.agreement import cases_of, numbers_like
from tests.codegen.targets.unseen import Called, calls_of, function_of, module_of, table

pytestmark = pytest.mark.jax

OPS = {op.name: op for op in table().ops}
_CALLS = [(name, number) for name, op in OPS.items() for number, _ in enumerate(cases_of(op))]

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    import jax

    with jax.enable_x64(True):
        yield


def _plain(op: OpSpec) -> Function:
    """The definition alone, with the arguments of the public function."""
    inner = getattr(module_of(op, "jax"), f"{op.signature.name}__with_jvp").__wrapped__

    def call(*given: Any, **named: Any) -> Any:
        return inner(*(tuple(g) if isinstance(g, list) else g for g in (*given, *named.values())))

    return call


def _called(name: str, number: int) -> Called:
    import jax.numpy as jnp

    return list(calls_of(OPS[name], "jax", jnp.asarray))[number]


@pytest.mark.parametrize(("name", "number"), _CALLS)
def test_is_autodiff_of_the_forward(name: str, number: int) -> None:
    """Compiled: values, VJP, JVP, both second orders, a JVP of a JVP, `vmap`, checkpointing."""
    import jax
    import jax.numpy as jnp

    called = _called(name, number)
    inputs = tuple(map(jnp.asarray, called.leaves))
    tangents = tuple(map(jnp.asarray, called.tangents))
    everything = tuple(range(len(inputs)))
    batch = tuple(jnp.stack([x, x * 1.01, x * 0.99]) for x in inputs)

    def answers(function: Function) -> Any:
        call = called.of(function, jnp.asarray)

        def total(*xs: Any) -> Any:
            outputs = call(*xs)
            return sum(
                (jnp.sin(out) * numbers_like(np.empty(out.shape), "w")).real.sum()
                for out in outputs
            )

        def moved(*xs: Any) -> Any:
            return jax.jvp(call, xs, tangents)[1]

        gradient = jax.grad(total, everything)

        @jax.jit
        def everything_of(*xs: Any) -> Any:
            return (
                call(*xs),
                gradient(*xs),
                moved(*xs),
                jax.jvp(moved, xs, tangents)[1],
                jax.jvp(gradient, xs, tangents)[1],
                jax.vjp(gradient, *xs)[1](tangents),
                jax.vmap(call)(*batch),
                jax.vmap(gradient)(*batch),
                jax.vmap(moved)(*batch),
                jax.grad(jax.checkpoint(total), everything)(*xs),
            )

        return jax.tree.leaves(everything_of(*inputs))

    ours = answers(function_of(OPS[name], "jax"))
    for found, expected in zip(ours, answers(_plain(OPS[name])), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def _total(call: Any, *xs: Any) -> Any:
    """The sum of the sizes of all elements of all results."""
    return sum(abs(each).sum() for each in call(*xs))


@pytest.mark.parametrize("name", OPS)
def test_single_precision(name: str) -> None:
    """Results, gradients and tangents keep the precision of the arguments, also without x64."""
    import jax
    import jax.numpy as jnp

    called = _called(name, -1)
    single = {"float64": np.float32, "complex128": np.complex64}
    inputs = tuple(leaf.astype(single[leaf.dtype.name]) for leaf in called.leaves)
    tangents = tuple(t.astype(x.dtype) for t, x in zip(called.tangents, inputs, strict=True))
    wide = called.of(function_of(OPS[name], "jax"), jnp.asarray)(*called.leaves)
    wanted = [single[out.dtype.name] for out in wide]
    for double in (True, False):
        with jax.enable_x64(double):
            # Here: indices are whole numbers of the widest kind that this mode has.
            call = called.of(function_of(OPS[name], "jax"), jnp.asarray)
            out, moved = jax.jvp(call, inputs, tangents)
            assert [each.dtype for each in out] == wanted
            assert [each.dtype for each in moved] == wanted
            places = tuple(range(len(inputs)))
            found = jax.grad(partial(_total, call), places)(*inputs)
            assert [g.dtype for g in found] == [x.dtype for x in inputs]
