"""Activations and softmax, in the forms that do not overflow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...fast.parallel_for import in_blocks, in_threads
from ...fast.summation import sums
from ...fast.tuning import PARALLEL_UFUNC_MIN
from ..elementwise.checks import Array, floating

_add_reduce: Any = np.add.reduce
_max_reduce: Any = np.maximum.reduce


def gelu(self: Array, share: Array, approximate: str) -> Any:
    """`self * share`; RuntimeError unless `approximate` is `none` or `tanh`."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * share


def softmax(self: Array, dim: int) -> Any:
    """Exponentials along a dimension, scaled to sum to one."""
    floating("softmax", self)
    return _along(_softmax, dim, self) if self.size else self.copy()


def softmax_backward(grad: Array, share: Array, dim: int) -> Any:
    """`share * (grad - sum(grad * share))`."""
    return _along(_softmax_backward, dim, grad, share)


def log_softmax(self: Array, dim: int) -> Any:
    """The logarithm of the softmax, without taking it."""
    floating("log_softmax", self)
    return _along(_log_softmax, dim, self) if self.size else self.copy()


def log_softmax_backward(grad: Array, result: Array, dim: int) -> Any:
    """`grad - exp(result) * sum(grad)`."""
    return _along(_log_softmax_backward, dim, grad, result)


def _along(step: Callable[..., Array], dim: int, *arrays: Array) -> Any:
    """`step(dim, *arrays)`: of large arrays with the rows along `dim` a few rows at a time."""
    first = arrays[0]
    if first.size < PARALLEL_UFUNC_MIN or dim % first.ndim != first.ndim - 1:
        return step(dim, *arrays)
    for array in arrays:
        same = array.shape == first.shape and array.dtype == first.dtype
        if not (same and array.dtype.kind == "f" and array.flags.c_contiguous):
            return step(dim, *arrays)
    return in_blocks(partial(step, -1), *arrays, row=first.shape[-1])


def _softmax(dim: int, x: Array, out: Array | None = None) -> Any:
    powers = in_threads(np.exp, x - _max_reduce(x, dim, keepdims=True))
    return np.divide(powers, _total(powers, dim, out), out)


def _softmax_backward(dim: int, grad: Array, share: Array, out: Array | None = None) -> Any:
    return np.multiply(grad - _total(grad * share, dim, out), share, out)


def _log_softmax(dim: int, x: Array, out: Array | None = None) -> Any:
    out = np.subtract(x, _max_reduce(x, dim, keepdims=True), out)
    out -= np.log(_total(in_threads(np.exp, out), dim, out))
    return out


def _log_softmax_backward(dim: int, grad: Array, result: Array, out: Array | None = None) -> Any:
    share = in_threads(np.exp, result)
    share *= _total(grad, dim, out)
    return np.subtract(grad, share, out)


def _total(terms: Array, dim: int, out: Array | None) -> Any:
    """Sums; without BLAS, which has threads of its own, where one of ours writes to `out`."""
    if out is None:
        return sums(terms, dim, True)
    return _add_reduce(terms, dim, None, None, True)
