"""Special functions of which PyTorch has no derivative: values, dtypes, layouts, special points.

Derivatives are compared with differences of PyTorch's values.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

POSITIVE = (
    *("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
)
OF_ONE = (
    *("airy_ai", "bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1"),
    *("spherical_bessel_j0", *POSITIVE),
)
KINDS = (
    *("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v"),
    *("chebyshev_polynomial_w", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u"),
    *("shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "hermite_polynomial_h"),
    *("hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
)
LIMITS = {
    # PyTorch has nan for waves far out, and for the exponentials that they are.
    **dict.fromkeys(("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"), (np.inf,)),
    **dict.fromkeys(("modified_bessel_i0", "modified_bessel_i1"), (np.inf,)),
}
"""Infinite arguments at which PyTorch has nan, and this library the limit."""

SHORT_SERIES = ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")
"""Functions whose asymptotic series PyTorch ends after few digits: J0(5.1) is -0.144334747."""

STEP = 2.0**-12


def _points(name: str) -> np.ndarray[Any, Any]:
    found = np.array([0.001, 0.3, 1.0, 2.5, 4.9, 5.1, 8.0, 20.0, 45.0])
    return found if name in POSITIVE else np.concatenate([found, -found])


@pytest.mark.parametrize("name", OF_ONE)
def test_values(name: str) -> None:
    import torch

    x = _points(name)
    mine = getattr(gs.special, name)(gs.tensor(x)).numpy()
    theirs = getattr(torch.special, name)(torch.tensor(x)).numpy()
    rtol, atol = (1e-5, 1e-6) if name in SHORT_SERIES else (1e-11, 1e-15)
    np.testing.assert_allclose(mine, theirs, rtol, atol)
    exact = np.abs(x) < (2 if name in SHORT_SERIES else np.inf)
    np.testing.assert_allclose(mine[exact], theirs[exact], rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("name", OF_ONE)
def test_special_points(name: str) -> None:
    import torch

    x = np.array([0.0, -0.0, 1e-300, 1e-8, -1.0, np.inf, -np.inf, np.nan])
    mine = getattr(gs.special, name)(gs.tensor(x)).numpy()
    theirs = getattr(torch.special, name)(torch.tensor(x)).numpy()
    compared = ~(np.isin(np.abs(x), LIMITS.get(name, ())) & np.isnan(theirs))
    np.testing.assert_allclose(mine[compared], theirs[compared], rtol=1e-12)


@pytest.mark.parametrize("name", OF_ONE)
def test_slopes(name: str) -> None:
    import torch

    function = getattr(torch.special, name)
    x = _points(name)
    x = x[np.abs(x) > 0.1]
    mine = gs.tensor(x, requires_grad=True)
    getattr(gs.special, name)(mine).sum().backward()
    near, far = (
        (function(torch.tensor(x + s)) - function(torch.tensor(x - s))).numpy() / (2 * s)
        for s in (STEP, 2 * STEP)
    )
    expected = (4 * near - far) / 3
    rtol, atol = (1e-5, 1e-5) if name in SHORT_SERIES else (1e-7, 1e-9)
    np.testing.assert_allclose(mine.grad.numpy(), expected, rtol, atol)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("name", OF_ONE)
def test_dtypes(name: str, dtype: str) -> None:
    import torch

    x = np.array([1, 2]).astype(dtype)
    mine = getattr(gs.special, name)(gs.tensor(x)).numpy()
    theirs = getattr(torch.special, name)(torch.tensor(x)).numpy()
    assert mine.dtype == theirs.dtype
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


@pytest.mark.parametrize("name", [*OF_ONE, *KINDS])
def test_layouts(name: str) -> None:
    import torch

    strides = []
    for lib in (gs, torch):
        x = lib.rand(2, 3, 4).permute(2, 0, 1)
        degree = (3,) if name in KINDS else ()
        strides.append(getattr(lib.special, name)(x, *degree).stride())
    assert strides[0] == strides[1]


@pytest.mark.parametrize(("name", "degree"), [*product(KINDS, (-1, 0, 1, 2, 3, 5, 9))])
def test_polynomials(name: str, degree: int) -> None:
    import torch

    x = np.array([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
    mine = getattr(gs.special, name)(gs.tensor(x), degree).numpy()
    theirs = getattr(torch.special, name)(torch.tensor(x), degree).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", KINDS)
def test_degrees_of_tensors_and_numbers(name: str) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        function = getattr(lib.special, name)
        x, n = lib.tensor([0.25, 0.5, 0.75]), lib.tensor([[0], [2], [3]])
        results.append(
            [
                function(x, n),
                function(x.double(), n.double()),
                function(0.5, n),
                function(x, 2.7),
                function(lib.tensor([1, 2]), 2),
            ]
        )
    for mine, theirs in zip(*results, strict=True):
        assert str(mine.dtype) == str(theirs.dtype).removeprefix("torch.")
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_slopes_of_polynomials(name: str) -> None:
    """Beside the slope of the polynomial of degree six through PyTorch's values."""
    import torch

    nodes = np.linspace(-1.0, 1.5, 7)
    values = getattr(torch.special, name)(torch.tensor(nodes), 6).numpy()
    fitted = np.polynomial.Polynomial.fit(nodes, values, 6)
    x = gs.tensor(nodes, requires_grad=True)
    (slope,) = gs.autograd.grad(getattr(gs.special, name)(x, 6).sum(), x, create_graph=True)
    (bend,) = gs.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(slope.detach().numpy(), fitted.deriv()(nodes), rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(bend.numpy(), fitted.deriv(2)(nodes), rtol=1e-7, atol=1e-5)


GAMMA_POINTS = [
    (0.0, 1.0),
    *((1.0, 0.0), (1.0, 2.0), (2.0, np.inf), (np.inf, 1.0), (np.inf, np.inf), (-1.0, 1.0)),
    *((1.0, -1.0), (np.nan, 1.0), (0.0, 0.0), (2.0, 1e10), (1e10, 1e10), (0.5, 0.5), (30.0, 20.0)),
]


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions(name: str) -> None:
    import torch

    a, x = np.array(GAMMA_POINTS).T.copy()
    mine = getattr(gs.special, name)(gs.tensor(a), gs.tensor(x)).numpy()
    theirs = getattr(torch.special, name)(torch.tensor(a), torch.tensor(x)).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_slopes_of_incomplete_gamma_functions(name: str) -> None:
    """By the shape beside differences of PyTorch's values, by the other argument beside its own."""
    import torch

    a = np.array([0.3, 1.0, 1.0, 2.5, 7.0, 20.0, 20.0, 60.0])
    x = np.array([0.2, 0.5, 3.0, 2.0, 9.0, 12.0, 30.0, 55.0])
    shape, other = gs.tensor(a, requires_grad=True), gs.tensor(x, requires_grad=True)
    getattr(gs, name)(shape, other).sum().backward()
    function = getattr(torch, name)
    near, far = (
        (
            function(torch.tensor(a + s), torch.tensor(x))
            - function(torch.tensor(a - s), torch.tensor(x))
        ).numpy()
        / (2 * s)
        for s in (STEP, 2 * STEP)
    )
    np.testing.assert_allclose(shape.grad.numpy(), (4 * near - far) / 3, rtol=1e-8, atol=1e-10)
    theirs = torch.tensor(x, requires_grad=True)
    function(torch.tensor(a), theirs).sum().backward()
    np.testing.assert_allclose(other.grad.numpy(), theirs.grad.numpy(), rtol=1e-11)


def test_zeta() -> None:
    import torch

    s = np.array([0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, np.inf, np.nan, 2.5, -1.0])
    q = np.array([1.0, 1.0, 1.0, 0.0, -1.0, -0.5, -0.5, 2.0, 1.0, -0.5, 1.0])
    mine = gs.special.zeta(gs.tensor(s), gs.tensor(q)).numpy()
    theirs = torch.special.zeta(torch.tensor(s), torch.tensor(q)).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=1e-13)


