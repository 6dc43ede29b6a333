"""Sums, products, extremes, means and quantiles of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from .arguments import Axes, as_tensor, axes_of, flat, floats, last_axis


def _shaped(found: Tensor, kept: list[int], keepdims: bool) -> Any:
    return ops.reshape(found, kept) if keepdims else found


def _over_axes(op: str) -> Callable[..., Any]:
    """A reduction whose op takes several dimensions."""

    def reduce(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
        a = as_tensor(a)
        return getattr(ops, op)(a, list(axes_of(axis, a.ndim)), keepdim=keepdims)

    return reduce


largest, smallest = _over_axes("amax"), _over_axes("amin")


def _over_one(op: str) -> Callable[..., Any]:
    """A reduction whose op takes one dimension: that of all elements along the axes."""

    def reduce(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
        moved, kept = last_axis(a, axis)
        return _shaped(getattr(ops, op)(moved, -1), kept, keepdims)

    return reduce


every, some, _counted = _over_one("all"), _over_one("any"), _over_one("count_nonzero")


def total(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The sum over some axes."""
    a = as_tensor(a)
    return ops.sum(a, list(axes_of(axis, a.ndim)), keepdim=keepdims, dtype=dtype)


def product(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The product over some axes."""
    moved, kept = last_axis(a, axis)
    return _shaped(ops.prod(moved, -1, dtype=dtype), kept, keepdims)


def mean(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The mean over some axes; of integers in float64."""
    a = floats(a)
    return ops.mean(a, list(axes_of(axis, a.ndim)), keepdim=keepdims, dtype=dtype)


def variance(
    a: Any,
    axis: Axes = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    correction: float | None = None,
) -> Any:
    """The variance over some axes."""
    a = floats(a)
    taken = ddof if correction is None else correction
    return ops.var(a, list(axes_of(axis, a.ndim)), correction=taken, keepdim=keepdims)


def deviation(
    a: Any,
    axis: Axes = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    correction: float | None = None,
) -> Any:
    """The standard deviation over some axes."""
    a = floats(a)
    taken = ddof if correction is None else correction
    return ops.std(a, list(axes_of(axis, a.ndim)), correction=taken, keepdim=keepdims)


def _ptp(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    return largest(a, axis, keepdims=keepdims) - smallest(a, axis, keepdims=keepdims)


def _arg(op: str) -> Callable[..., Any]:
    def search(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
        a = as_tensor(a)
        found = getattr(ops, op)(*flat(a, axis))
        kept = [1 if axis in (None, d, d - a.ndim) else n for d, n in enumerate(a.shape)]
        return _shaped(found, kept, keepdims)

    return search


def _quantiles(op: str, scale: float) -> Callable[..., Any]:
    """Quantiles over some axes; those of several `q` in a first dimension."""

    def quantile(
        a: Any, q: Any, axis: Axes = None, *, method: str = "linear", keepdims: bool = False
    ) -> Any:
        moved, kept = last_axis(floats(a), axis)
        wanted = as_tensor(q).to(moved.dtype) / scale
        found = getattr(ops, op)(moved, ops.reshape(wanted, [-1]), -1, interpolation=method)
        shape = kept if keepdims else list(moved.shape[:-1])
        return ops.reshape(found, [*wanted.shape, *shape])

    return quantile


def _median(op: str) -> Callable[..., Any]:
    quantile = _quantiles(op, 1)

    def median(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
        return quantile(a, 0.5, axis, keepdims=keepdims)  # the mean of the two in the middle

    return median


def _average(
    a: Any, axis: Axes = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    a = floats(a)
    if weights is None:
        found = mean(a, axis, keepdims=keepdims)
        scale = as_tensor(a.numel() / max(found.numel(), 1)) + ops.mul(found.detach(), 0)
        return (found, scale) if returned else found
    weights = floats(weights)
    if weights.shape != a.shape:
        axes = axes_of(axis, a.ndim)
        if axis is None or weights.shape != tuple(a.shape[each] for each in axes):
            raise ValueError("Shape of weights must be consistent with shape of a along the axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        shape = [n if each in axes else 1 for each, n in enumerate(a.shape)]
        weights = ops.reshape(ops.permute(weights, order), shape)
    scale = total(ops.broadcast_to(weights, list(a.shape)), axis, keepdims=keepdims)
    found = total(ops.mul(a, weights), axis, keepdims=keepdims) / scale
    return (found, scale) if returned else found


def _without_nan(reduce: Callable[..., Any], instead: float) -> Callable[..., Any]:
    """A reduction for which elements that are nan do not count."""

    def reduction(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
        a = as_tensor(a)
        return reduce(ops.where(ops.isnan(a), instead, a), axis, keepdims=keepdims)

    return reduction


def _extreme(reduce: Callable[..., Any], instead: float) -> Callable[..., Any]:
    """The same, nan where nothing is left."""
    inner = _without_nan(reduce, instead)

    def reduction(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
        a = as_tensor(a)
        nothing = every(ops.isnan(a), axis, keepdims=keepdims)
        return ops.where(nothing, np.nan, inner(a, axis, keepdims=keepdims))

    return reduction


def _nanmean(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    a = floats(a)
    return ops.nanmean(a, list(axes_of(axis, a.ndim)), keepdim=keepdims, dtype=dtype)


def _nanvar(a: Any, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    a = floats(a)
    missing = ops.isnan(a)
    count = total(~missing, axis, keepdims=True)
    middle = total(ops.where(missing, 0, a), axis, keepdims=True) / count
    difference = ops.where(missing, 0, a - middle)
    squares = total(ops.abs(difference) ** 2, axis, keepdims=True) / (count - ddof)
    return squares if keepdims else ops.squeeze(squares, axes_of(axis, a.ndim))


def _nanstd(a: Any, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    return ops.sqrt(_nanvar(a, axis, ddof=ddof, keepdims=keepdims))


def _running(op: str, instead: float | None = None) -> Callable[..., Any]:
    """A running sum or product, of all elements in one row unless there is an axis."""

    def scan(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
        a, axis = flat(a, axis)
        if instead is not None:
            a = ops.where(ops.isnan(a), instead, a)
        return getattr(ops, op)(a, axis, dtype=dtype)

    return scan


def _cumulative(op: str, first: int) -> Callable[..., Any]:
    def scan(
        x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        x = as_tensor(x)
        if axis is None and x.ndim != 1:
            raise ValueError("For arrays of several dimensions the `axis` argument is required.")
        place = axis or 0
        found = getattr(ops, op)(x, place, dtype=dtype)
        if not include_initial:
            return found
        before = ops.narrow(found, place, 0, 1) * 0 + first
        return ops.cat([before, found], place)

    return scan


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = floats(y)
    moved = ops.transpose(y, axis, -1)
    middle = (moved[..., 1:] + moved[..., :-1]) / 2
    if x is None:
        return ops.sum(middle * dx, -1)
    x = as_tensor(x)
    x = x if x.ndim == 1 else ops.transpose(x, axis, -1)
    return ops.sum(middle * (x[..., 1:] - x[..., :-1]), -1)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "all": every,
    "amax": largest,
    "amin": smallest,
    "any": some,
    "argmax": _arg("argmax"),
    "argmin": _arg("argmin"),
    "average": _average,
    "count_nonzero": _counted,
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "cumulative_prod": _cumulative("cumprod", 1),
    "cumulative_sum": _cumulative("cumsum", 0),
    "max": largest,
    "mean": mean,
    "median": _median("quantile"),
    "min": smallest,
    "nancumprod": _running("cumprod", 1),
    "nancumsum": _running("cumsum", 0),
    "nanmax": _extreme(largest, -np.inf),
    "nanmean": _nanmean,
    "nanmedian": _median("nanquantile"),
    "nanmin": _extreme(smallest, np.inf),
    "nanpercentile": _quantiles("nanquantile", 100),
    "nanprod": _without_nan(product, 1),
    "nanquantile": _quantiles("nanquantile", 1),
    "nanstd": _nanstd,
    "nansum": _without_nan(total, 0),
    "nanvar": _nanvar,
    "percentile": _quantiles("quantile", 100),
    "prod": product,
    "ptp": _ptp,
    "quantile": _quantiles("quantile", 1),
    "std": deviation,
    "sum": total,
    "trapezoid": _trapezoid,
    "var": variance,
}
"""The overrides by their names in `numpy`."""
