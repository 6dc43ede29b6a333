"""Base class of distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..core.modes import enable_grad, no_grad
from ..core.tensor import Size, Tensor, wrap
from ..core.user_warnings import warn
from ..dtypes.promotion import get_default_dtype
from ..functions.creation import full_like
from ..functions.splitting import broadcast_tensors
from .constraints import is_dependent
from .validity import holds

Values: TypeAlias = Any
"""Numbers or tensors; in distributions they have been made tensors of one shape."""


def _undefined(name: str) -> Any:
    """Return a property that subclasses define: NotImplementedError on those that do not."""

    def undefined(self: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define {name}")

    return property(undefined)


class Distribution:
    """Base of distributions: a batch of independent ones, each over events of one shape.

    Samples have the shape (*sample_shape, *batch_shape, *event_shape). Parameters and values are
    checked unless `validate_args` is False: ValueError for those out of their constraints, and a
    warning where a subclass defines no `arg_constraints` or no `support`.
    """

    arg_constraints: ClassVar[Any] = _undefined("arg_constraints")
    support: Any = _undefined("support")
    has_rsample: ClassVar[bool] = False
    has_enumerate_support: ClassVar[bool] = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Choose whether distributions are checked that do not say so themselves."""
        if value not in (True, False):
            raise ValueError("the default of validate_args is True or False")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _validate_parameters(self) -> None:
        """Check the parameters, but for those that are computed from others when they are read."""
        try:
            constraints = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = "
                "{}` or initialize the distribution with `validate_args=False` to turn off "
                "validation."
            )
            return
        for name, constraint in constraints.items():
            is_given = name in vars(self) or hasattr(type(self), name)
            if is_dependent(constraint) or not is_given:
                continue
            value = getattr(self, name)
            if not holds(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Size:
        """Return the shape of the batch."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Return the shape of one event."""
        return self._event_shape

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution for a larger batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define expand")

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return what `expand` of a class fills: an instance without attributes, or the given one.

        NotImplementedError for subclasses with an `__init__` of their own that do not define it.
        """
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return object.__new__(type(self))

    def _expanded(self, batch_shape: Sequence[int], names: Sequence[str]) -> Any:
        """Return a copy of which some attributes have another batch shape."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        for name in names:
            value = getattr(self, name)
            inside = value.shape[len(self._batch_shape) :]
            setattr(new, name, value.expand((*batch_shape, *inside)))
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        """Return the mean."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean")

    @property
    def mode(self) -> Tensor:
        """Return the mode."""
        raise NotImplementedError(f"{type(self).__name__} does not define mode")

    @property
    def variance(self) -> Tensor:
        """Return the variance."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance")

    @property
    def stddev(self) -> Any:
        """Return the standard deviation."""
        variance: Any = self.variance
        return variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples, through which no gradient flows."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n: int) -> Any:
        """Draw `n` samples; older programs call it."""
        return self.sample((n,))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Any:
        """Draw samples through which gradients flow to the parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not define rsample")

    def log_prob(self, value: Values) -> Any:
        """Compute the logarithm of the density, or of the probability, of values."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob")

    def cdf(self, value: Values) -> Any:
        """Compute the probability of what is not above `value`."""
        raise NotImplementedError(f"{type(self).__name__} does not define cdf")

    def icdf(self, value: Values) -> Any:
        """Compute the value of which the `cdf` is given."""
        raise NotImplementedError(f"{type(self).__name__} does not define icdf")

    def entropy(self) -> Any:
        """Compute the entropy, in nats."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy")

    def enumerate_support(self, expand: bool = True) -> Any:
        """List all values of a discrete distribution, in a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__} does not define enumerate_support")

    def perplexity(self) -> Any:
        """Compute the exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> tuple[int, ...]:
        return (*sample_shape, *self._batch_shape, *self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Check values, if that is asked for, against batch, event and support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        count = len(self._event_shape)
        if tuple(value.shape[value.ndim - count :]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs "
                f"{self._event_shape}."
            )
        expected = Size((*self._batch_shape, *self._event_shape))
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs "
                    f"{expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation."
            )
            return
        if not holds(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        try:
            names = list(self.arg_constraints)
        except NotImplementedError:
            names = []
        shown = []
        for name in names:
            value = vars(self).get(name)
            if value is not None:
                text = value if value.numel() == 1 else value.size()
                shown.append(f"{name}: {text}")
        return f"{type(self).__name__}({', '.join(shown)})"


def kept(distribution: Distribution, name: str, compute: Callable[[Any], Any]) -> Any:
    """Compute a parameter when it is first asked for; then it is an attribute."""
    with enable_grad():
        value = compute(distribution)
    vars(distribution)[name] = value
    return value


def broadcast_all(*values: Values) -> tuple[Any, ...]:
    """Return tensors of one shape; numbers become tensors of the dtype of the others."""
    if not all(isinstance(value, Tensor | int | float) for value in values):
        raise ValueError("Input arguments must all be instances of Number or torch.Tensor.")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), get_default_dtype())
    tensors = [v if isinstance(v, Tensor) else wrap(np.array(v, dtype)) for v in values]
    return tuple(broadcast_tensors(*tensors))


def as_tensor(value: Values, dtype: Any) -> Any:
    """Return a tensor as it is, and a number as a tensor of a dtype."""
    return value if isinstance(value, Tensor) else wrap(np.asarray(value, dtype))


def constant_like(tensor: Any, value: float) -> Tensor:
    """Make a tensor of one number, of the shape and dtype of another."""
    return full_like(tensor, value)


def batch_of(tensor: Any, *given: Values) -> Size:
    """Return the batch shape of parameters: that of a tensor, or of none where all are numbers."""
    return Size(()) if all(isinstance(v, int | float) for v in given) else tensor.shape
