"""Numbers, dtypes and signs for which eager ops have a way of their own: programs take it, too."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs

BACKENDS = ("numpy", "c")
OF_SCIPY = ("erf", "erfc", "erfinv", "digamma", "lgamma", "i0", "sinc", "logit")
"""Functions that SciPy computes, but for the last two."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OF_SCIPY)
def test_half_precision_stays_what_it_is(name: str, backend: str) -> None:
    def call(x: gs.Tensor) -> gs.Tensor:
        found: gs.Tensor = getattr(gs, name)(x)
        return found

    numbers = np.array([0.125, 0.5, 0.75], np.float16)
    x, y = (gs.tensor(numbers, requires_grad=True) for _ in range(2))
    expected = call(x)
    found = gs.compile(call, backend=backend)(y)
    assert found.dtype == expected.dtype == np.float16
    np.testing.assert_array_equal(found.numpy(force=True), expected.numpy(force=True))
    expected.sum().backward()
    found.sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    np.testing.assert_array_equal(y.grad.numpy(), x.grad.numpy())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, -1, 0])
def test_powers_at_infinities_and_zeros(exponent: float, dtype: str, backend: str) -> None:
    numbers = np.array([np.inf, -np.inf, 0.0, -0.0, np.nan, 4.0, -4.0], dtype)
    x, y = (gs.tensor(numbers, requires_grad=True) for _ in range(2))
    expected = x**exponent
    found = gs.compile(lambda x: x**exponent, backend=backend)(y)
    (wanted,) = gs.autograd.grad(expected.sum(), x)
    (grad,) = gs.autograd.grad(found.sum(), y)
    for ours, theirs in ((found, expected), (grad, wanted)):
        np.testing.assert_array_equal(ours.numpy(force=True), theirs.numpy(force=True))
