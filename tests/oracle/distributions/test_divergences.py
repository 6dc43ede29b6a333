"""Divergences of every pair of distributions: PyTorch's values, or refused as there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt, observe

pytestmark = pytest.mark.oracle

A, B = ([1.5, 2.0], [0.7, 1.2]), ([1.1, 2.5], [0.9, 1.3])
"""The parameters of the first and of the second distribution."""

MATRIX = [[2.0, 0.3], [0.3, 1.0]]

CASES: dict[str, Any] = {
    "Bernoulli": lambda d, a, b: d.Bernoulli(a / 5),
    "Beta": lambda d, a, b: d.Beta(a, b),
    "Cauchy": lambda d, a, b: d.Cauchy(a, b),
    "Chi2": lambda d, a, b: d.Chi2(a),
    "ContinuousBernoulli": lambda d, a, b: d.ContinuousBernoulli(a / 5),
    "Dirichlet": lambda d, a, b: d.Dirichlet(a),
    "Exponential": lambda d, a, b: d.Exponential(a),
    "Gamma": lambda d, a, b: d.Gamma(a, b),
    "Geometric": lambda d, a, b: d.Geometric(a / 5),
    "Gumbel": lambda d, a, b: d.Gumbel(a, b),
    "HalfCauchy": lambda d, a, b: d.HalfCauchy(a),
    "HalfNormal": lambda d, a, b: d.HalfNormal(a),
    "InverseGamma": lambda d, a, b: d.InverseGamma(a, b),
    "Kumaraswamy": lambda d, a, b: d.Kumaraswamy(a, b),
    "Laplace": lambda d, a, b: d.Laplace(a, b),
    "LogNormal": lambda d, a, b: d.LogNormal(a, b),
    "LogisticNormal": lambda d, a, b: d.LogisticNormal(a, b),
    "Normal": lambda d, a, b: d.Normal(a, b),
    "Pareto": lambda d, a, b: d.Pareto(a, b),
    "Poisson": lambda d, a, b: d.Poisson(a),
    "RelaxedBernoulli": lambda d, a, b: d.RelaxedBernoulli(b[0], a / 5),
    "RelaxedOneHotCategorical": lambda d, a, b: d.RelaxedOneHotCategorical(b[0], a / a.sum()),
    "Uniform": lambda d, a, b: d.Uniform(b / 10, a),
    "Weibull": lambda d, a, b: d.Weibull(a, b),
    "Wishart": lambda d, a, b: d.Wishart(a[0] + 3, a.new_tensor(MATRIX) * b[0]),
    "Independent": lambda d, a, b: d.Independent(d.HalfNormal(a), 1),
    "absolute Cauchy": lambda d, a, b: d.TransformedDistribution(
        d.Cauchy(a * 0, a), d.AbsTransform()
    ),
    "absolute normal": lambda d, a, b: d.TransformedDistribution(
        d.Normal(a - 1, b), [d.AbsTransform()]
    ),
    "exponential of normal": lambda d, a, b: d.TransformedDistribution(
        d.Normal(a, b), d.ExpTransform()
    ),
    "exponential of Laplace": lambda d, a, b: d.TransformedDistribution(
        d.Laplace(a, b), d.ExpTransform()
    ),
    "logistic": lambda d, a, b: d.TransformedDistribution(
        d.Uniform(a * 0, a * 0 + 1), d.SigmoidTransform().inv
    ),
}


def made(library: Any, name: str, parameters: Any) -> Any:
    a, b = (library.tensor(each, dtype=library.float64) for each in parameters)
    return CASES[name](library.distributions, a, b)


@pytest.mark.parametrize("name", CASES)
def test_every_pair(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        p, divergence = made(library, name, A), library.distributions.kl_divergence
        return {
            other: attempt(lambda other=other: divergence(p, made(library, other, B)))
            for other in CASES
        }

    assert_same(behaviour, torch)


@pytest.mark.parametrize("name", CASES)
def test_what_they_are(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        d, p = library.distributions, made(library, name, A)
        shape = p.expand((3, 2)) if p.batch_shape else p.expand((3,))
        return [
            *(isinstance(p, kind) for kind in (d.TransformedDistribution, d.ExponentialFamily)),
            [repr(transform) for transform in getattr(p, "transforms", [])],
            attempt(lambda: [p.has_rsample, list(p.rsample((2,)).shape)]),
            [list(part) for part in (shape.batch_shape, shape.event_shape, shape.sample().shape)],
        ]

    assert_same(behaviour, torch)


def test_natural_parameters(torch: Any) -> None:
    """Compare these, and the entropies that they define."""

    def behaviour(library: Any) -> Any:
        family = library.distributions.ExponentialFamily
        found = []
        for name in ("Beta", "ContinuousBernoulli", "Dirichlet", "Gamma", "Normal", "Wishart"):
            p = made(library, name, A)
            found += [*p._natural_params, p._log_normalizer(*p._natural_params)]
            found.append(attempt(lambda p=p: family.entropy(p)))
        return [attempt(each.detach) if hasattr(each, "detach") else each for each in found]

    assert_same(behaviour, torch)


def test_a_batch_of_wishart_matrices_is_a_batch_of_divergences(torch: Any) -> None:
    """PyTorch, which adds up the batch there, knows those of single ones."""

    def divergences(library: Any, parts: list[slice | int]) -> Any:
        d = library.distributions
        df = library.tensor([4.0, 5.5, 3.2], dtype=library.float64)
        matrix = library.tensor(MATRIX, dtype=library.float64)
        return [
            d.kl_divergence(d.Wishart(df[i], matrix), d.Wishart(5.0, matrix * 2)) for i in parts
        ]

    ours = divergences(gs, [slice(None)])[0]
    theirs = [each.item() for each in divergences(torch, [0, 1, 2])]
    np.testing.assert_allclose(ours.detach().numpy(), theirs, rtol=1e-10)


def test_subclasses_have_the_divergences_of_their_bases(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        own = type("Own", (d.Exponential,), {})
        a = library.tensor(A[0], dtype=library.float64)
        return [
            d.kl_divergence(kind(a), d.Gumbel(a, a + 1)) for kind in (d.Chi2, own, d.Exponential)
        ]

    assert not isinstance(observe(behaviour, torch), str)
    assert_same(behaviour, torch)
