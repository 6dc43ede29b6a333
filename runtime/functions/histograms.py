"""Elements counted in bins: `histogram` of all elements, `histogramdd` of points in a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..batching.examples import reading_each_example
from ..core.tensor import Tensor, wrap
from ..dispatch.named_results import Result
from ..inplace.keywords import accepts_out
from ..kernels.elementwise.checks import floating

Array: TypeAlias = np.ndarray[Any, Any]


class HistogramResult(Result):
    """The results of `histogram`."""

    __slots__ = ()
    hist: Tensor
    bin_edges: Tensor


class HistogramddResult(Result):
    """The results of `histogramdd`; `bin_edges` has a tensor for each dimension of the space."""

    __slots__ = ()
    hist: Tensor
    bin_edges: Any


@accepts_out
@reading_each_example
@np.errstate(all="ignore")
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> HistogramResult:
    """Count the elements in bins of one width, or between given edges; the last edge belongs to it.

    `weight` has a number for each element to count instead of 1; `density` divides by the total
    and by the widths. NotImplementedError for integers.
    """
    floating("histogram_cpu", input.array)
    edges = _bins(input, bins)
    if range is not None and isinstance(bins, Tensor):
        raise TypeError(
            "histogram() received an invalid combination of arguments: a range is for a number of "
            "bins, not beside their edges"
        )
    span: Any = None if range is None else _span(range)
    weights = _weights(input, weight, input.array.shape)
    hist, found = np.histogram(input.array.astype(np.float64), edges, span, density, weights)
    dtype = input.array.dtype
    return HistogramResult(wrap(hist.astype(dtype)), wrap(np.asanyarray(found).astype(dtype)))


@reading_each_example
@np.errstate(all="ignore")
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> HistogramddResult:
    """Count points, whose coordinates are in the last dimension, in the boxes of a grid.

    `bins` has a number of bins, or edges, for each coordinate, or a number for all; `range` the
    least and the greatest of each, in one list. `weight` has a number for each point. The other
    arguments and the errors are those of `histogram`.
    """
    floating("histogramdd", input.array)
    if not input.array.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    size = input.array.shape[-1]
    listed: Sequence[Any] = [bins] * size if isinstance(bins, int) else list(bins)
    if len(listed) != size:
        raise RuntimeError(
            f"torch.histogramdd: expected {size} sequences of bin edges for a {size}-dimensional "
            f"histogram but got {len(listed)}"
        )
    if range is not None and len(range) != 2 * size:
        raise RuntimeError(
            f"torch.histogramdd: for a {size}-dimensional histogram range should have {2 * size} "
            f"elements, but got {len(range)}"
        )
    edges = [_bins(input, each) for each in listed]
    spans = None
    if range is not None:
        spans = [_span(pair) for pair in zip(range[::2], range[1::2], strict=True)]
    weights = _weights(input, weight, input.array.shape[:-1])
    dtype = input.array.dtype
    if not size:
        return HistogramddResult(wrap(np.asarray(np.nan if density else 0.0, dtype)), ())
    points = input.array.astype(np.float64).reshape(-1, size)
    flat = None if weights is None else weights.reshape(-1)
    hist, found = np.histogramdd(points, edges, spans, density, flat)
    return HistogramddResult(
        wrap(hist.astype(dtype)), tuple(wrap(np.asanyarray(each).astype(dtype)) for each in found)
    )


def _bins(input: Tensor, bins: int | Tensor) -> Any:
    """The edges of bins in float64, or their number."""
    if not isinstance(bins, Tensor):
        if bins < 1:
            raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {bins}")
        return bins
    _check_dtype(input, bins, "bins tensors")
    if bins.array.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd(): bins tensor should have one dimension, but got {bins.array.ndim}"
        )
    if not bins.array.size:
        raise RuntimeError("torch.histogramdd(): bins tensor should have at least 1 element")
    return bins.array.astype(np.float64)


def _span(range: Sequence[float]) -> tuple[float, float]:
    low, high = map(float, range)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd(): range [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError("torch.histogramdd(): min should not exceed max")
    return low, high


def _weights(input: Tensor, weight: Tensor | None, shape: tuple[int, ...]) -> Array | None:
    if weight is None:
        return None
    _check_dtype(input, weight, "weight tensor")
    if weight.array.shape != shape:
        raise RuntimeError(
            "torch.histogramdd(): if weight tensor is provided it should have the same shape as "
            f"the input tensor excluding its innermost dimension, but got {list(weight.shape)}"
        )
    return weight.array.astype(np.float64)


def _check_dtype(input: Tensor, other: Tensor, name: str) -> None:
    if other.array.dtype != input.array.dtype:
        raise RuntimeError(
            f"torch.histogramdd(): input tensor and {name} should have the same dtype, but got "
            f"{input.array.dtype} and {other.array.dtype}"
        )


class HistogramMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    histogram = histogram
