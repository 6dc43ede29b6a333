"""Constraints: the values that parameters and samples may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.tensor import wrap
from ..dispatch.registry import ops
from .validity import holds

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]

__getattr__ = _explaining(__name__)


class Constraint:
    """Base of constraints: `check(value)` says, for each event, whether it is met."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return a tensor of booleans, one for each event of `event_dim` dimensions."""
        raise NotImplementedError(f"{type(self).__name__} does not define check")

    def __repr__(self) -> str:
        bounds = ", ".join(
            f"{name}={vars(self)[name]}"
            for name in ("lower_bound", "upper_bound")
            if self.shows_bounds and name in vars(self)
        )
        return f"{_title(self)}({bounds})"

    shows_bounds = True
    """True if `repr` has the bounds."""


def _title(constraint: Constraint) -> str:
    """PyTorch's name of a constraint's class: `greater_than` is a GreaterThan there."""
    name = type(constraint).__name__.lstrip("_")
    return name.title().replace("_", "") if name.islower() else name


class _Dependent(Constraint):
    """Constraint that depends on other values, and is not checked here.

    Called, it returns one of which `is_discrete` and `event_dim` are known; those that are not
    raise NotImplementedError when they are read.
    """

    def __init__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Return whether values are whole numbers."""
        return _known("is_discrete", self._is_discrete)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Return the number of dimensions of an event."""
        return _known("event_dim", self._event_dim)

    def __call__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> Any:
        """Return a dependent constraint of which more is known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is None else is_discrete,
            event_dim=self._event_dim if event_dim is None else event_dim,
        )

    def check(self, value: Any) -> Any:
        """Raise ValueError."""
        raise ValueError("Cannot determine validity of dependent constraint")


_Known = TypeVar("_Known")


def _known(name: str, value: _Known | None) -> _Known:
    """Return an attribute of a dependent constraint; NotImplementedError if it was not given."""
    if value is None:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


class _Real(Constraint):
    """Numbers that are not NaN."""

    def check(self, value: Any) -> Any:
        """Return whether each is a number."""
        return value == value


class _Boolean(Constraint):
    """Zero and one."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return whether each is 0 or 1."""
        return (value == 0) | (value == 1)


class interval(Constraint):
    """Numbers between two bounds, which count."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        """Return whether each is between the bounds."""
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class half_open_interval(interval):
    """Numbers between two bounds, of which only the lower one counts."""

    def check(self, value: Any) -> Any:
        """Return whether each is between the bounds."""
        return (value >= self.lower_bound) & (value < self.upper_bound)


class integer_interval(interval):
    """Whole numbers between two bounds, which count."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return whether each is whole and between the bounds."""
        return (value % 1 == 0) & super().check(value)


class greater_than(Constraint):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        """Return whether each is above the bound."""
        return value > self.lower_bound


class greater_than_eq(greater_than):
    """Numbers that are not below a bound."""

    def check(self, value: Any) -> Any:
        """Return whether each is at least the bound."""
        return value >= self.lower_bound


class less_than(Constraint):
    """Numbers below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        """Return whether each is below the bound."""
        return value < self.upper_bound


class _IntegerGreaterThan(greater_than_eq):
    """Whole numbers that are not below a bound."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return whether each is whole and at least the bound."""
        return (value % 1 == 0) & super().check(value)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to 1, to a millionth."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        """Return whether each vector is one."""
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        is_lower = (value.tril() == value).all(-1).all(-1)
        return is_lower & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: rows of length 1, to ten times the precision."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        tolerance = float(np.finfo(value.dtype).eps) * value.shape[-1] * 10
        lengths = value.detach().norm(dim=-1)
        return lower_cholesky.check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        return wrap(np.full(value.shape[:-2], value.shape[-2] == value.shape[-1]))


class _Symmetric(_Square):
    """Matrices that are their own transposes, to a millionth."""

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        squares = super().check(value)
        if not holds(squares):
            return squares
        return value.isclose(value.mT, atol=1e-6).all(-1).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        met = super().check(value)
        if holds(met):
            met = self._signs(ops.linalg_eigvalsh(value.detach())).all(-1)
        return met

    def _signs(self, eigenvalues: Any) -> Any:
        return eigenvalues >= 0


class _PositiveDefinite(_PositiveSemidefinite):
    """Symmetric matrices with positive eigenvalues."""

    def _signs(self, eigenvalues: Any) -> Any:
        return eigenvalues > 0


class independent(Constraint):
    """Events made of several, each of which meets a constraint."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Return whether all in each event meet it."""
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        for _ in range(self.reinterpreted_batch_ndims):
            result = result.all(-1)
        return result

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class multinomial(Constraint):
    """Vectors of whole numbers from 0 that sum to `upper_bound`."""

    is_discrete = True
    event_dim = 1
    shows_bounds = False

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        """Return whether each vector is one."""
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _OneHot(Constraint):
    """Vectors of zeros and a one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        """Return whether each vector is one."""
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _LowerTriangular(Constraint):
    """Lower triangular matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        """Return whether each matrix is one."""
        return (value.tril() == value).all(-1).all(-1)


class MixtureSameFamilyConstraint(Constraint):
    """Values that meet the constraint of every component of a mixture."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Return whether each event meets the constraint of every component."""
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        count = value.ndim - self.event_dim
        return result.reshape((*result.shape[:count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Parts(Constraint):
    """Base of constraints, one for each of the parts of a tensor along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        self.cseq = list(cseq)
        if not all(isinstance(constraint, Constraint) for constraint in self.cseq):
            raise TypeError(f"{type(self).__name__.lstrip('_')} takes a sequence of Constraints")
        self.dim = dim
        self.is_discrete = any(constraint.is_discrete for constraint in self.cseq)
        self.event_dim = max((constraint.event_dim for constraint in self.cseq), default=0)


class cat(_Parts):
    """Pieces of the given lengths along `dim`, each with a constraint; of length 1 by default."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"{len(self.cseq)} constraints, but {len(self.lengths)} lengths")

    def check(self, value: Any) -> Any:
        """Return, of each piece, whether it meets its constraint."""
        parts = value.split(self.lengths, self.dim)
        checked = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return ops.cat(checked, self.dim)


class stack(_Parts):
    """Slices along `dim`, each with a constraint."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)
        if dim + self.event_dim < 0:
            self.event_dim += 1

    def check(self, value: Any) -> Any:
        """Return, of each slice, whether it meets its constraint."""
        slices = value.unbind(self.dim)
        checked = [c.check(part) for c, part in zip(self.cseq, slices, strict=True)]
        return ops.stack(checked, self.dim)


dependent = _Dependent()
real = _Real()
real_vector = independent(real, 1)
boolean = _Boolean()
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
nonnegative_integer = _IntegerGreaterThan(0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
one_hot = _OneHot()
positive_integer = _IntegerGreaterThan(1)
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
positive_definite = _PositiveDefinite()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other values."""
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):
    """Property that is a constraint, and depends on the distribution's parameters."""

    def __init__(
        self, fn: Any = None, *, is_discrete: bool | None = None, event_dim: int | None = None
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> dependent_property:  # type: ignore[override]
        """Return the property of a function; used as a decorator with arguments."""
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)
