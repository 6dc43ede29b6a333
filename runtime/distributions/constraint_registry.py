"""Transforms from unconstrained numbers to those of a constraint: `biject_to`, `transform_to`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.missing import explaining as _explaining
from . import constraints
from .part_transforms import CatTransform, StackTransform
from .scalar_transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    Transform,
    identity_transform,
)
from .vector_transforms import (
    CorrCholeskyTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

__getattr__ = _explaining(__name__)

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Transforms by the classes of constraints."""

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Register a function from a constraint to a transform; also used as a decorator."""
        if factory is None:
            return lambda found: self.register(constraint, found)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """Return a transform to a constraint; NotImplementedError where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
"""Bijections: each value has one unconstrained one."""

transform_to = ConstraintRegistry()
"""Transforms that suit optimisation, of which some have more coordinates than needed."""


def _above(constraint: Any) -> Transform:
    if constraint is constraints.positive or constraint is constraints.nonnegative:
        return ExpTransform()
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Transform:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if all(isinstance(bound, int | float) for bound in (low, high)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: identity_transform)
    for _kind in (constraints.positive, constraints.nonnegative):
        _registry.register(_kind, _above)
    _registry.register(constraints.less_than, _below)
    for _interval in (constraints.interval, constraints.half_open_interval):
        _registry.register(_interval, _between)
    _registry.register(constraints.corr_cholesky, lambda constraint: CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: SoftmaxTransform())
# From square matrices, whose elements above the diagonal are not read: no bijections.
transform_to.register(constraints.lower_cholesky, lambda constraint: LowerCholeskyTransform())
for _matrices in (constraints.positive_semidefinite, constraints.positive_definite):
    transform_to.register(_matrices, lambda constraint: PositiveDefiniteTransform())


def _independent(registry: ConstraintRegistry) -> Factory:
    return lambda constraint: IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    )


def _cat(registry: ConstraintRegistry) -> Factory:
    return lambda constraint: CatTransform(
        [registry(part) for part in constraint.cseq], constraint.dim, constraint.lengths
    )


def _stack(registry: ConstraintRegistry) -> Factory:
    return lambda constraint: StackTransform(
        [registry(part) for part in constraint.cseq], constraint.dim
    )


for _registry in (biject_to, transform_to):
    _registry.register(constraints.independent, _independent(_registry))
    _registry.register(constraints.cat, _cat(_registry))
    _registry.register(constraints.stack, _stack(_registry))
