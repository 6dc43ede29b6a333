"""The example's package for JAX, under `grad`, `jit`, `vmap` and in both precisions."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.meta.source_tree import ROOT

pytestmark = pytest.mark.jax


@pytest.fixture(scope="module")
def ops() -> ModuleType:
    place = ROOT / "examples" / "framework_ops" / "jax_ops"
    spec = importlib.util.spec_from_file_location(
        "jax_ops", place / "__init__.py", submodule_search_locations=[str(place)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["jax_ops"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    import jax

    with jax.enable_x64(True):
        yield


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).uniform(0.25, 1.25, shape)


def _composites() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each op by functions of JAX, and arguments for it."""
    import jax
    import jax.numpy as jnp

    def rms(x: Any, weight: Any) -> Any:
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight

    def turned(x: Any, cos: Any, sin: Any) -> Any:
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate((first * cos - second * sin, second * cos + first * sin), -1)

    return {
        "logit_softcap": (lambda x: 30 * jnp.tanh(x / 30), (_numbers(2, 3),)),
        "squared_relu": (lambda x: jax.nn.relu(x) ** 2, (_numbers(2, 3) - 0.7,)),
        "swiglu": (lambda x, g: x * jax.nn.silu(g), (_numbers(2, 3), _numbers(2, 3) - 0.7)),
        "scaled_rms_norm": (rms, (_numbers(2, 3), _numbers(3))),
        "rotary_embedding": (turned, (_numbers(2, 4), _numbers(2, 2), _numbers(1, 2))),
    }


NAMES = ("logit_softcap", "squared_relu", "swiglu", "scaled_rms_norm", "rotary_embedding")


@pytest.mark.parametrize("name", NAMES)
def test_is_the_composite(ops: ModuleType, name: str) -> None:
    """Values and derivatives of both orders, compiled, are those of JAX's own functions."""
    import jax
    import jax.numpy as jnp

    plain, inputs = _composites()[name]
    inputs = tuple(map(jnp.asarray, inputs))
    everything = tuple(range(len(inputs)))

    def answers(function: Any) -> Any:
        def total(*xs: Any) -> Any:
            return jnp.sin(function(*xs)).sum()

        @jax.jit
        def all_of(*xs: Any) -> Any:
            ones = tuple(map(jnp.ones_like, xs))
            batch = tuple(jnp.stack((x, x + 0.5)) for x in xs)
            return (
                function(*xs),
                jax.grad(total, everything)(*xs),
                jax.jvp(function, xs, ones)[1],
                jax.hessian(total, everything)(*xs),
                jax.vmap(jax.grad(total, everything))(*batch),
                jax.jacrev(jax.jacfwd(total))(*xs),
            )

        return jax.tree.leaves(all_of(*inputs))

    for ours, theirs in zip(answers(getattr(ops, name)), answers(plain), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_float32(ops: ModuleType, name: str) -> None:
    """Single precision stays, in results, gradients and tangents."""
    import jax

    _, inputs = _composites()[name]
    single = tuple(x.astype(np.float32) for x in inputs)
    function = getattr(ops, name)
    assert function(*single).dtype == np.float32
    assert jax.grad(lambda *xs: function(*xs).sum())(*single).dtype == np.float32
    assert jax.jvp(function, single, single)[1].dtype == np.float32


def test_numbers_may_be_traced(ops: ModuleType) -> None:
    """A Scalar may be an argument of `jit` and of `vmap`, and has no gradient."""
    import jax
    import jax.numpy as jnp

    x = jnp.asarray(_numbers(3))
    caps = jnp.asarray([10.0, 30.0])
    batched = jax.vmap(jax.jit(ops.logit_softcap), (None, 0))(x, caps)
    np.testing.assert_allclose(batched[1], ops.logit_softcap(x))
    assert jax.grad(lambda cap: ops.logit_softcap(x, cap).sum())(30.0) == 0


def test_refused_calls(ops: ModuleType) -> None:
    with pytest.raises(NotImplementedError, match="logit_softcap is not implemented for complex"):
        ops.logit_softcap(np.ones(2, complex))
    with pytest.raises(ValueError, match="a vector as long as the last dimension, but got input"):
        ops.scaled_rms_norm(np.ones((2, 3)), np.ones(2))
