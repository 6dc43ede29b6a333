"""Quantiles, covariances, integrals, differences and counts: the same calls in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same, leaf

pytestmark = pytest.mark.oracle

nan, inf = float("nan"), float("inf")

Call = Callable[[Any], Any]


def _gradient(lib: Any, function: Callable[[Any], Any], *values: float) -> Any:
    """Return a function's result, and the gradient of the sum of its squares."""
    x = leaf(lib, *values)
    answer = function(x)
    (answer * answer).sum().backward()
    return answer, x.grad


def _is_refused(function: Callable[[], Any]) -> bool:
    """Return whether a call raises RuntimeError, of which NotImplementedError is a kind."""
    try:
        function()
    except RuntimeError:
        return True
    return False


def _quantile(name: str, interpolation: str, *values: float) -> Call:
    return lambda lib: _gradient(
        lib, lambda x: getattr(x, name)(0.3, interpolation=interpolation), *values
    )


QUANTILES: dict[str, Call] = {
    **{
        f"{name}, {interpolation}": _quantile(name, interpolation, 1.0, 4.0, 2.0, nan)
        for name in ("quantile", "nanquantile")
        for interpolation in ("linear", "lower", "higher", "midpoint", "nearest")
    },
    "with infinities": _quantile("quantile", "linear", -inf, 1.0, inf),
    "of nan": _quantile("nanquantile", "linear", nan, nan),
    "of one": _quantile("quantile", "midpoint", 2.0),
    "of a scalar": lambda lib: leaf(lib, 2.0).reshape(()).quantile(0.5, 0),
    "at several": lambda lib: _gradient(
        lib, lambda x: x.quantile(lib.tensor([0.0, 0.3, 1.0]).double(), 0), 1.0, 3.0, 2.0
    ),
    "a gradient to the share": lambda lib: _gradient(
        lib, lambda q: lib.tensor([1.0, 3.0, 2.0]).double().quantile(q), 0.3, 0.8
    ),
    "dimensions that are kept": lambda lib: [
        lib.quantile(lib.ones(2, 3, 2), lib.tensor([0.5]), dim=dim, keepdim=True)
        for dim in (None, 0, -2, -1)
    ],
    "of integers": lambda lib: lib.quantile(lib.tensor([1, 2]), 0.5),
    "of half precision": lambda lib: lib.quantile(lib.ones(2).half(), 0.5),
    "of nothing": lambda lib: lib.quantile(lib.ones(0), 0.5),
    "of two dtypes": lambda lib: lib.quantile(lib.ones(2), leaf(lib, 0.5)),
    "outside of the range": lambda lib: lib.quantile(lib.ones(2), 1.5),
    "of a matrix of shares": lambda lib: lib.quantile(lib.ones(2), lib.ones(1, 1)),
    "of an unknown kind": lambda lib: lib.quantile(lib.ones(2), 0.5, interpolation="cubic"),
}

COVARIANCES: dict[str, Call] = {
    "of a variable": lambda lib: _gradient(lib, lambda x: x.cov(), 1.0, 2.0, 4.0),
    "of integers": lambda lib: lib.tensor([[1, 2], [3, 5]]).cov(),
    "of bools": lambda lib: lib.tensor([True]).cov(),
    "of three dimensions": lambda lib: lib.ones(1, 1, 1).cov(),
    "of no observations": lambda lib: lib.ones(2, 0).cov(),
    "of one observation": lambda lib: lib.ones(2, 1).cov(),
    "of complex": lambda lib: lib.tensor([[1j, 2], [3, 1 - 1j]]).cov(),
    "weights": lambda lib: lib.tensor([1.0, 2.0]).cov(aweights=lib.tensor([0.5, 2.0])),
    "fweights of floats": lambda lib: lib.ones(2).cov(fweights=lib.tensor([1.0, 2.0])),
    "aweights of integers": lambda lib: lib.ones(2).cov(aweights=lib.tensor([1, 2])),
    "negative weights": lambda lib: lib.ones(2).cov(fweights=lib.tensor([1, -2])),
    "weights of zero": lambda lib: lib.ones(2).cov(fweights=lib.tensor([0, 0])),
    "too few weights": lambda lib: lib.ones(2).cov(fweights=lib.tensor([1])),
    "a matrix of weights": lambda lib: lib.ones(2).cov(fweights=lib.tensor([[1, 1]])),
    "correlation": lambda lib: _gradient(
        lib, lambda x: x.reshape(2, 3).corrcoef(), 1.0, 2.0, 4.0, 3.0, 0.5, -1.0
    ),
    "correlation of complex numbers": lambda lib: _gradient(
        lib,
        lambda x: lib.view_as_real(lib.view_as_complex(x.reshape(2, 3, 2)).corrcoef()) + 1,
        1.0,
        2.0,
        4.0,
        3.0,
        0.5,
        -1.0,
        0.0,
        1.0,
        -2.0,
        0.3,
        2.0,
        5.0,
    ),
    "correlation of one complex variable": lambda lib: lib.tensor([1j, 2.0, 0.5 - 1j]).corrcoef(),
    "correlation of one variable": lambda lib: leaf(lib, 1.0, 2.0).corrcoef(),
    "correlation of constants": lambda lib: lib.ones(2, 3).corrcoef(),
    "correlation of three dimensions": lambda lib: lib.ones(1, 1, 1).corrcoef(),
}

