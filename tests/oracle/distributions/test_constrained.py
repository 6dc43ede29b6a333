"""Transforms of vectors, and from unconstrained numbers to constraints, are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt
from .test_distributions import A, B, tensor

pytestmark = pytest.mark.oracle

VECTORS: dict[str, Any] = {
    "stick breaking": lambda d: d.StickBreakingTransform(),
    "softmax": lambda d: d.SoftmaxTransform(),
    "reshape": lambda d: d.ReshapeTransform((3,), (3, 1)),
    "independent": lambda d: d.IndependentTransform(d.ExpTransform(), 1),
    "composed": lambda d: d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.1, 2.0)]),
    "composed of vectors": lambda d: d.ComposeTransform(
        [d.AffineTransform(0.1, 2.0), d.StickBreakingTransform()]
    ),
    "factors of correlations": lambda d: d.CorrCholeskyTransform(),
    "inverse": lambda d: d.IndependentTransform(d.ExpTransform(), 1).inv,
    "cached": lambda d: d.StickBreakingTransform().with_cache(),
}


@pytest.mark.parametrize("name", VECTORS)
def test_of_vectors(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        transform = VECTORS[name](library.distributions)
        x = tensor(library, A)
        y = transform(x)
        return [
            y.detach(),
            transform.inv(y).detach(),
            attempt(lambda: transform.log_abs_det_jacobian(x, y).detach()),
            list(transform.forward_shape((5, 3))),
            attempt(lambda: list(transform.inverse_shape((5, 3)))),
            [transform.domain.event_dim, transform.codomain.event_dim, transform.bijective],
        ]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize(
    "make",
    [
        lambda c: c.real,
        lambda c: c.positive,
        lambda c: c.greater_than(2.0),
        lambda c: c.less_than(2.0),
        lambda c: c.unit_interval,
        lambda c: c.interval(-1.0, 3.0),
        lambda c: c.simplex,
        lambda c: c.independent(c.positive, 1),
        lambda c: c.boolean,
        lambda c: c.corr_cholesky,
    ],
)
def test_to_constraints(torch: Any, registry: str, make: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        constraint = make(d.constraints)
        transform = getattr(d, registry)(constraint)
        x = tensor(library, A)
        y = transform(x)
        return [y.detach(), constraint.check(y).all().item(), transform.inv(y).detach()]

    assert_same(behaviour, torch)


def test_matrices(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        x = tensor(library, [A[0], A[1], B])
        found = []
        for constraint in (d.constraints.lower_cholesky, d.constraints.positive_definite):
            transform = d.transform_to(constraint)
            y = transform(x)
            found += [y.detach(), constraint.check(y).item(), transform.inv(y).detach()]
        return found

    assert_same(behaviour, torch)


def test_straight_through(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        probs = tensor(library, [0.0, 1.0, 0.0])
        drawn = d.OneHotCategoricalStraightThrough(probs, validate_args=False).rsample((2,))
        (grad,) = library.autograd.grad((drawn * tensor(library, B)).sum(), probs)
        return [drawn.detach(), grad]

    assert_same(behaviour, torch)


def test_pairs_of_other_classes(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        a, b = tensor(library, A), tensor(library, B)
        found = [
            d.kl_divergence(d.Cauchy(a, b), d.Cauchy(b, a)),
            d.kl_divergence(d.Geometric(a / 5), d.Geometric(b / 5)),
            d.kl_divergence(d.Binomial(4, a / 5), d.Binomial(4, b / 5)),
            d.kl_divergence(d.OneHotCategorical(a), d.OneHotCategorical(b)),
            d.kl_divergence(d.Normal(a, b), d.Laplace(b, a)),
            d.kl_divergence(d.Laplace(a, b), d.Normal(b, a)),
            d.kl_divergence(d.Gamma(a, b), d.Exponential(a)),
            d.kl_divergence(d.Exponential(a), d.Gamma(a, b)),
        ]
        return [
            [f.detach(), library.autograd.grad(f.sum(), (a, b), allow_unused=True)] for f in found
        ]

    assert_same(behaviour, torch)


MATRICES: dict[str, Any] = {
    "a factor": [[1.0, 0.0], [0.6, 0.8]],
    "another factor": [[1.0, 0.0], [0.6, 0.7]],
    "indefinite": [[1.0, 2.0], [2.0, 1.0]],
    "singular": [[1.0, 1.0], [1.0, 1.0]],
    "definite": [[2.0, 1.0], [1.0, 2.0]],
    "not symmetric": [[2.0, 1.0], [0.9, 2.0]],
    "not square": [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]],
}


@pytest.mark.parametrize("name", MATRICES)
def test_constraints_of_matrices(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        c, matrix = library.distributions.constraints, library.tensor(MATRICES[name]).double()
        kinds = ("corr_cholesky", "square", "symmetric", "positive_semidefinite")
        return [
            [attempt(lambda k=k: getattr(c, k).check(matrix).item()) for k in kinds],
            [repr(getattr(c, kind)) for kind in kinds],
            attempt(lambda: c.positive_definite.check(matrix).item()),
            [c.is_dependent(c.dependent), c.is_dependent(c.real)],
        ]

    assert_same(behaviour, torch)


CLASSES: dict[str, Any] = {
    "Normal": lambda d, a, b: d.Normal(a, b),
    "Laplace": lambda d, a, b: d.Laplace(a, b),
    "Gumbel": lambda d, a, b: d.Gumbel(a, b),
    "Exponential": lambda d, a, b: d.Exponential(a * b),
    "Gamma": lambda d, a, b: d.Gamma(a, b),
    "Beta": lambda d, a, b: d.Beta(a, b),
    "ContinuousBernoulli": lambda d, a, b: d.ContinuousBernoulli(a / 6),
    "Pareto": lambda d, a, b: d.Pareto(b, 1.1 * a),
    "Uniform": lambda d, a, b: d.Uniform(a / 9 + 0.001, a / 9 + b / 6),
    "Uniform, wide": lambda d, a, b: d.Uniform(-a, b + 1),
    "Poisson": lambda d, a, b: d.Poisson(a),
    "Bernoulli": lambda d, a, b: d.Bernoulli(a / 6),
    "Binomial": lambda d, a, b: d.Binomial(3, a / 6),
}

ELSEWHERE = {("ContinuousBernoulli", "Uniform, wide"), ("Uniform", "ContinuousBernoulli")}
"""Pairs where PyTorch says that the divergence is infinite if an interval is inside of another."""


@pytest.mark.parametrize("q", CLASSES)
@pytest.mark.parametrize("p", CLASSES)
def test_divergences_of_any_two(torch: Any, p: str, q: str) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        a, b = tensor(library, A), tensor(library, B)
        first, second = CLASSES[p](d, a, b), CLASSES[q](d, a.flip(0) + 0.3, b.flip(0))
        found = attempt(lambda: d.kl_divergence(first, second))
        if isinstance(found, str) or not found.isfinite().any():
            return found if isinstance(found, str) else found.detach()
        total = found[found.isfinite()].sum()
        return [found.detach(), library.autograd.grad(total, a)]

    if (p, q) not in ELSEWHERE:
        assert_same(behaviour, torch)


def test_divergences_of_intervals_inside_others() -> None:
    d = gs.distributions
    inside = d.ContinuousBernoulli(gs.tensor([0.2, 0.9]).double())
    whole = d.Uniform(gs.zeros(2).double(), 1.0)
    assert d.kl_divergence(inside, whole).tolist() == pytest.approx((-inside.entropy()).tolist())
    part = d.Uniform(gs.tensor([0.1, 0.5]).double(), gs.tensor([0.4, 1.0]).double())
    points = (
        gs.linspace(0, 1, 20_001, dtype=gs.float64)[:, None] * (part.high - part.low) + part.low
    )
    mean = (part.log_prob(points[:-1]) - inside.log_prob(points)[:-1]).mean(0)
    assert d.kl_divergence(part, inside).tolist() == pytest.approx(mean.tolist(), rel=1e-3)


def test_divergences_of_low_rank(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        a, b = tensor(library, A), tensor(library, B)
        matrix = a.T @ a + library.eye(3)
        dense = d.MultivariateNormal(b, matrix)
        thin = d.LowRankMultivariateNormal(b + 1, a.T, b)
        pairs = [(dense, thin), (thin, dense), (thin, d.LowRankMultivariateNormal(a, a.T, b + 1))]
        found = [d.kl_divergence(*pair) for pair in pairs]
        return [*[f.detach() for f in found], library.autograd.grad(sum(f.sum() for f in found), a)]

    assert_same(behaviour, torch)


def test_at_even_odds(torch: Any) -> None:
    """The derivatives at logits of 0, where a maximum of 0 and the logits has a kink."""

    def behaviour(library: Any) -> Any:
        d = library.distributions
        logits = tensor(library, [0.0, 0.0, 8.0, -8.0])
        one = library.ones(4).double()
        found = []
        for p in (
            d.Bernoulli(logits=logits),
            d.Geometric(logits=logits),
            d.Binomial(3, logits=logits),
            d.NegativeBinomial(3, logits=logits),
        ):
            found.append(p.log_prob(one))
            found.append(attempt(p.entropy))
        tensors = [item for item in found if not isinstance(item, str)]
        grads = [library.autograd.grad(t.sum(), logits, retain_graph=True) for t in tensors]
        return [item if isinstance(item, str) else item.detach() for item in found], grads

    assert_same(behaviour, torch)


def test_constraints_are_shown_with_their_bounds(torch: Any) -> None:
    def shown(library: Any) -> Any:
        c = library.distributions.constraints
        given = (
            *(c.real, c.positive, c.nonnegative, c.unit_interval, c.simplex, c.lower_cholesky),
            *(c.real_vector, c.nonnegative_integer, c.greater_than(0.1), c.greater_than_eq(1)),
            *(c.less_than(2.0), c.interval(0.0, 1.5), c.half_open_interval(0, 1), c.boolean),
            *(c.integer_interval(0, 3), c.multinomial(3), c.dependent, c.positive_definite),
            *(c.independent(c.positive, 2), c.MixtureSameFamilyConstraint(c.positive)),
            *(c.cat([c.real]), c.stack([c.real])),
        )
        return [repr(each) for each in given]

    assert_same(shown, torch)


def test_infinite_moments_at_the_border(torch: Any) -> None:
    def moments(library: Any) -> Any:
        shape = library.tensor([0.5, 1.0, 1.5, 2.0, 3.0])
        found = library.distributions.InverseGamma(shape, library.ones(5))
        return found.mean, found.variance, found.stddev

    assert_same(moments, torch)


def test_composed_transforms_are_shown_with_their_parts(torch: Any) -> None:
    def shown(library: Any) -> Any:
        d = library.distributions
        parts = [d.ExpTransform(), d.IndependentTransform(d.SigmoidTransform(), 1)]
        return [repr(d.ComposeTransform(chosen)) for chosen in (parts, parts[:1], [])]

    assert_same(shown, torch)
