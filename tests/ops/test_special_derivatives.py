"""Derivatives of the incomplete gamma function by its shape, beside those of mpmath's function."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import gradspec as gs

POINTS = [
    *((0.01, 0.02), (0.3, 1.5), (0.3, 6.0), (1.0, 0.001), (1.5, 2.0), (3.0, 0.4), (3.0, 9.0)),
    *((10.0, 10.0), (15.9, 20.0), (16.1, 8.0), (40.0, 36.0), (300.0, 240.0), (300.0, 330.0)),
]


def _share(x: float) -> object:
    """The share below `x`, or less the one above, by a shape: the smaller has more digits."""

    def call(shape: object) -> object:
        below = mpmath.gammainc(shape, 0, x, regularized=True)
        return below if below < 0.5 else -mpmath.gammainc(shape, x, mpmath.inf, regularized=True)

    return call


@pytest.mark.parametrize(("a", "x"), POINTS)
def test_by_the_shape(a: float, x: float) -> None:
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(_share(x), mpmath.mpf(a), n)) for n in (1, 2)]
    shape, other = (
        gs.tensor([a], dtype=gs.float64, requires_grad=True),
        gs.tensor([x], dtype=gs.float64),
    )
    (slope,) = gs.autograd.grad(gs.igamma(shape, other), shape, create_graph=True)
    (bend,) = gs.autograd.grad(slope, shape)
    np.testing.assert_allclose(slope.item(), expected[0], rtol=1e-11)
    np.testing.assert_allclose(bend.item(), expected[1], rtol=1e-9)


def test_gamma_samples_have_the_moments_of_their_distribution() -> None:
    gs.manual_seed(0)
    shape = gs.full((20000,), 2.5, requires_grad=True)
    sample = gs._standard_gamma(shape)
    assert abs(sample.mean().item() - 2.5) < 0.05
    assert abs(sample.var().item() - 2.5) < 0.12
    # The derivative of the mean by the shape is one.
    sample.mean().backward()
    assert abs(shape.grad.sum().item() - 1) < 0.02


def test_counts_have_the_means_of_their_distributions() -> None:
    gs.manual_seed(0)
    rates = gs.full((20000,), 3.0, requires_grad=True)
    counts = gs.poisson(rates)
    assert abs(counts.mean().item() - 3) < 0.06
    counts.sum().backward()
    assert (rates.grad == 0).all()
    wins = gs.binomial(gs.full((20000,), 8.0), gs.full((20000,), 0.25))
    assert abs(wins.mean().item() - 2) < 0.04
    with pytest.raises(RuntimeError, match="non-negative"):
        gs.poisson(gs.tensor([-1.0]))


def test_polynomials_have_every_derivative() -> None:
    """Derivative of the Legendre polynomial of degree three, (5 x**3 - 3 x) / 2."""
    x = gs.tensor([0.25, -2.0], dtype=gs.float64, requires_grad=True)
    y = gs.special.legendre_polynomial_p(x, 3)
    found = []
    for _ in range(3):
        (y,) = gs.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach().numpy())
    values = x.detach().numpy()
    expected = [(15 * values**2 - 3) / 2, 15 * values, np.full(2, 15.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    of_degree = gs.special.legendre_polynomial_p(
        gs.tensor([0.5]), gs.tensor([3.0], requires_grad=True)
    )
    with pytest.raises(NotImplementedError, match="degrees"):
        of_degree.backward()


def test_leaky_shares_are_drawn_in_training_alone() -> None:
    gs.manual_seed(0)
    x = gs.tensor([-1.0] * 1000 + [2.0], requires_grad=True)
    drawn = gs.nn.functional.rrelu(x, 0.25, 0.5, training=True)
    drawn.sum().backward()
    shares = x.grad[:-1]
    assert 0.25 <= shares.min().item() < 0.26
    assert 0.49 < shares.max().item() <= 0.5
    np.testing.assert_allclose(drawn[:-1].detach().numpy(), -shares.numpy())
    assert (drawn[-1].item(), x.grad[-1].item()) == (2, 1)
    assert gs.nn.RReLU(0.25, 0.75).eval()(gs.tensor([-2.0])).item() == -1