INTEGRALS: dict[str, Call] = {
    "nodes": lambda lib: [
        lib.trapezoid(leaf(lib, 1.0, 2.0)),
        lib.trapezoid(leaf(lib, 1.0, 2.0), dx=0.5),
        lib.trapezoid(leaf(lib, 1.0, 2.0), lib.tensor([1.0, 3.0])),
        lib.trapz(leaf(lib, 1.0, 2.0), dx=0.5),
        lib.cumulative_trapezoid(leaf(lib, 1.0, 2.0)),
        lib.cumulative_trapezoid(leaf(lib, 1.0, 2.0), lib.tensor([1.0, 3.0])),
    ],
    "of integers": lambda lib: [
        lib.trapezoid(lib.tensor([1, 2])),
        lib.trapezoid(lib.tensor([1, 2]), lib.tensor([1, 3])),
        lib.cumulative_trapezoid(lib.tensor([1, 2])),
    ],
    "of nothing": lambda lib: [
        lib.trapezoid(lib.ones(2, 0)),
        lib.cumulative_trapezoid(lib.ones(2, 0)),
    ],
    "of one": lambda lib: [lib.trapezoid(lib.ones(1)), lib.cumulative_trapezoid(lib.ones(1))],
    "of a scalar": lambda lib: lib.trapezoid(lib.tensor(1.0)),
    "too many points": lambda lib: lib.trapezoid(lib.ones(2), lib.ones(3)),
    "points of bools": lambda lib: _is_refused(
        lambda: lib.trapezoid(lib.ones(2), lib.tensor([True, True]))
    ),
    "a complex width": lambda lib: lib.trapezoid(lib.ones(2), dx=1j),
    "a width that is no keyword": lambda lib: lib.trapezoid(lib.ones(2), 2.0),
}

DIFFERENCES: dict[str, Call] = {
    "none": lambda lib: leaf(lib, 1.0, 2.0).diff(0),
    "twice": lambda lib: _gradient(lib, lambda x: x.diff(2), 1.0, 4.0, 2.0, 7.0),
    "more than there are": lambda lib: leaf(lib, 1.0, 2.0).diff(5),
    "of bools": lambda lib: lib.tensor([True, False, False]).diff(),
    "of integers and a float": lambda lib: lib.tensor([1, 2]).diff(prepend=lib.tensor([0.5])),
    "of a scalar": lambda lib: lib.tensor(1.0).diff(),
    "a negative number": lambda lib: lib.ones(2).diff(-1),
    "of a wrong dimension": lambda lib: lib.ones(2).diff(dim=1),
    "of wrong ends": lambda lib: lib.ones(2, 2).diff(prepend=lib.ones(1)),
    "of ends of a wrong size": lambda lib: lib.ones(2, 2).diff(append=lib.ones(1, 2)),
    "slopes": lambda lib: list(lib.gradient(leaf(lib, 1.0, 4.0, 9.0, 12.0), spacing=0.5)),
    "slopes of the second order": lambda lib: [
        *lib.gradient(leaf(lib, 1.0, 4.0, 9.0, 12.0), edge_order=2),
        *lib.gradient(
            leaf(lib, 1.0, 4.0, 9.0, 12.0),
            spacing=(lib.tensor([0.0, 1.0, 3.0, 3.5]),),
            edge_order=2,
        ),
    ],
    "slopes of integers": lambda lib: list(lib.gradient(lib.tensor([1, 4, 9]))),
    "slopes of too few": lambda lib: lib.gradient(lib.ones(2), edge_order=2),
    "slopes of the third order": lambda lib: lib.gradient(lib.ones(4), edge_order=3),
    "slopes at too many widths": lambda lib: lib.gradient(lib.ones(3, 3), spacing=[1.0] * 3),
    "slopes along a dimension twice": lambda lib: lib.gradient(lib.ones(3, 3), dim=(0, 0)),
}


