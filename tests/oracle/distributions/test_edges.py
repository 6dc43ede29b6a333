"""Distributions at the edges: single numbers, impossible events, small shapes, subclasses."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt
from .test_distributions import tensor

SINGLE: dict[str, Any] = {
    "Normal": lambda d: d.Normal(0.0, 1.0),
    "Laplace": lambda d: d.Laplace(0.0, 1.0),
    "Gumbel": lambda d: d.Gumbel(0.0, 1.0),
    "Uniform": lambda d: d.Uniform(0.0, 1.0),
    "LogNormal": lambda d: d.LogNormal(0.0, 1.0),
    "HalfNormal": lambda d: d.HalfNormal(1.0),
    "Kumaraswamy": lambda d: d.Kumaraswamy(1.0, 2.0),
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_sample_of_a_single_number(name: str) -> None:
    distribution = SINGLE[name](gs.distributions)
    assert distribution.sample().shape == ()
    assert distribution.rsample((3,)).shape == (3,)


def _of_two(library: Any, name: str, p: Any, q: Any) -> Any:
    d = library.distributions
    make = {
        "Bernoulli": d.Bernoulli,
        "Binomial": lambda probs: d.Binomial(3, probs),
        "Poisson": d.Poisson,
        "Geometric": lambda probs: d.Geometric(probs + 1e-30),
        "ContinuousBernoulli": d.ContinuousBernoulli,
    }[name]
    return d.kl_divergence(make(p), make(q))


IMPOSSIBLE = {
    ("Bernoulli", 0.0, 0.5): math.log(2),
    ("Bernoulli", 1.0, 1.0): 0.0,
    ("Bernoulli", 0.5, 0.0): math.inf,
    ("Bernoulli", 0.5, 1.0): math.inf,
    ("Bernoulli", 1.0, 0.0): math.inf,
    ("Binomial", 1.0, 1.0): 0.0,  # PyTorch: nan
    ("Binomial", 1.0, 0.5): 3 * math.log(2),  # PyTorch: -inf
    ("Poisson", 0.0, 2.0): 2.0,  # PyTorch: nan
    ("Geometric", 0.0, 0.0): 0.0,
    ("Geometric", 1.0, 1.0): 0.0,
    ("Geometric", 0.5, 1.0): math.inf,
}
"""Divergences of the distributions of two parameters, by their definition."""


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_divergences_of_impossible_events(case: tuple[str, float, float]) -> None:
    name, *parameters = case
    p, q = (gs.tensor(value, dtype=gs.float64) for value in parameters)
    assert _of_two(gs, name, p, q).item() == pytest.approx(IMPOSSIBLE[case], abs=1e-12)


def test_binomials_of_more_trials(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d, half = library.distributions, library.tensor([0.5])
        few, many = d.Binomial(3, half), d.Binomial(4, half)
        pairs = (few, many), (many, few)
        return [attempt(lambda pair=pair: d.kl_divergence(*pair)) for pair in pairs]

    assert_same(behaviour, torch)


def test_log_probabilities_near_one() -> None:
    d = gs.distributions
    logits = gs.tensor([20.0, -20.0], requires_grad=True)
    found = d.Bernoulli(logits=logits).log_prob(gs.tensor([1.0, 0.0]))
    found.sum().backward()
    # log(1 - x) is -x here, and the derivative of log(sigmoid(20)) is 1 - sigmoid(20).
    np.testing.assert_allclose(found.detach().numpy(), -np.exp([-20.0, -20.0]), rtol=1e-6)
    assert logits.grad is not None
    np.testing.assert_allclose(logits.grad.numpy(), np.exp(-20.0) * np.array([1, -1]), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_continuous_bernoulli_of_large_logits(torch: Any, dtype: str) -> None:
    def behaviour(library: Any) -> Any:
        kind = getattr(library, dtype)
        logits = library.tensor([-1e30, -50.0, 0.0, 50.0, 1e30], dtype=kind)
        of_logits = library.distributions.ContinuousBernoulli(logits=logits)
        values = [library.tensor(value, dtype=kind) for value in (0.0, 0.25, 1.0)]
        return [
            *(of_logits.log_prob(value) for value in values),
            *(of_logits.cdf(value) for value in values),
            *(of_logits.mean, of_logits.variance, of_logits.entropy()),
        ]

    assert_same(behaviour, torch)


def test_entropy_of_a_rare_success() -> None:
    # For small p the entropy of the waiting time is 1 - log(p).
    entropy = gs.distributions.Geometric(gs.tensor(1e-30)).entropy()
    assert entropy.item() == pytest.approx(1 + 30 * math.log(10), rel=1e-6)


AT_THE_ENDS: dict[str, Any] = {
    "RelaxedBernoulli": lambda d, x: d.RelaxedBernoulli(x[0], x / 4).log_prob,
    "ContinuousBernoulli": lambda d, x: (
        lambda value: d.ContinuousBernoulli(x / 4, validate_args=False).cdf(value - 1 / (1 - value))
    ),
    "LogNormal": lambda d, x: d.LogNormal(x, x).cdf,
    "Weibull": lambda d, x: d.Weibull(x, x).cdf,
    "Pareto": lambda d, x: lambda value: d.Pareto(x, x).log_prob(1 / value + 3),
    "affine": lambda d, x: (
        lambda value: d.TransformedDistribution(d.Normal(x, x), d.AffineTransform(2.0, x)).log_prob(
            1 / value
        )
    ),
}


@pytest.mark.parametrize("name", AT_THE_ENDS)
def test_at_the_ends_of_the_support(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        function = AT_THE_ENDS[name](library.distributions, tensor(library, [0.5, 2.0]))
        values = [library.tensor(value, dtype=library.float64) for value in (0.0, 1.0)]
        return [attempt(lambda value=value: function(value).detach()) for value in values]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_shares_of_small_shapes(dtype: Any) -> None:
    gs.manual_seed(3)
    shape = gs.full((200_000,), 0.01, dtype=dtype, requires_grad=True)
    drawn = gs.distributions.Beta(shape, 0.01).rsample()
    values = drawn.detach().numpy()
    # Symmetric, with nearly all of the mass at the ends, which themselves are never drawn.
    assert ((values > 0) & (values < 1)).all()
    assert (values < 0.1).mean() == pytest.approx(0.5, abs=0.02)
    assert (values > 0.9).mean() == pytest.approx(0.5, abs=0.02)
    drawn.sum().backward()
    assert shape.grad is not None
    # The derivative of the mean a / (a + b) by a at a = b = 0.01.
    assert np.isfinite(shape.grad.numpy()).all()
    assert shape.grad.numpy().mean() == pytest.approx(25, rel=0.1)


def test_batch_shapes_of_mixtures_broadcast() -> None:
    d = gs.distributions
    for weights, parts in (
        ((4, 1), (4, 5, 2)),
        ((1,), (5, 2)),
        ((4, 5), (1, 2)),
        ((5,), (4, 5, 2)),
    ):
        shape = np.broadcast_shapes(weights, parts[:-1])
        means = gs.arange(math.prod(parts)).reshape(parts).double()
        mixture = d.MixtureSameFamily(d.Categorical(gs.ones(*weights, 2)), d.Normal(means, 1.0))
        assert mixture.batch_shape == shape
        expected = np.broadcast_to(means.numpy().mean(-1), shape)
        np.testing.assert_array_equal(mixture.mean.numpy(), expected)
        assert mixture.sample((3,)).shape == (3, *shape)
        assert mixture.log_prob(gs.zeros(shape)).shape == shape
    with pytest.raises(ValueError, match="is not compatible with"):
        d.MixtureSameFamily(d.Categorical(gs.ones(3, 2)), d.Normal(gs.zeros(4, 2), 1.0))


EXPANDED: dict[str, Any] = {
    "Independent": lambda d, x: (d.Independent, (d.Normal(x, x), 1)),
    "MixtureSameFamily": lambda d, x: (d.MixtureSameFamily, (d.Categorical(x), d.Normal(x, x))),
    "LogisticNormal": lambda d, x: (d.LogisticNormal, (x, x)),
    "Weibull": lambda d, x: (d.Weibull, (x, x)),
    "HalfCauchy": lambda d, x: (d.HalfCauchy, (x,)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_subclasses_are_expanded_to_themselves(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        kind, arguments = EXPANDED[name](library.distributions, tensor(library, [0.4, 0.6]))
        own = type("Own", (kind,), {})
        small = own(*arguments)
        large = small.expand((3, *small.batch_shape))
        value = library.full(large.event_shape, 0.5, dtype=library.float64)
        if large.event_shape:
            value = value / value.sum()
        density = large.log_prob(value).detach()
        return [type(large) is own, list(large.batch_shape), density, density.shape]

    assert_same(behaviour, torch)


def test_supports_say_what_is_known_of_them(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d, found = library.distributions, {}
        for name in d.__all__:
            kind = getattr(d, name)
            if isinstance(kind, type) and issubclass(kind, d.Distribution):
                support = kind.support
                if isinstance(support, d.constraints.Constraint):
                    found[name] = [
                        d.constraints.is_dependent(support),
                        attempt(lambda support=support: support.is_discrete),
                        attempt(lambda support=support: support.event_dim),
                    ]
        known = d.constraints.dependent(is_discrete=True)
        return [found, known.is_discrete, attempt(lambda: known.event_dim)]

    assert_same(behaviour, torch)


def test_what_a_subclass_does_not_define(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Own(library.distributions.Distribution):  # type: ignore[misc, name-defined]
            pass

        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            own = Own(validate_args=True)
            own._validate_sample(library.ones(1))
        return [
            ["does not define" in str(warning.message) for warning in given],
            attempt(lambda: own.support),
            attempt(lambda: own.arg_constraints),
        ]

    assert_same(behaviour, torch)


REFUSED: dict[str, Any] = {
    "degrees of freedom": lambda d, lib: d.Chi2(lib.tensor([-1.0, 2.0])),
    "empty interval": lambda d, lib: d.Uniform(lib.ones(1), lib.ones(1)),
    "negative number of trials": lambda d, lib: d.Multinomial(-3, lib.ones(2)),
    "number given to a gamma density": lambda d, lib: d.Chi2(2.0).log_prob(0.5),
    "rows that are not read": lambda d, lib: d.biject_to(d.constraints.lower_cholesky),
    "definite": lambda d, lib: d.biject_to(d.constraints.positive_definite),
    "semidefinite": lambda d, lib: (
        type(d.transform_to(d.constraints.positive_semidefinite)).__name__
    ),
    "values of several numbers": lambda d, lib: d.Independent(
        d.Bernoulli(lib.ones(2) / 2), 1
    ).enumerate_support(),
    "values of one number": lambda d, lib: d.Independent(
        d.Bernoulli(lib.ones(2) / 2), 0
    ).enumerate_support(),
    "bijective": lambda d, lib: [
        getattr(d, name)().bijective
        for name in ("LowerCholeskyTransform", "PositiveDefiniteTransform", "ExpTransform")
    ],
    "inverse of the inverse": lambda d, lib: [
        transform.inv.inv is transform
        for transform in (
            d.ExpTransform(),
            d.ExpTransform().inv,
            d.ComposeTransform([d.ExpTransform()]),
            d.ComposeTransform([d.ExpTransform()]).inv,
        )
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    assert_same(
        lambda library: attempt(lambda: REFUSED[name](library.distributions, library)), torch
    )


@pytest.mark.oracle
def test_the_support_of_a_mixture_is_that_of_all_components(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        low, high = library.tensor([0.0, 1.0]), library.tensor([2.0, 3.0])
        mixture = d.MixtureSameFamily(d.Categorical(library.ones(2)), d.Uniform(low, high))
        inside = library.tensor([1.2, 1.5, 1.9])
        return [
            repr(mixture.support),
            mixture.support.check(library.tensor([0.5, 1.5, 2.5])),
            mixture.log_prob(inside),
            attempt(lambda: mixture.log_prob(library.tensor(0.5))),
        ]

    assert_same(behaviour, torch)


def test_values_of_a_mixture_whose_components_have_other_supports() -> None:
    d = gs.distributions
    parts = d.Uniform(gs.tensor([0.0, 1.0]), gs.tensor([2.0, 2.0]))
    mixture = d.MixtureSameFamily(d.Categorical(gs.ones(2)), parts)
    found = mixture.log_prob(gs.tensor([1.5, 1.25, 1.75])).exp()
    np.testing.assert_allclose(found.numpy(), 0.75, rtol=1e-6)
    assert mixture.support.check(gs.tensor([0.5, 1.5])).tolist() == [False, True]
