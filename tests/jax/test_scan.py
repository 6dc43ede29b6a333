"""`scan` and `fori_loop`, eager and compiled, beside JAX's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.jax

STARTS = np.linspace(-1, 1, 4)
ROWS = np.random.default_rng(0).normal(size=(9, 4))
WEIGHTS = np.random.default_rng(1).normal(size=(4, 4)) / 2


def loss(lib: Any, scan: Any, fori_loop: Any, reverse: bool) -> Any:
    """A recurrent network and a loop that counts, in the dialect of both."""

    def function(start: Any, rows: Any, weights: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            memory, total = state
            memory = lib.tanh(weights @ memory + row)
            return (memory, total + memory * row), {"memory": memory, "row": row * total}

        (memory, total), each = scan(body, (start, start * 0), rows, reverse=reverse)
        grown = fori_loop(1, 8, lambda nr, y: y * 0.5 + nr * memory, total)
        weighted = (each["memory"] * rows).sum() + (each["row"] ** 2).sum()
        return (grown * total).sum() + weighted

    return function


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("backend", ["eager", "numpy", "c"])
def test_values_and_gradients_are_those_of_jax(backend: str, reverse: bool) -> None:
    import jax

    arrays = (STARTS, ROWS, WEIGHTS)
    with jax.enable_x64(True):
        theirs = loss(jax.numpy, jax.lax.scan, jax.lax.fori_loop, reverse)
        value, grads = jax.value_and_grad(theirs, argnums=(0, 1, 2))(*arrays)
    ours = loss(gs, gs.scan, gs.fori_loop, reverse)
    function = ours if backend == "eager" else gs.compile(ours, backend=backend)
    inputs = [gs.from_numpy(array.copy()).requires_grad_() for array in arrays]
    result = function(*inputs)
    result.backward()
    np.testing.assert_allclose(result.item(), value, rtol=1e-11)
    for given, grad in zip(inputs, grads, strict=True):
        np.testing.assert_allclose(given.grad.numpy(), grad, rtol=1e-9, atol=1e-11)