def test_the_exponent_of_zeta_has_no_derivative() -> None:
    import torch

    for lib in (gs, torch):
        s = lib.tensor([2.0], requires_grad=True)
        with pytest.raises(NotImplementedError):
            lib.special.zeta(s, lib.tensor([3.0])).backward()


@pytest.mark.parametrize("p", [1, 2, 4])
def test_multivariate_gamma(p: int) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x = lib.tensor([2.5, 3.0, 7.0], dtype=lib.float64, requires_grad=True)
        y = lib.special.multigammaln(x, p)
        (grad,) = lib.autograd.grad(y.sum(), x)
        inplace = lib.tensor([2.5, 3.0]).mvlgamma_(p)
        results.append([y.detach().numpy(), grad.numpy(), inplace.numpy()])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6 if mine.dtype == np.float32 else 1e-9)


def test_frexp() -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x = lib.tensor([0.0, -0.0, 1.0, 5.0, 1e-45, -3.0, float("inf")], requires_grad=True)
        mantissa, exponent = lib.frexp(x)
        (grad,) = lib.autograd.grad(mantissa[2:4].sum(), x)
        results.append([mantissa.detach().numpy(), exponent.numpy(), grad.numpy()])
    for mine, theirs in zip(*results, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def test_heaviside() -> None:
    import torch

    results = [
        [
            lib.heaviside(lib.tensor([1.0, 0.0, -1.0, np.nan, -0.0]), lib.tensor(0.5)),
            lib.heaviside(lib.tensor([1, 0, -1]), lib.tensor([5, 6, 7])),
            lib.tensor([True, False]).heaviside(lib.tensor([False, True])),
        ]
        for lib in (gs, torch)
    ]
    for mine, theirs in zip(*results, strict=True):
        assert str(mine.dtype) == str(theirs.dtype).removeprefix("torch.")
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    for lib in (gs, torch):
        with pytest.raises(RuntimeError):
            lib.heaviside(lib.tensor([1]), lib.tensor([1.0]))


def test_polygamma_as_a_method() -> None:
    import torch

    for n in (0, 1, 3):
        mine, theirs = (lib.tensor([1.0, 2.5]).polygamma_(n).numpy() for lib in (gs, torch))
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_gradients_of_gamma_samples() -> None:
    """Beside PyTorch's approximation at the same numbers, which has three digits."""
    import torch

    gs.manual_seed(1)
    shape = gs.rand(500, dtype=gs.float64) * 6 + 0.2
    shape.requires_grad_()
    sample = gs._standard_gamma(shape)
    sample.sum().backward()
    expected = torch._standard_gamma_grad(
        torch.tensor(shape.detach().numpy()), torch.tensor(sample.detach().numpy())
    )
    np.testing.assert_allclose(shape.grad.numpy(), expected.numpy(), rtol=5e-3, atol=1e-6)


def test_airy_of_large_numbers() -> None:
    """Far out all floats are zero; SciPy, which computes the others, has nan there."""
    import torch

    values = [99.5, 1e3, 1e4, 1e7, 1e8, 1e20, 1e300]
    x = gs.tensor(values, dtype=gs.float64, requires_grad=True)
    found = gs.special.airy_ai(x)
    wanted = torch.special.airy_ai(torch.tensor(values, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-10)
    found.sum().backward()
    assert x.grad.numpy()[1:].tolist() == [0.0] * 6


@pytest.mark.parametrize("order", [0, 1])
def test_far_out_scaled_functions_have_slopes(order: int) -> None:
    x = gs.tensor([1e6, 1e9, 2e9, 1e10], dtype=gs.float64, requires_grad=True)
    getattr(gs.special, f"scaled_modified_bessel_k{order}")(x).sum().backward()
    # Both functions are sqrt(pi / 2x) there, but for a share of 1 / x.
    slopes = -np.sqrt(np.pi / 8) * x.detach().numpy() ** -1.5
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-4)
