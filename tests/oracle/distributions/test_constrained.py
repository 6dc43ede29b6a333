"""Transforms of vectors, and from unconstrained numbers to constraints, are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

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
