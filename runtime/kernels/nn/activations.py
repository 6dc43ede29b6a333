"""Activations that are more than one expression, and softmax in forms that do not overflow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dtypes.number_conversion import converted
from ...dtypes.promotion import LAST_INTEGER
from ...fast.summation import sums
from ..elementwise.checks import Array, floating, normalize_dim
from ..elementwise.masking import where

_max_reduce: Any = np.maximum.reduce


def celu(self: Array, alpha: float) -> Any:
    """Positive elements, `alpha * expm1(x / alpha)` for the others; RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return where(self > 0, self, np.expm1(self / alpha) * alpha)


def hardtanh(self: Array, min_val: float, max_val: float) -> Any:
    """Elements moved between two numbers, which of integers are integers."""
    if self.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if self.dtype.num <= LAST_INTEGER:
        if self.dtype.kind == "u" and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
        min_val, max_val = converted(int(min_val), self.dtype), converted(int(max_val), self.dtype)
    return np.minimum(max_val, np.maximum(min_val, self))


def threshold(self: Array, threshold: float, value: float) -> Any:
    """`value` for elements up to the threshold; both numbers are integers among integers."""
    if self.dtype.kind == "b":
        floating("threshold_cpu", self)
    if self.dtype.num <= LAST_INTEGER:
        threshold = converted(int(threshold), self.dtype)
        value = converted(int(value), self.dtype)
    return where(self <= threshold, value, self)


def softshrink(self: Array, lambd: float) -> Any:
    """Elements moved towards zero; RuntimeError unless by a finite distance."""
    if not 0 <= lambd < math.inf:
        raise RuntimeError(f"lambda must be in range [0, inf), but found {lambd}")
    # What is left of a negative element is -0.0, as the sign of zero is that of the element.
    return np.copysign(self - np.minimum(lambd, np.maximum(-lambd, self)), self)


def along_channels(self: Array, shape: Sequence[int]) -> Array:
    """Slopes for a tensor of this shape: all in dimension one. RuntimeError for a wrong number."""
    if self.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {self.ndim}"
        )
    floating("prelu_cpu", self)
    channels = shape[1] if len(shape) > 1 else 1
    if self.size not in (1, channels):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{self.size} and channel size = {channels}."
        )
    sizes = [1] * len(shape)
    if len(shape) > 1:
        sizes[1] = self.size
    return self.reshape(sizes)


def glu(self: Array, dim: int) -> Any:
    """Multiply the first half along a dimension by the logistic function of the second."""
    if not self.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis = normalize_dim(dim, self.ndim)
    if self.shape[axis] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {axis} is size {self.shape[axis]}"
        )
    floating("glu_cpu", self)
    value, gate = np.split(self, 2, axis)
    return value / (1 + np.exp(-gate))


def gelu(self: Array, share: Array, approximate: str) -> Any:
    """`self * share`; RuntimeError unless `approximate` is `none` or `tanh`."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * share


def softmax(self: Array, dim: int) -> Any:
    """Exponentials along a dimension, scaled to sum to one."""
    floating("softmax", self)
    if not self.size:
        return self - sums(self, dim, True)
    powers = np.exp(self - _max_reduce(self, dim, keepdims=True))
    return powers / sums(powers, dim, True)


def softmax_backward(grad: Array, share: Array, dim: int) -> Any:
    """`share * (grad - sum(grad * share))`."""
    return (grad - sums(grad * share, dim, True)) * share


def log_softmax(self: Array, dim: int) -> Any:
    """The logarithm of the softmax, without taking it."""
    floating("log_softmax", self)
    if not self.size:
        return self - sums(self, dim, True)
    shifted = self - _max_reduce(self, dim, keepdims=True)
    shifted -= np.log(sums(np.exp(shifted), dim, True))
    return shifted


def log_softmax_backward(grad: Array, result: Array, dim: int) -> Any:
    """`grad - exp(result) * sum(grad)`."""
    return grad - np.exp(result) * sums(grad, dim, True)
