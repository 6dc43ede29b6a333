"""Derivatives that were mended for accuracy, beside PyTorch's where those have their digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

ONE: dict[str, tuple[str, np.ndarray[Any, Any]]] = {
    "erf": ("erf", np.linspace(-4, 4, 41)),
    "erfc": ("erfc", np.linspace(-4, 4, 41)),
    "ndtr": ("special.ndtr", np.linspace(-5, 5, 41)),
    "ndtri": ("special.ndtri", np.linspace(0.01, 0.99, 41)),
    "log_ndtr": ("special.log_ndtr", np.linspace(-3, 3, 41)),
    "erfcx": ("special.erfcx", np.linspace(-2, 5, 41)),
    "atan": ("atan", np.linspace(-30, 30, 41)),
    "exp2": ("exp2", np.linspace(-30, 30, 41)),
    "sinc": ("sinc", np.linspace(0.3, 5.2, 41)),
    "i0": ("i0", np.linspace(0.5, 5, 41)),
    "i1": ("special.i1", np.linspace(0.5, 5, 41)),
    "mish": ("nn.functional.mish", np.linspace(-6, 6, 41)),
    "gelu": ("nn.functional.gelu", np.linspace(-4, 4, 41)),
}

TWO = ("atan2", "hypot", "copysign")


def function(library: Any, path: str) -> Callable[..., Any]:
    for name in path.split("."):
        library = getattr(library, name)
    found: Callable[..., Any] = library
    return found


def derivatives(library: Any, path: str, *columns: np.ndarray[Any, Any]) -> list[Any]:
    """The value, the gradients, and the gradients of a sum of these."""
    leaves = [library.tensor(column, requires_grad=True) for column in columns]
    out = function(library, path)(*leaves)
    slopes = library.autograd.grad(out.sum(), leaves, create_graph=True)
    total = sum((n * slope).sum() for n, slope in enumerate(slopes, 1))
    bends = library.autograd.grad(total, leaves) if total.requires_grad else ()
    return [each.detach().numpy() for each in (out, *slopes, *bends)]


@pytest.mark.parametrize("name", ONE)
def test_of_one_argument(torch: Any, name: str) -> None:
    path, x = ONE[name]
    for ours, theirs in zip(derivatives(gs, path, x), derivatives(torch, path, x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", TWO)
def test_of_two_arguments(torch: Any, name: str) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.5, 3, (2, 50)) * rng.choice([-1, 1], (2, 50))
    for ours, theirs in zip(
        derivatives(gs, name, a, b)[:3], derivatives(torch, name, a, b)[:3], strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["hypot", "atan2"])
def test_second_derivatives_of_two_arguments(torch: Any, name: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.uniform(0.5, 3, (2, 50))
    ours, theirs = derivatives(gs, name, a, b)[3:], derivatives(torch, name, a, b)[3:]
    assert len(ours) == len(theirs) == 2
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
@pytest.mark.parametrize("number", [720 + 1j, 400 + 2j, -400 + 0.5j, 1e5 + 1j])
def test_complex_gradients_far_out_are_finite(torch: Any, name: str, number: complex) -> None:
    results = []
    for library in (gs, torch):
        z = library.tensor(np.array([number]), requires_grad=True)
        (slope,) = library.autograd.grad(function(library, name)(z).real.sum(), z)
        results.append(slope.numpy())
    ours, theirs = results
    assert np.isfinite(ours).all()
    # PyTorch's difference of ones has no digits of what is smaller than their rounding.
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-170)