def _dist(p: float) -> Call:
    return lambda lib: _gradient(lib, lambda x: lib.dist(x, lib.zeros(3)), 0.0, -3.0, 3.0)


LENGTHS: dict[str, Call] = {
    **{f"distance of order {p}": _dist(p) for p in (0, 0.5, 1, 1.5, 2, 3, inf, -inf)},
    "distance of the same": lambda lib: _gradient(
        lib, lambda x: lib.dist(x, lib.tensor([1.0, 2.0])), 1.0, 2.0
    ),
    "distance of integers": lambda lib: lib.dist(lib.tensor([1]), lib.tensor([2])),
    "distance of a float": lambda lib: lib.dist(lib.tensor([1]), lib.tensor([2.5])),
    "shorter": lambda lib: _gradient(
        lib, lambda x: x.reshape(2, 2).renorm(2, 0, 2.5), 3.0, -4.0, 1.0, 0.0
    ),
    "as short as may be": lambda lib: _gradient(
        lib, lambda x: x.reshape(2, 2).renorm(1, 0, 1.0), 0.5, -0.5, 0.25, 0.75
    ),
    "shorter zeros": lambda lib: _gradient(
        lib, lambda x: x.reshape(1, 2).renorm(2, 0, 0.0), 0.0, 0.0
    ),
    "shorter by the largest": lambda lib: _gradient(
        lib, lambda x: x.reshape(1, 2).renorm(inf, 0, 0.5), 2.0, 2.0
    ),
    "shorter none": lambda lib: lib.ones(0, 3).renorm(2, 0, 1),
    "shorter halves": lambda lib: lib.ones(2, 3).half().renorm(2, 0, 1),
    "shorter vector": lambda lib: lib.ones(3).renorm(2, 0, 1),
    "shorter by no order": lambda lib: lib.ones(3, 3).renorm(0, 0, 1),
    "shorter than nothing": lambda lib: lib.ones(3, 3).renorm(2, 0, -1),
    "shorter integers": lambda lib: lib.tensor([[1, 2]]).renorm(2, 0, 1),
}

