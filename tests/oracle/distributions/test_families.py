"""Exponential families, the generalized Pareto distribution and `utils` are PyTorch's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt
from .test_distributions import A, B, tensor

pytestmark = pytest.mark.oracle

FAMILIES: dict[str, Any] = {
    "Normal": lambda d, a, b: d.Normal(a, b),
    "Exponential": lambda d, a, b: d.Exponential(a),
    "Bernoulli": lambda d, a, b: d.Bernoulli(a / 5),
    "Poisson": lambda d, a, b: d.Poisson(a),
    "Gamma": lambda d, a, b: d.Gamma(a, b),
    "Beta": lambda d, a, b: d.Beta(a, b),
    "Dirichlet": lambda d, a, b: d.Dirichlet(a),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_natural_parameters(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        family = FAMILIES[name](d, tensor(library, A), tensor(library, B))
        params = family._natural_params
        return [
            isinstance(family, d.ExponentialFamily),
            [param.detach() for param in params],
            family._log_normalizer(*params).detach(),
            attempt(lambda: d.ExponentialFamily.entropy(family).detach()),
        ]

    assert_same(behaviour, torch)


def test_a_family_of_ones_own(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions

        class Rayleigh(d.ExponentialFamily):  # type: ignore[misc, name-defined]
            arg_constraints: Any = {}  # noqa: RUF012
            _mean_carrier_measure = 0.25

            def __init__(self, scale: Any) -> None:
                self.scale = scale
                super().__init__(scale.shape, validate_args=False)

            @property
            def _natural_params(self) -> Any:
                return (-0.5 / self.scale**2,)

            def _log_normalizer(self, x: Any) -> Any:
                return -(-2 * x).log()

        p, q = Rayleigh(tensor(library, A)), Rayleigh(tensor(library, B))
        return [
            p.entropy().detach(),
            d.kl_divergence(p, q).detach(),
            attempt(lambda: d.kl_divergence(p, d.Normal(0.0, 1.0))),
            attempt(lambda: p._get_checked_instance(d.ExponentialFamily)),
        ]

    assert_same(behaviour, torch)


@pytest.fixture
def _double(torch: Any) -> Iterator[None]:
    """PyTorch computes these densities in the default dtype only."""
    for library in (gs, torch):
        library.set_default_dtype(library.float64)
    yield
    for library in (gs, torch):
        library.set_default_dtype(library.float32)


@pytest.mark.usefixtures("_double")
def test_generalized_pareto(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        k = tensor(library, [0.4, 0.0, -0.3])
        loc, scale = tensor(library, B), tensor(library, A)
        pareto = d.GeneralizedPareto(loc, scale, k)
        x = tensor(library, [[1.6, 0.9, 3.0], [4.0, 2.0, 2.6]])
        found = [
            *(pareto.log_prob(x), pareto.cdf(x), pareto.log_cdf(x)),
            *(pareto.log_survival_function(x), pareto.icdf(tensor(library, B) / 3)),
            *(pareto.mean, pareto.variance, pareto.mode, pareto.entropy()),
        ]
        slopes = library.autograd.grad(sum(f.sum() for f in found), [loc, scale, k, x])
        heavy = d.GeneralizedPareto(0.0, 1.0, 1.5)
        return [
            *(f.detach() for f in found),
            *slopes,
            [heavy.mean, heavy.variance],
            pareto.support.upper_bound.detach(),
            list(pareto.expand((4, 2, 3)).batch_shape),
            attempt(lambda: d.GeneralizedPareto(0.0, -1.0, 0.0)),
            attempt(lambda: d.GeneralizedPareto(0.0, 1.0, -0.5).log_prob(library.tensor(3.0))),
        ]

    assert_same(behaviour, torch)


def test_samples_of_generalized_pareto() -> None:
    gs.manual_seed(0)
    scale = gs.tensor(2.0, requires_grad=True)
    drawn = gs.distributions.GeneralizedPareto(1.0, scale, 0.1).rsample((20_000,))
    mean = drawn.mean()
    mean.backward()
    assert abs(mean.item() - (1 + 2 / 0.9)) < 0.06
    assert scale.grad is not None
    np.testing.assert_allclose(scale.grad.item(), 1 / 0.9, atol=0.03)


def test_utils(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        u = library.distributions.utils
        a, b = tensor(library, A), tensor(library, B)

        class Thing:
            calls = 0

            @u.lazy_property
            def square(self) -> Any:
                self.calls += 1
                return a**2

        thing = Thing()
        first = thing.square
        return [
            [x.detach() for x in u.broadcast_all(a, b, 2.0)],
            u.logits_to_probs(a).detach(),
            u.logits_to_probs(a, is_binary=True).detach(),
            u.probs_to_logits(a / 10).detach(),
            u.probs_to_logits(a / 10, is_binary=True).detach(),
            u.clamp_probs(a - 1).detach(),
            u.vec_to_tril_matrix(a).detach(),
            u.vec_to_tril_matrix(a, -1).detach(),
            u.tril_matrix_to_vec(u.vec_to_tril_matrix(a)).detach(),
            attempt(lambda: u.vec_to_tril_matrix(a[:, :2])),
            attempt(lambda: u.tril_matrix_to_vec(library.eye(3), 5)),
            [thing.square is first, thing.calls, isinstance(Thing.square, property)],
        ]

    assert_same(behaviour, torch)


MOMENTS: dict[str, Any] = {
    "x": (lambda x: x, lambda a, s: a / s),
    "x²": (lambda x: x**2, lambda a, s: a * (a + 1) / (s * (s + 1))),
    "log x": (lambda x: x.log(), lambda a, s: gs.digamma(a) - gs.digamma(s)),
    "x log x": (
        lambda x: x * x.log(),
        lambda a, s: a / s * (gs.digamma(a + 1) - gs.digamma(s + 1)),
    ),
}


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("family", ["Beta", "Dirichlet"])
def test_gradients_through_samples_are_those_of_means(family: str, name: str) -> None:
    """The derivatives of means of samples by the shapes are those of the exact means."""
    gs.manual_seed(3)
    function, exact = MOMENTS[name]
    shapes = gs.tensor([0.9, 2.5], dtype=gs.float64, requires_grad=True)
    if family == "Beta":
        drawn = gs.distributions.Beta(shapes[0], shapes[1]).rsample((50_000,))
    else:
        drawn = gs.distributions.Dirichlet(shapes).rsample((50_000,))[:, 0]
    (found,) = gs.autograd.grad(function(drawn).mean(), shapes)
    (wanted,) = gs.autograd.grad(exact(shapes[0], shapes.sum()), shapes)
    np.testing.assert_allclose(found.array, wanted.array, rtol=0.01, atol=0.002)


def test_parameters_are_computed_once_and_shown(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        a = library.tensor([[0.2, 0.5], [0.3, 0.9]])
        made = [
            (d.Bernoulli(logits=a), "probs"),
            (d.Binomial(3, probs=a), "logits"),
            (d.Categorical(logits=a), "probs"),
            (d.Categorical(probs=a), "logits"),
            (d.MultivariateNormal(a[0], library.eye(2)), "precision_matrix"),
            (d.Wishart(a[0, 1] + 3, scale_tril=library.eye(2)), "covariance_matrix"),
        ]
        found = []
        for distribution, name in made:
            before = repr(distribution)
            with library.no_grad():
                value = getattr(distribution, name)
            shown = [text.replace("gradspec", "torch") for text in (before, repr(distribution))]
            found.append([getattr(distribution, name) is value, *shown])
        return found

    assert_same(behaviour, torch)


def test_a_parameter_read_without_gradients_has_one(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        logits = library.tensor([0.5, -0.5], requires_grad=True)
        distribution = library.distributions.Categorical(logits=logits)
        with library.no_grad():
            distribution.probs  # noqa: B018
        distribution.probs[0].backward()
        return logits.grad

    assert_same(behaviour, torch)
