"""Distributions have PyTorch's densities, moments and divergences; samples have their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt


@pytest.fixture(autouse=True)
def _validated() -> None:
    """PyTorch's compiler, once used, leaves its checks of arguments turned off."""
    import torch

    torch.distributions.Distribution.set_default_validate_args(True)


A = [[0.5, 2.0, 1.5], [3.0, 0.7, 4.0]]
B = [1.5, 0.8, 2.5]
MATRIX = [[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]]

FACTOR = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, -0.64, 0.6]]


def tensor(library: Any, values: Any) -> Any:
    return library.tensor(values, dtype=library.float64, requires_grad=True)


def covariance(library: Any) -> Any:
    return library.tensor(MATRIX, dtype=library.float64)


CASES: dict[str, tuple[Any, Any]] = {
    "Normal": (lambda d, lib, a, b: d.Normal(a, b), [0.3, -1.0, 2.5]),
    "Laplace": (lambda d, lib, a, b: d.Laplace(a, b), [0.3, -1.0, 2.5]),
    "Cauchy": (lambda d, lib, a, b: d.Cauchy(a, b), [0.3, -1.0, 2.5]),
    "Gumbel": (lambda d, lib, a, b: d.Gumbel(a, b), [0.3, 1.0, 2.5]),
    "Uniform": (lambda d, lib, a, b: d.Uniform(a - 4, a + b), [0.3, -1.0, 1.2]),
    "Exponential": (lambda d, lib, a, b: d.Exponential(a * b), [0.3, 0.1, 2.5]),
    "Gamma": (lambda d, lib, a, b: d.Gamma(a, b), [0.3, 0.1, 2.5]),
    "Beta": (lambda d, lib, a, b: d.Beta(a, b), [0.3, 0.1, 0.9]),
    "StudentT": (lambda d, lib, a, b: d.StudentT(a * 2, b, a), [0.3, -0.1, 2.5]),
    "Chi2": (lambda d, lib, a, b: d.Chi2(a + b), [0.3, 0.1, 2.5]),
    "FisherSnedecor, without moments": (
        lambda d, lib, a, b: d.FisherSnedecor(a * 2, b * 2),
        [0.3, 0.1, 2.5],
    ),
    "FisherSnedecor": (lambda d, lib, a, b: d.FisherSnedecor(a * 2, b * 10), [0.3, 0.1, 2.5]),
    "ContinuousBernoulli": (lambda d, lib, a, b: d.ContinuousBernoulli(a / 5), [0.0, 0.3, 1.0]),
    "ContinuousBernoulli, about one half": (
        lambda d, lib, a, b: d.ContinuousBernoulli(0.4995 + a / 4000, lims=(0.49, 0.51)),
        [0.1, 0.3, 0.7],
    ),
    "ContinuousBernoulli, logits": (
        lambda d, lib, a, b: d.ContinuousBernoulli(logits=a - b),
        [0.1, 0.3, 0.7],
    ),
    "Wishart": (lambda d, lib, a, b: d.Wishart(b + 4, covariance(lib)), MATRIX),
    "Wishart, precision": (
        lambda d, lib, a, b: d.Wishart(a + 4, precision_matrix=covariance(lib)),
        MATRIX,
    ),
    "Wishart, factor": (
        lambda d, lib, a, b: d.Wishart(
            a.sum() + 3.123, scale_tril=covariance(lib).tril() * 1.037 * b[:, None, None]
        ),
        MATRIX,
    ),
    "LKJCholesky": (lambda d, lib, a, b: d.LKJCholesky(3, b), FACTOR),
    "LogNormal": (lambda d, lib, a, b: d.LogNormal(a, b), [0.3, 0.1, 2.5]),
    "HalfNormal": (lambda d, lib, a, b: d.HalfNormal(a * b), [0.3, 0.1, 2.5]),
    "Poisson": (lambda d, lib, a, b: d.Poisson(a * b), [0.0, 1.0, 4.0]),
    "Bernoulli": (lambda d, lib, a, b: d.Bernoulli(a / 5), [0.0, 1.0, 1.0]),
    "Bernoulli, logits": (lambda d, lib, a, b: d.Bernoulli(logits=a - 1), [0.0, 1.0, 1.0]),
    "Categorical": (lambda d, lib, a, b: d.Categorical(a), [0.0, 2.0]),
    "Categorical, logits": (lambda d, lib, a, b: d.Categorical(logits=a), [[0.0, 2.0], [1.0, 1.0]]),
    "Dirichlet": (lambda d, lib, a, b: d.Dirichlet(a), [0.2, 0.5, 0.3]),
    "MultivariateNormal": (
        lambda d, lib, a, b: d.MultivariateNormal(a, covariance(lib)),
        [0.3, -1.0, 2.5],
    ),
    "MultivariateNormal, precision": (
        lambda d, lib, a, b: d.MultivariateNormal(a, precision_matrix=covariance(lib)),
        [0.3, -1.0, 2.5],
    ),
    "MultivariateNormal, factor": (
        lambda d, lib, a, b: d.MultivariateNormal(b, scale_tril=covariance(lib).tril()),
        [0.3, -1.0, 2.5],
    ),
    "HalfCauchy": (lambda d, lib, a, b: d.HalfCauchy(a * b), [0.3, 0.1, 2.5]),
    "Weibull": (lambda d, lib, a, b: d.Weibull(a, b + 1), [0.3, 0.1, 2.5]),
    "Pareto": (lambda d, lib, a, b: d.Pareto(a, b + 2), [3.5, 4.1, 5.5]),
    "Kumaraswamy": (lambda d, lib, a, b: d.Kumaraswamy(a, b), [0.3, 0.1, 0.9]),
    "InverseGamma": (lambda d, lib, a, b: d.InverseGamma(a + 2, b), [0.3, 0.1, 2.5]),
    "LogisticNormal": (lambda d, lib, a, b: d.LogisticNormal(a, b), [0.2, 0.1, 0.3, 0.4]),
    "Geometric": (lambda d, lib, a, b: d.Geometric(a / 5), [0.0, 1.0, 4.0]),
    "Geometric, logits": (lambda d, lib, a, b: d.Geometric(logits=a - 1), [0.0, 1.0, 4.0]),
    "Binomial": (lambda d, lib, a, b: d.Binomial(5, a / 5), [0.0, 1.0, 4.0]),
    "Binomial, logits": (lambda d, lib, a, b: d.Binomial(5, logits=a - b), [0.0, 5.0, 4.0]),
    "NegativeBinomial": (lambda d, lib, a, b: d.NegativeBinomial(b, a / 5), [0.0, 1.0, 4.0]),
    "OneHotCategorical": (lambda d, lib, a, b: d.OneHotCategorical(a), [0.0, 1.0, 0.0]),
    "Multinomial": (lambda d, lib, a, b: d.Multinomial(6, a), [1.0, 1.0, 4.0]),
    "VonMises": (lambda d, lib, a, b: d.VonMises(a - 2, b), [0.3, -1.0, 2.5]),
    "MixtureSameFamily": (
        lambda d, lib, a, b: d.MixtureSameFamily(d.Categorical(a), d.Normal(a, b)),
        [0.3, -1.0],
    ),
    "mixture of vectors": (
        lambda d, lib, a, b: d.MixtureSameFamily(
            d.Categorical(logits=a[:, 0]), d.Independent(d.Normal(a, b), 1)
        ),
        [0.3, -1.0, 2.5],
    ),
    "LowRankMultivariateNormal": (
        lambda d, lib, a, b: d.LowRankMultivariateNormal(b, a.mT, b),
        [0.3, -1.0, 2.5],
    ),
    "LogitRelaxedBernoulli": (
        lambda d, lib, a, b: d.relaxed_bernoulli.LogitRelaxedBernoulli(b, a / 5),
        [0.3, -1.1, 2.9],
    ),
    "ExpRelaxedCategorical": (
        lambda d, lib, a, b: d.relaxed_categorical.ExpRelaxedCategorical(b[:1].sum(), a),
        [-1.6, -0.7, -1.2],
    ),
    "RelaxedBernoulli": (lambda d, lib, a, b: d.RelaxedBernoulli(b, a / 5), [0.3, 0.1, 0.9]),
    "RelaxedOneHotCategorical": (
        lambda d, lib, a, b: d.RelaxedOneHotCategorical(b[:1].sum(), a),
        [0.2, 0.5, 0.3],
    ),
    "Independent": (lambda d, lib, a, b: d.Independent(d.Normal(a, b), 1), [0.3, -1.0, 2.5]),
    "transformed": (
        lambda d, lib, a, b: d.TransformedDistribution(
            d.Normal(a, b), [d.AffineTransform(1.0, -2.0), d.SigmoidTransform()]
        ),
        [0.3, 0.1, 0.9],
    ),
    "transformed twice": (
        lambda d, lib, a, b: d.TransformedDistribution(
            d.Uniform(a * 0, a * 0 + 1), [d.SigmoidTransform().inv, d.AffineTransform(a, b)]
        ),
        [0.3, -1.0, 2.5],
    ),
    "transformed events": (
        lambda d, lib, a, b: d.TransformedDistribution(
            d.MultivariateNormal(a, covariance(lib)), [d.AffineTransform(0.5, b, event_dim=1)]
        ),
        [0.3, -1.0, 2.5],
    ),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_densities_and_moments(torch, name):
    make, points = CASES[name]

    def behaviour(library: Any) -> Any:
        a, b = tensor(library, A), tensor(library, B)
        distribution = make(library.distributions, library, a, b)
        value = library.tensor(points, dtype=library.float64)
        facts = [
            list(distribution.batch_shape),
            list(distribution.event_shape),
            type(distribution).__name__,
        ]

        def entry(compute: Any) -> Any:
            found = attempt(compute)
            if isinstance(found, str):
                return found
            grads = "no gradient"
            if found.requires_grad:
                total = found[found.isfinite()].sum()
                grads = library.autograd.grad(total, (a, b), retain_graph=True, allow_unused=True)
            return [found.detach(), grads]

        for property_name in ("mean", "mode", "variance", "stddev"):
            facts.append(entry(lambda p=property_name: getattr(distribution, p)))
        facts.append(entry(lambda: distribution.log_prob(value)))
        facts.append(entry(lambda: distribution.entropy()))
        facts.append(entry(lambda: distribution.enumerate_support()))
        if not {"Gamma", "Chi2", "InverseGamma"} & {
            name
        }:  # whose cdf is an op that is not here yet
            facts.append(entry(lambda: distribution.cdf(value)))
        facts.append(entry(lambda: distribution.icdf(library.tensor([0.1, 0.5, 0.8]).double())))
        larger = distribution.expand((4, *distribution.batch_shape))
        facts += [list(larger.batch_shape), entry(lambda: larger.log_prob(value))]
        return facts

    assert_same(behaviour, torch)


WITHOUT_MEAN = {
    "LKJCholesky",
    "FisherSnedecor, without moments",
    "HalfCauchy",
    "LogisticNormal",
    "VonMises",  # whose mean is a direction
    "LogitRelaxedBernoulli",
    "ExpRelaxedCategorical",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
}


@pytest.mark.parametrize("name", CASES)
def test_samples_have_the_moments(name):
    make, _ = CASES[name]
    gs.manual_seed(0)
    a, b = tensor(gs, A), tensor(gs, B)
    a = tensor(gs, np.array(A) + 0.9)
    distribution = make(gs.distributions, gs, a, b)
    drawn = distribution.sample((40_000,))
    assert drawn.shape == (40_000, *distribution.batch_shape, *distribution.event_shape)
    assert not drawn.requires_grad
    distribution.log_prob(drawn)  # within the support
    if name in WITHOUT_MEAN:
        return
    if name == "Cauchy":
        np.testing.assert_allclose(np.median(drawn.numpy(), 0), a.detach().numpy(), atol=0.1)
    elif name.startswith("Categorical"):
        for category in range(3):
            share = (drawn.numpy() == category).mean(0)
            np.testing.assert_allclose(
                share, distribution.probs.detach().numpy()[:, category], atol=0.02
            )
    elif not name.startswith("transformed"):
        mean, deviation = distribution.mean.detach().numpy(), distribution.stddev.detach().numpy()
        bound = 5 * deviation / np.sqrt(40_000)
        assert (np.abs(drawn.numpy().mean(0) - mean) < bound).all()


@pytest.mark.parametrize(
    "name",
    [
        *("Normal", "Laplace", "Gumbel", "Uniform", "Exponential", "LogNormal", "HalfNormal"),
        *("Cauchy", "Gamma", "Beta", "Dirichlet", "StudentT", "Chi2", "FisherSnedecor"),
        *("InverseGamma", "ContinuousBernoulli", "Wishart, factor"),
    ],
)
def test_gradients_flow_through_samples(name):
    make, _ = CASES[name]
    a, b = tensor(gs, A), tensor(gs, B)
    distribution = make(gs.distributions, gs, a, b)
    gs.manual_seed(3)
    drawn = distribution.rsample((5,))
    weights = gs.tensor(np.random.default_rng(5).normal(size=drawn.shape))
    total = (drawn * weights).sum()
    grad = gs.autograd.grad(total, a)[0].numpy()
    step = 1e-6
    for place in np.ndindex(2, 3):
        change = np.zeros((2, 3))
        change[place] = step
        slopes = []
        for sign in (1, -1):
            gs.manual_seed(3)
            shifted = make(gs.distributions, gs, a + gs.tensor(sign * change), b).rsample((5,))
            slopes.append(((shifted * weights).sum() - total).item() / (sign * step))
        np.testing.assert_allclose([grad[place]] * 2, slopes, rtol=1e-3, atol=1e-4)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [0.3, 1.0, 4.0, 60.0])
