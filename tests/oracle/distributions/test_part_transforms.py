"""Transforms of parts, user's own transforms, and constraints of parts are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same, attempt
from .test_distributions import A, B, tensor

pytestmark = pytest.mark.oracle

PARTS: dict[str, Any] = {
    "cat": lambda d: d.CatTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)], 1, [1, 2]),
    "cat, pieces of one": lambda d: d.CatTransform([d.ExpTransform(), d.TanhTransform()]),
    "cat, from the end": lambda d: d.CatTransform(
        [d.ExpTransform(), d.TanhTransform()], -1, [2, 1]
    ),
    "cat of events": lambda d: d.CatTransform(
        [d.IndependentTransform(d.ExpTransform(), 1), d.ExpTransform()]
    ),
    "cat, cached": lambda d: d.CatTransform([d.ExpTransform()] * 2, cache_size=1),
    "stack": lambda d: d.StackTransform([d.ExpTransform(), d.SoftplusTransform()]),
    "stack, last": lambda d: d.StackTransform(
        [d.ExpTransform(), d.TanhTransform(), d.SigmoidTransform()], -1
    ),
    "cumulative": lambda d: d.CumulativeDistributionTransform(d.Exponential(0.7)),
    "inverse of a composition": lambda d: (
        d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.1, 2.0)]).inv.inv
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        transform = PARTS[name](library.distributions)
        x = tensor(library, A)
        y = transform(x)
        change = transform.log_abs_det_jacobian(x, y)
        (slope,) = library.autograd.grad((y**2).sum() + change.sum(), x)
        return [
            y.detach(),
            transform.inv(y).detach(),
            change.detach(),
            slope,
            [transform.event_dim, transform.domain.event_dim, transform.bijective],
            transform.domain.check(x),
            transform.codomain.check(y.detach()),
        ]

    assert_same(behaviour, torch)


def test_pieces_that_do_not_fit(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        parts = [d.ExpTransform(), d.TanhTransform()]
        joined = [d.CatTransform(parts, 1), d.StackTransform(parts, 1)]
        return [type(attempt(lambda t=t: t(tensor(library, A)))) is str for t in joined]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_constraints_of_parts(torch: Any, registry: str) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        c = d.constraints
        found = []
        for constraint in (
            c.cat([c.positive, c.unit_interval], 1, [2, 1]),
            c.stack([c.real, c.less_than(2.0)], 0),
        ):
            transform = getattr(d, registry)(constraint)
            x = tensor(library, A)
            y = transform(x).detach()
            found += [y, constraint.check(y), constraint.check(x), transform.inv(y).detach()]
            found += [constraint.event_dim, constraint.is_discrete]
        mixed = c.MixtureSameFamilyConstraint(c.greater_than(tensor(library, B)))
        return [*found, mixed.check(tensor(library, [1.0, 4.0])), mixed.event_dim]

    assert_same(behaviour, torch)


def coupling(library: Any, cache_size: int = 0) -> Any:
    """Make a transform of one's own that takes the last dimension as one."""
    d = library.distributions

    class Coupling(d.Transform):  # type: ignore[misc, name-defined]
        domain = codomain = d.constraints.independent(d.constraints.real, 1)
        bijective = True
        calls = 0

        def _call(self, x: Any) -> Any:
            self.calls += 1
            a, b = x[..., :1], x[..., 1:]
            return library.cat([a, b * a.exp() + a.sin()], -1)

        def _inverse(self, y: Any) -> Any:
            a, b = y[..., :1], y[..., 1:]
            return library.cat([a, (b - a.sin()) * (-a).exp()], -1)

        def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
            return (x.shape[-1] - 1) * x[..., 0]

    return Coupling(cache_size)


def test_flow_of_ones_own_transforms(torch: Any) -> None:
    """`domain` and `codomain` alone say how many dimensions are one event."""

    def behaviour(library: Any) -> Any:
        d = library.distributions
        base = d.Normal(tensor(library, B) * 0, tensor(library, B))
        parts = [coupling(library), d.AffineTransform(0.5, 2.0), coupling(library)]
        flow = d.TransformedDistribution(base, parts)
        x = tensor(library, A)
        composed = d.ComposeTransform(parts)
        density = flow.log_prob(x)
        (slope,) = library.autograd.grad(density.sum(), x)
        larger = flow.expand((2,))
        return [
            density.detach(),
            slope,
            list(flow.batch_shape),
            list(flow.event_shape),
            [composed.event_dim, flow.support.event_dim],
            composed.log_abs_det_jacobian(x, composed(x)).detach(),
            [list(larger.batch_shape), list(larger.event_shape)],
            larger.log_prob(x).detach(),
        ]

    assert_same(behaviour, torch)


def test_the_inverse_is_remembered(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        transform = coupling(library, 1)
        y = tensor(library, A)
        x = transform.inv(y)
        return [transform(x) is y, transform.calls]

    assert_same(behaviour, torch)


def test_shapes_are_sizes(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        shape = library.Size((5, 4))
        reshaped = d.ReshapeTransform((4,), (2, 2))
        composed = d.ComposeTransform([d.ExpTransform(), reshaped])
        transforms = [d.ExpTransform(), d.StickBreakingTransform(), reshaped, composed]
        shapes = [transform.forward_shape(shape) for transform in transforms]
        shapes += [composed.inverse_shape(shapes[-1]), composed.inv.forward_shape(shapes[-1])]
        shapes += [
            reshaped.in_shape,
            reshaped.out_shape,
            d.AffineTransform(0.0, 1.0).forward_shape(shape),
        ]
        return [(list(each), each.numel()) for each in shapes]

    assert_same(behaviour, torch)


def test_parameters_broadcast(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        d = library.distributions
        wide = d.AffineTransform(tensor(library, A), 1.0)
        power = d.PowerTransform(tensor(library, B))
        flow = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform(), wide])
        return [
            list(wide.forward_shape((3,))),
            list(power.inverse_shape((4, 1))),
            list(flow.batch_shape),
            d.AffineTransform(0.0, 1.0) == d.AffineTransform(0.0, 1),
            d.AffineTransform(0.0, 1.0) == d.AffineTransform(0.0, 2.0),
            power == d.PowerTransform(tensor(library, B)),
            attempt(lambda: d.ReshapeTransform((3,), (3, 1)).event_dim),
            attempt(lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), coupling(library))),
        ]

    assert_same(behaviour, torch)
