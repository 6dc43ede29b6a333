"""Sums, means, variances and counts along dimensions, and the ways back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...core.user_warnings import warn
from ...dtypes.kinds import COMPLEX_KINDS, is_symbolic
from ...dtypes.promotion import LAST_INTEGER
from ...dtypes.whole_numbers import dim_numbers
from ...fast.summation import sums
from ..elementwise.checks import HALF, Array, normalize_dim
from ..elementwise.complex_numbers import has_imaginary_parts
from ..shape.layout import in_order

Dims = int | Sequence[int] | None

_FIRST: Final = slice(0, 1)

_ALL: Final = slice(None)

_ROOTS: Final = {np.dtype(np.float16): (0.01, 250.0), np.dtype(np.float32): (1e-18, 1e19)}
"""Between which numbers squares neither overflow nor lose digits, by dtype."""

_add_reduce: Any = np.add.reduce

_and_reduce: Any = np.logical_and.reduce

_or_reduce: Any = np.logical_or.reduce


def axes(dim: Dims) -> int | tuple[int, ...] | None:
    """NumPy's `axis` for PyTorch's `dim`, where an empty list means all dimensions."""
    if dim is None or type(dim) is int:
        return dim
    dims = dim_numbers(dim)
    return dims[0] if len(dims) == 1 else dims or None  # a scalar takes 0, but not (0,)


def _reduced_axes(ndim: int, dim: Dims) -> Sequence[int]:
    """The dimensions that a reduction removes, none for a scalar."""
    chosen = axes(dim)
    if chosen is None or not ndim:
        return range(ndim)
    return (chosen,) if isinstance(chosen, int) else chosen


def _count(shape: Sequence[int], dim: Dims) -> int:
    """Count the elements that are reduced to one."""
    count = 1
    for axis in _reduced_axes(len(shape), dim):
        count *= shape[axis]
    return count


def sum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Sums of integers and bools are int64."""
    if dtype is None and self.dtype.num > LAST_INTEGER:
        return sums(self, axes(dim), keepdim)
    if dtype is not None and self.dtype.num <= LAST_INTEGER and is_symbolic(np.dtype(dtype)):
        dtype = np.float64  # symbols stand for floats, and objects would have no methods of arrays
    return _add_reduce(self, axes(dim), np.int64 if dtype is None else dtype, None, keepdim)


def unreduce(self: Array, shape: Sequence[int], dim: Dims, keepdim: bool) -> Array:
    """Repeat a reduced array over the dimensions that were reduced."""
    if not keepdim and self.ndim:
        kept = list(shape)
        for axis in _reduced_axes(len(shape), dim):
            kept[axis] = 1
        self = self.reshape(kept)
    out = np.empty_like(self, order="C", shape=shape)
    out[...] = self
    return out


