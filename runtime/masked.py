"""PyTorch's namespace `masked`: reductions and normalizations of the elements that a mask selects.

A mask broadcasts to the input; without one, every element counts. Elements that are masked out are
replaced by the number that changes nothing, so their gradients are exactly zero, also where they
are nan or infinite. Where a reduction has no element left, its result is that number. The result
has the dtype of the input, or `dtype`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .core.missing import explaining as _explaining
from .core.tensor import Tensor
from .dispatch.registry import ops
from .dtypes.whole_numbers import dim_numbers
from .functions.creation import ones_like

Dims: TypeAlias = int | tuple[int, ...] | None

__all__ = [
    *("amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp"),
    *("logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std"),
    *("sum", "var"),
]


def _selected(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask in the shape of the input; RuntimeError if it does not broadcast."""
    if mask is None:
        return None
    if mask.array.dtype.kind != "b":
        mask = mask.bool()
    return mask.expand(input.shape)


def _filled(input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    selected = _selected(input, mask)
    return input if selected is None else input.masked_fill(~selected, value)


def _prepared(input: Tensor, dtype: Any, default: Any = None) -> Tensor:
    wanted = default if dtype is None else dtype
    return input if wanted is None or input.dtype == wanted else input.to(wanted)


def _whole(input: Tensor) -> Any:
    """The dtype of sums: that of 64 bits for integers and bools."""
    return np.dtype(np.int64) if input.array.dtype.kind in "iub" else None


def _dims(input: Tensor, dim: Dims) -> tuple[int, ...]:
    if dim is None or dim == ():
        return tuple(range(input.ndim))
    return dim_numbers(dim)


def _lowest(input: Tensor, sign: int) -> Any:
    """The smallest number of the dtype, or with `sign` -1 the largest."""
    dtype = _counted("order", input).array.dtype
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return int(info.min if sign > 0 else info.max)
    return -sign * math.inf


def _counted(name: str, input: Tensor) -> Tensor:
    """The tensor itself; NotImplementedError for bools."""
    if input.array.dtype.kind == "b":
        raise NotImplementedError(f"masked: {name} of bools is not implemented; convert them first")
    return input


def _floating(name: str, input: Tensor) -> Tensor:
    """The tensor itself; NotImplementedError for integers and bools."""
    if input.array.dtype.kind in "iub":
        raise NotImplementedError(f"masked.{name} is not implemented for {input.dtype}")
    return input


def _count(input: Tensor, mask: Tensor | None, dim: Dims, keepdim: bool) -> Tensor:
    selected = _selected(input, mask)
    return ops.sum(ones_like(input) if selected is None else selected, _dims(input, dim), keepdim)


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The sum of the selected elements over `dim`."""
    x = _filled(_prepared(input, dtype, _whole(input)), mask, 0)
    return ops.sum(x, _dims(input, dim), keepdim)


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The product of the selected elements over `dim`, one or several."""
    x = _filled(_prepared(input, dtype, _whole(input)), mask, 1)
    for each in sorted({d % max(x.ndim, 1) for d in _dims(input, dim)}, reverse=True):
        x = ops.prod(x, each, keepdim)
    return x


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The sums of the selected elements up to each along `dim`."""
    x = _counted("cumsum", _prepared(input, dtype))
    return ops.cumsum(_filled(x, mask, 0), dim, dtype=x.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The products of the selected elements up to each along `dim`."""
    x = _counted("cumprod", _prepared(input, dtype))
    return ops.cumprod(_filled(x, mask, 1), dim, dtype=x.dtype)


def amax(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The largest of the selected elements over `dim`; gradients are shared among equal ones."""
    x = _prepared(input, dtype)
    filled = x if mask is None else _filled(x, mask, _lowest(x, 1))
    return ops.amax(filled, _dims(input, dim), keepdim)


def amin(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The smallest of the selected elements over `dim`; gradients are shared among equal ones."""
    x = _prepared(input, dtype)
    filled = x if mask is None else _filled(x, mask, _lowest(x, -1))
    return ops.amin(filled, _dims(input, dim), keepdim)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The position of the largest selected element, in the dtype of the input as in PyTorch."""
    x = _prepared(input, dtype)
    return ops.argmax(_filled(x, mask, _lowest(x, 1)), dim, keepdim).to(x.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The position of the smallest selected element, in the dtype of the input as in PyTorch."""
    x = _prepared(input, dtype)
    return ops.argmin(_filled(x, mask, _lowest(x, -1)), dim, keepdim).to(x.dtype)


def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The mean of the selected elements over `dim`; nan where there is none.

    ValueError for integers without a `dtype`.
    """
    x = _prepared(input, dtype)
    if x.array.dtype.kind in "iub":
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype, not {x.dtype}"
        )
    return sum(x, dim, keepdim=keepdim, mask=mask) / _count(x, mask, dim, keepdim)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The median of the selected elements along `dim`, the lower of two; nan where there is none.

    ValueError for integers where there is none.
    """
    x = _prepared(input, dtype)
    if mask is None:
        return ops.median(x, dim, keepdim)[0]
    if x.array.dtype.kind in "iub":
        if not bool((_count(x, mask, dim, False) > 0).all()):
            raise ValueError(
                "masked median expects no fully masked out rows if dtype is not floating point"
            )
        found = ops.nanmedian(_filled(x.double(), mask, math.nan), dim, keepdim)[0]
        return found.to(x.dtype)
    return ops.nanmedian(_filled(x, mask, math.nan), dim, keepdim)[0]


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The norm of order `ord` of the selected elements over `dim`."""
    x = _prepared(input, dtype)
    order = 2.0 if ord is None else ord
    fill = math.inf if order < 0 else 0
    return ops.linalg_vector_norm(_filled(x, mask, fill), order, _dims(input, dim), keepdim)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The variance of the selected elements over `dim`.

    nan unless there are more than `correction`. `unbiased` is PyTorch's older word: false is a
    correction of 0, not 1.
    """
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, lambda square: square)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The standard deviation of the selected elements over `dim`: the root of `var`."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask, ops.sqrt)


def _spread(
    input: Tensor,
    dim: Dims,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool,
    dtype: Any,
    mask: Any,
    function: Callable[[Tensor], Tensor],
) -> Tensor:
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    freedom = correction if correction is not None else 1.0 if unbiased is not False else 0.0
    if input.array.dtype.kind == "b":
        raise RuntimeError("masked: the variance of bools is not defined; convert them first")
    default = np.dtype(np.float32) if input.array.dtype.kind in "iu" else None
    x = _prepared(input, dtype, default)
    count = _count(x, mask, dim, True)
    center = sum(x, dim, keepdim=True, mask=mask) / count
    apart = _filled(x - center, mask, 0)
    square = apart * apart.conj() if x.array.dtype.kind == "c" else apart * apart
    total = ops.sum(square, _dims(input, dim), keepdim)
    rest = (count if keepdim else _count(x, mask, dim, False)) - freedom
    rest = rest.real if rest.array.dtype.kind == "c" else rest
    return function(total / ops.clamp_min(rest, 0))


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The logarithm of the sum of exponentials of the selected elements over `dim`."""
    x = _prepared(input, dtype)
    return ops.logsumexp(_filled(x, mask, _lowest(x, 1)), _dims(input, dim), keepdim).to(x.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Tensor:
    """The logarithm of the sum of exponentials of two elements, of those that are selected."""
    x, y = _prepared(input, dtype), _prepared(other, dtype)
    return ops.logaddexp(_filled(x, input_mask, -math.inf), _filled(y, other_mask, -math.inf))


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax of the selected elements along `dim`, zero elsewhere; nan where there is none."""
    x = _floating("softmax", _prepared(input, dtype))
    return ops.softmax(_filled(x, mask, -math.inf), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The logarithm of `softmax`: minus infinity at elements that are masked out."""
    x = _floating("log_softmax", _prepared(input, dtype))
    return ops.log_softmax(_filled(x, mask, -math.inf), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax of the negative selected elements along `dim`, zero elsewhere."""
    return softmax(-_floating("softmin", _prepared(input, dtype)), dim, mask=mask)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The selected elements over their norm along `dim`, at least `eps`; zero elsewhere."""
    x = _prepared(input, dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _filled(x, mask, 0) / ops.clamp_min(length, eps)


__getattr__ = _explaining(__name__)