def test_gradients_of_gamma_variates(torch, shape):
    gs.manual_seed(1)
    concentration = gs.full((50,), shape, dtype=gs.float64, requires_grad=True)
    drawn = gs.distributions.Gamma(concentration, 1.0).rsample()
    drawn.sum().backward()
    theirs = torch._standard_gamma_grad(
        torch.full((50,), shape, dtype=torch.float64), torch.tensor(drawn.tolist()).double()
    )
    # PyTorch interpolates: its table has three digits.
    np.testing.assert_allclose(concentration.grad.numpy(), theirs.numpy(), rtol=3e-3)


def test_gradients_of_shares_have_the_mean_of_those_of_the_mean():
    gs.manual_seed(2)
    concentration = gs.tensor([0.7, 2.0, 4.0], dtype=gs.float64, requires_grad=True)
    weights = gs.tensor([1.0, -2.0, 0.5])
    drawn = gs.distributions.Dirichlet(concentration).rsample((20_000,))
    found = gs.autograd.grad((drawn * weights).sum(-1).mean(), concentration)[0]
    expected = gs.autograd.grad(
        (concentration / concentration.sum() * weights).sum(), concentration
    )[0]
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=0.01)


PAIRS = [
    *("Normal", "Laplace", "Gumbel", "Exponential", "Gamma", "Beta", "LogNormal", "HalfNormal"),
    *("HalfCauchy", "Poisson", "Bernoulli", "Categorical", "Dirichlet", "MultivariateNormal"),
    "Independent",
]


