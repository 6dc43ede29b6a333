"""Transforms of numbers: invertible functions, and the logarithms of their derivatives."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from ..core.tensor import Size, Tensor
from ..dispatch.registry import ops
from ..functions.creation import zeros_like
from ..functions.splitting import broadcast_shapes
from . import constraints
from .validity import are_equal


class Transform:
    """Base of transforms: subclasses define `_call`, `_inverse` and `log_abs_det_jacobian`."""

    domain: Any = constraints.real
    codomain: Any = constraints.real
    bijective = True
    _inv: weakref.ref[Transform] | None = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached: tuple[Any, Any] = (None, None)

    @property
    def event_dim(self) -> int:
        """Return how many dimensions are transformed as one; ValueError if that changes them."""
        count: int = self.domain.event_dim
        if count != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return count

    @property
    def inv(self) -> Transform:
        """Return the inverse transform, the same object as long as it is used."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = self._inverted()
            self._inv = weakref.ref(inverse)
        return inverse

    def _inverted(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """Return 1 for an increasing transform, -1 for a decreasing one."""
        raise NotImplementedError(f"{type(self).__name__} is not known to be monotonic")

    def __call__(self, x: Any) -> Any:
        if self._cache_size and x is self._cached[0]:
            return self._cached[1]
        y = self._call(x)
        self._cached = (x, y) if self._cache_size else (None, None)
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._cached[1]:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = (x, y) if self._cache_size else (None, None)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define _inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_abs_det_jacobian")

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold: all but the inverse, which cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "_inv"}

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the transform with or without the memory of its last call."""
        if cache_size == self._cache_size:
            return self
        made = copy(self)
        made._cache_size, made._cached = cache_size, (None, None)
        return made

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        return Size(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """Inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._transform = transform
        self.domain, self.codomain = transform.codomain, transform.domain
        self.bijective = transform.bijective

    @property
    def inv(self) -> Transform:
        """Return the transform."""
        return self._transform

    @property
    def sign(self) -> Any:
        """Return that of the transform."""
        return self._transform.sign

    def _call(self, x: Any) -> Any:
        return self._transform._inv_call(x)

    def _inverse(self, y: Any) -> Any:
        return self._transform(y)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        return self._transform.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        return self._transform.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transform!r})"

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return -self._transform.log_abs_det_jacobian(y, x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._transform == other._transform

    __hash__ = Transform.__hash__


class ComposeTransform(Transform):
    """Transforms one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        if self.parts:
            self.domain = _of_all([(p.domain, p.codomain) for p in reversed(self.parts)])
            self.codomain = _of_all([(p.codomain, p.domain) for p in self.parts])
        self.bijective = all(part.bijective for part in self.parts)

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = weakref.ref(self)
        return inverse

    @property
    def sign(self) -> Any:
        """Return the product of those of the parts."""
        return math.prod(part.sign for part in self.parts)

    def __repr__(self) -> str:
        parts = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {parts}\n)"

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        if not self.parts:
            return zeros_like(x)
        total: Any = 0
        count: int = self.domain.event_dim
        for part in self.parts:
            after = y if part is self.parts[-1] else part(x)
            change = part.log_abs_det_jacobian(x, after)
            total = total + sum_rightmost(change, count - part.domain.event_dim)
            count += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of what has an image of a shape."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__


def sum_rightmost(value: Any, count: int) -> Any:
    """Sum over the last dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value


def _of_all(parts: Sequence[tuple[Any, Any]]) -> Any:
    """Return the outer constraint of the last part, with the dimensions that the others need.

    `parts` are pairs of the constraints on the outer and the inner side of each transform.
    """
    count = parts[0][1].event_dim
    for outer, inner in parts:
        count = outer.event_dim + max(count - inner.event_dim, 0)
    last = parts[-1][0]
    more = count - last.event_dim
    return constraints.independent(last, more) if more else last


identity_transform = ComposeTransform([])


class _Simple(Transform):
    """Base of increasing transforms without parameters: all of a class are equal."""

    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class ExpTransform(_Simple):
    """The exponential function."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return x


class SigmoidTransform(_Simple):
    """The logistic function."""

    codomain: Any = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        info = np.finfo(x.dtype)
        return x.sigmoid().clamp(min=float(info.tiny), max=1 - float(info.eps))

    def _inverse(self, y: Any) -> Any:
        info = np.finfo(y.dtype)
        y = y.clamp(min=float(info.tiny), max=1 - float(info.eps))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return -ops.softplus(-x) - ops.softplus(x)


class TanhTransform(_Simple):
    """The hyperbolic tangent."""

    codomain: Any = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return 2 * (math.log(2) - x - ops.softplus(-2 * x))


class SoftplusTransform(_Simple):
    """The function `log(1 + exp(x))`."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return ops.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return -ops.softplus(-x)


class _Parametrized(Transform):
    """Base of transforms with numbers or tensors, whose names are `_parameters`."""

    _parameters: ClassVar[tuple[str, ...]]

    def _values(self) -> list[Any]:
        return [getattr(self, name) for name in self._parameters]

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """Return the shape of the image: the parameters broadcast."""
        return broadcast_shapes(shape, *(getattr(value, "shape", ()) for value in self._values()))

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Parametrized) or type(self) is not type(other):
            return False
        pairs = zip(self._values(), other._values(), strict=True)
        return all(are_equal(a, b) for a, b in pairs)

    __hash__ = Transform.__hash__


class PowerTransform(_Parametrized):
    """Positive numbers to the power `exponent`."""

    _parameters = ("exponent",)

    domain: Any = constraints.positive
    codomain: Any = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        """Return the sign of the exponent."""
        exponent = self.exponent
        return exponent.sign() if isinstance(exponent, Tensor) else int(np.sign(exponent))

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        return (self.exponent * y / x).abs().log()


class AffineTransform(_Parametrized):
    """The map `loc + scale * x`; the last `event_dim` dimensions are one event."""

    _parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        """Return the sign of the scale."""
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else int(np.sign(scale))

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`."""
        zeros = zeros_like(x)  # not x * 0, which is nan at infinity
        if isinstance(self.scale, Tensor):
            result = (self.scale.abs().log() + zeros).expand(x.shape)
        else:
            result = zeros + math.log(abs(self.scale))
        return sum_rightmost(result, self.event_dim)


class CumulativeDistributionTransform(Transform):
    """The `cdf` of a distribution of numbers, which makes its samples uniform."""

    codomain: Any = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """Return the support of the distribution."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`: the density's logarithm."""
        return self.distribution.log_prob(x)