COUNTS: dict[str, Call] = {
    "histc": lambda lib: [
        lib.tensor([1.0, 2.0, 1.0]).histc(4),
        lib.tensor([1.0, 2.0, 9.0, nan]).histc(4, 0, 3),
        lib.tensor([1.0, 1.0]).histc(4),
        lib.ones(0).histc(3),
        leaf(lib, 1.0).histc(2, min=0, max=2),
    ],
    "histc of integers": lambda lib: lib.tensor([1, 2]).histc(4),
    "histc of nan": lambda lib: lib.tensor([1.0, nan]).histc(4),
    "histc of no bins": lambda lib: lib.ones(2).histc(0),
    "histc of a range that is none": lambda lib: lib.ones(2).histc(2, 3, 1),
    "bincount": lambda lib: [
        lib.tensor([1, 1, 3]).bincount(),
        lib.tensor([1, 1, 3]).bincount(minlength=6),
        lib.tensor([1, 1, 3]).bincount(lib.tensor([0.5, 1.0, 2.0])),
        lib.tensor([1, 1, 3]).bincount(lib.tensor([1, 1, 2])),
        lib.tensor([], dtype=lib.int64).bincount(minlength=3),
    ],
    "bincount of negative numbers": lambda lib: lib.tensor([-1]).bincount(),
    "bincount of floats": lambda lib: lib.tensor([1.0]).bincount(),
    "bincount of a matrix": lambda lib: lib.tensor([[1]]).bincount(),
    "bincount with too many weights": lambda lib: lib.tensor([1]).bincount(lib.ones(2)),
    "bincount of negative length": lambda lib: lib.tensor([1]).bincount(minlength=-1),
    "gradient of bincount": lambda lib: _is_refused(
        lambda: lib.tensor([1, 1]).bincount(leaf(lib, 1.0, 2.0)).sum().backward()
    ),
    "searchsorted with nan": lambda lib: [
        lib.searchsorted(lib.tensor([1.0, 3.0, 5.0]), lib.tensor([nan, 3.0]), right=right)
        for right in (False, True)
    ],
    "searchsorted of lines": lambda lib: lib.searchsorted(
        lib.tensor([[1.0, 3.0], [2.0, 4.0]]), lib.tensor([[3.0], [3.0]]), out_int32=True
    ),
    "searchsorted with a sorter": lambda lib: lib.searchsorted(
        lib.tensor([5.0, 1.0, 3.0]), 3.0, sorter=lib.tensor([1, 2, 0]), side="right"
    ),
    "searchsorted of other lines": lambda lib: lib.searchsorted(lib.ones(2, 2), lib.ones(1)),
    "searchsorted of a number in lines": lambda lib: lib.searchsorted(lib.ones(2, 2), 1.0),
    "searchsorted on an unknown side": lambda lib: lib.searchsorted(lib.ones(2), 1.0, side="x"),
    "searchsorted on both sides": lambda lib: lib.searchsorted(
        lib.ones(2), 1.0, side="left", right=True
    ),
    "a sorter of a wrong size": lambda lib: lib.searchsorted(
        lib.ones(3), 1.0, sorter=lib.tensor([0, 1])
    ),
    "a sorter out of range": lambda lib: lib.searchsorted(
        lib.ones(2), 1.0, sorter=lib.tensor([0, 5])
    ),
    "bucketize": lambda lib: [
        lib.bucketize(lib.tensor([1.0, 2.5]), lib.tensor([1.0, 2.0])),
        lib.bucketize(1.0, lib.tensor([1.0, 2.0]), right=True),
    ],
    "bucketize by a matrix": lambda lib: lib.bucketize(1.0, lib.ones(1, 2)),
    "unique": lambda lib: [
        lib.unique(lib.tensor([[3, 1], [1, 3]]), return_inverse=True, return_counts=True),
        lib.tensor([3.0, 1.0, nan, nan]).unique(return_inverse=True),
        lib.tensor([True, False]).unique(False, False, True),
        lib.ones(0).unique(),
        lib.tensor(3.0).unique(return_inverse=True, return_counts=True),
    ],
    "unique along a dimension": lambda lib: [
        lib.tensor([[3, 1], [1, 3], [3, 1]]).unique(
            dim=dim, return_inverse=True, return_counts=True
        )
        for dim in (0, -1)
    ],
    "unique along an empty dimension": lambda lib: lib.ones(0, 2).unique(dim=0),
    "unique of nothing": lambda lib: lib.ones(0, 2).unique(dim=1),
    "unique of complex": lambda lib: lib.tensor([1j]).unique(),
    "unique of neighbours": lambda lib: [
        lib.unique_consecutive(lib.tensor([1, 1, 2, 1]), True, True),
        lib.tensor([[1, 1], [1, 1], [2, 1]]).unique_consecutive(dim=0, return_counts=True),
        lib.tensor([[1, 1], [1, 1], [2, 1]]).unique_consecutive(dim=1, return_inverse=True),
        lib.tensor([nan, nan]).unique_consecutive(return_counts=True),
        lib.ones(0).unique_consecutive(return_inverse=True, return_counts=True),
    ],
}

CALLS: Mapping[str, Call] = {
    f"{topic}: {text}": call
    for topic, calls in (
        ("quantile", QUANTILES),
        ("covariance", COVARIANCES),
        ("integral", INTEGRALS),
        ("difference", DIFFERENCES),
        ("length", LENGTHS),
        ("count", COUNTS),
    )
    for text, call in calls.items()
}


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)