@pytest.mark.oracle
@pytest.mark.parametrize("name", PAIRS)
def test_divergences(torch, name):
    make, _ = CASES[name]

    def behaviour(library: Any) -> Any:
        a, b = tensor(library, A), tensor(library, B)
        d = library.distributions
        p, q = make(d, library, a, b), make(d, library, a.flip(0) + 0.3, b)
        found = d.kl_divergence(p, q)
        return found, library.autograd.grad(found.sum(), a)

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_other_divergences(torch):
    def behaviour(library: Any) -> Any:
        d = library.distributions
        a, b = tensor(library, A), tensor(library, B)

        class Own(d.Normal):
            pass

        @d.register_kl(Own, d.Normal)
        def own(p: Any, q: Any) -> Any:
            return p.loc * 0 + 7

        found = [
            d.kl_divergence(d.Uniform(a, a + 1), d.Normal(a, b)),
            d.kl_divergence(d.Uniform(a, a + 1), d.Uniform(a - 1, a + 2)),
            d.kl_divergence(d.Uniform(a, a + 1), d.Uniform(a + 0.5, a + 2)),
            d.kl_divergence(Own(a, b), d.Normal(a, b)),
            d.kl_divergence(d.Normal(a, b), Own(a, b)),
            attempt(lambda: d.kl_divergence(d.Normal(a, b), d.Poisson(b))),
        ]
        return [item.detach() if hasattr(item, "detach") else item for item in found]

    assert_same(behaviour, torch)