def mean(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Sums divided by the number of terms; RuntimeError for integers, given or asked for."""
    wanted = self.dtype if dtype is None else np.dtype(dtype)
    if wanted.num <= LAST_INTEGER:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Input' if dtype is None else 'Optional'} "
            f"dtype must be either a floating point or complex dtype. Got: {wanted}"
        )
    if self.dtype is HALF and dtype is None:  # whose sums may be infinite
        return mean(self, dim, keepdim, np.float32).astype(HALF)
    return sum(self, dim, keepdim, dtype) / _count(self.shape, dim)


def unmean(self: Array, shape: Sequence[int], dim: Dims, keepdim: bool) -> Array:
    """Repeat the gradient of a mean over the dimensions that were reduced."""
    return unreduce(self / _count(shape, dim), shape, dim, keepdim)


def var(self: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    """Squared deviations from the mean, summed and divided by the degrees of freedom."""
    if self.dtype.kind in "iub":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if _count(self.shape, dim) <= (1 if correction is None else correction):
        warn(
            "var(), std(): degrees of freedom is <= 0. The correction should be less than the "
            f"number of elements that are reduced, of a tensor of shape {list(self.shape)}: nan or "
            "inf follow."
        )
    return _variance(self, dim, correction, keepdim)


def _variance(self: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    deviation = centred(self, axes(dim))[0]
    squares = deviation * deviation.conj()
    if self.dtype.kind in COMPLEX_KINDS:
        squares = squares.real
    squares = sums(squares, axes(dim), keepdim)
    return over_freedom(squares, self.shape, dim, correction)


def std(self: Array, dim: Dims, correction: Any, keepdim: bool) -> Any:
    """The root of the variance; it fits into its dtype also where the squares do not."""
    root = np.sqrt(var(self, dim, correction, keepdim))
    if self.dtype not in _ROOTS:
        return root
    least, largest = _ROOTS[self.dtype]
    if ((root > least) & (root < largest)).all():
        return root
    return np.sqrt(_variance(self.astype(np.float64), dim, correction, keepdim)).astype(self.dtype)


def centred(self: Array, axis: int | tuple[int, ...] | None) -> tuple[Any, Any]:
    """Deviations from the mean over some dimensions, and the mean, with length one in these.

    By way of the differences to the first element: those of equal elements are exactly zero, which
    the differences to a mean, itself rounded, are not.
    """
    reduced = _reduced_axes(self.ndim, axis)
    taken = {position % self.ndim for position in reduced}
    first = self[tuple(_FIRST if position in taken else _ALL for position in range(self.ndim))]
    deviation = self - first
    shift = sums(deviation, axis, True) / _count(self.shape, axis)
    deviation -= shift
    return deviation, first + shift


def over_freedom(self: Array, shape: Sequence[int], dim: Dims, correction: Any) -> Array:
    """Divide by the degrees of freedom, which are not negative."""
    freedom = _count(shape, dim) - (1 if correction is None else correction)
    return self / max(freedom, 0)


def all(self: Array, dim: Dims, keepdim: bool) -> Any:
    """Test that every element is true; bytes answer in bytes."""
    return _truth_of(self, _and_reduce(self, _chosen(dim), None, None, keepdim))


def any(self: Array, dim: Dims, keepdim: bool) -> Any:
    """Test that an element is true; bytes answer in bytes."""
    return _truth_of(self, _or_reduce(self, _chosen(dim), None, None, keepdim))


def _chosen(dim: Dims) -> int | tuple[int, ...] | None:
    """Normalize as `axes`, but an empty list is no dimension."""
    return () if isinstance(dim, tuple | list) and not dim else axes(dim)


def _truth_of(self: Array, answer: Any) -> Any:
    return answer.astype(np.uint8) if self.dtype == np.uint8 else answer


def logsumexp(self: Array, dim: Dims, keepdim: bool) -> Any:
    """The largest element is taken out before the exponentials, unless it is infinite."""
    axis = axes(dim)
    if self.size:
        largest = np.maximum.reduce(self.real, axis, keepdims=True)
    else:
        largest = np.maximum.reduce(self.real, axis, keepdims=True, initial=-np.inf)
    if is_symbolic(self.dtype) and has_imaginary_parts(self):
        largest = largest - largest  # exact as they are, where logarithms do not show it
    largest = np.where(np.isinf(largest), 0, largest)
    total = _add_reduce(np.exp(self - largest), axis, None, None, keepdim)
    return np.log(total) + (largest if keepdim else largest.reshape(total.shape))


def cumsum(self: Array, dim: int, dtype: Any) -> Any:
    """Running sums; those of integers and bools are int64."""
    if dtype is None and self.dtype.kind in "iub":
        dtype = np.int64
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy() if dtype is None else self.astype(dtype)
    return in_order(np.add.accumulate(self, dim, dtype))


def nansum(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Sums without the elements that are nan."""
    numbers = self if self.dtype.kind in "iub" else np.where(np.isnan(self), 0, self)
    return sum(numbers, dim, keepdim, dtype)


def count_numbers(self: Array, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """Count the elements that are not nan; RuntimeError for integers, given or asked for."""
    if dtype is not None and np.dtype(dtype).num <= LAST_INTEGER:
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {np.dtype(dtype)}"
        )
    if self.dtype.kind in "iub":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{self.dtype}"
        )
    return sum(~np.isnan(self), dim, keepdim, None)


def observation_weights(self: Array, count: int, are_frequencies: bool) -> Array:
    """Copy the weights of `count` observations; RuntimeError for others."""
    name, kind, kinds = (
        ("fweights", "integer", "iu") if are_frequencies else ("aweights", "float", "fO")
    )
    if self.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions")
    if self.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype, but got {self.dtype}")
    if self.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same number of elements as there are observations "
            f"in the input, {count}, but got {self.size}"
        )
    if not is_symbolic(self.dtype) and (self < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    if count and not self.any():
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    return self.copy()