WRONG: dict[str, Any] = {
    "scale": lambda d, lib: d.Normal(0.0, -1.0),
    "not checked": lambda d, lib: d.Normal(0.0, -1.0, validate_args=False).scale,
    "number that is none": lambda d, lib: d.Normal(float("nan"), 1.0),
    "text": lambda d, lib: d.Normal("0", 1.0),
    "bounds": lambda d, lib: d.Uniform(1.0, 0.0),
    "probability": lambda d, lib: d.Bernoulli(1.5),
    "both": lambda d, lib: d.Bernoulli(0.5, 0.5),
    "neither": lambda d, lib: d.Categorical(),
    "one number": lambda d, lib: d.Categorical(lib.tensor(0.5)),
    "value": lambda d, lib: d.Exponential(1.0).log_prob(lib.tensor(-1.0)),
    "no tensor": lambda d, lib: d.Exponential(1.0).log_prob(1.0),
    "category": lambda d, lib: d.Categorical(lib.ones(3)).log_prob(lib.tensor(3)),
    "half": lambda d, lib: d.Poisson(1.0).log_prob(lib.tensor(0.5)),
    "shape": lambda d, lib: d.Normal(lib.zeros(2), 1.0).log_prob(lib.zeros(3)),
    "event": lambda d, lib: d.Dirichlet(lib.ones(3)).log_prob(lib.ones(2) / 2),
    "no simplex": lambda d, lib: d.Dirichlet(lib.ones(3)).log_prob(lib.ones(3)),
    "matrix": lambda d, lib: d.MultivariateNormal(lib.zeros(2), -lib.eye(2)),
    "no matrix": lambda d, lib: d.MultivariateNormal(lib.zeros(2)),
    "factor": lambda d, lib: d.MultivariateNormal(lib.zeros(2), scale_tril=lib.ones(2, 2)),
    "dimensions": lambda d, lib: d.Independent(d.Normal(0.0, 1.0), 1),
    "transforms": lambda d, lib: d.TransformedDistribution(d.Normal(0.0, 1.0), [3]),
    "no samples with gradients": lambda d, lib: d.Poisson(1.0).rsample(),
    "numbers alone": lambda d, lib: list(d.Normal(0.0, 1.0).sample((2,)).shape),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(torch, name):
    assert_same(lambda library: attempt(lambda: WRONG[name](library.distributions, library)), torch)


def test_only_distributions_are_registered():
    with pytest.raises(TypeError, match="Expected a subclass of Distribution"):
        gs.distributions.register_kl(int, gs.distributions.Normal)


@pytest.mark.oracle
def test_transforms(torch):
    def behaviour(library: Any) -> Any:
        d = library.distributions
        x = tensor(library, [0.5, 1.2, 2.0])
        found = []
        for transform in (
            d.ExpTransform(),
            d.SigmoidTransform(),
            d.TanhTransform(),
            d.SoftplusTransform(),
            d.PowerTransform(1.7),
            d.AffineTransform(1.0, -2.0),
            d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.0, 3.0)]),
            d.ExpTransform().inv,
        ):
            y = transform(x)
            found.append(
                [y, transform.inv(y), transform.log_abs_det_jacobian(x, y), float(transform.sign)]
            )
        found = [[f.detach() if hasattr(f, "detach") else f for f in row] for row in found]
        return [
            found,
            d.ExpTransform() == d.ExpTransform(),
            d.ExpTransform() == d.TanhTransform(),
            attempt(lambda: d.ExpTransform(cache_size=5)),
        ]

    assert_same(behaviour, torch)
