"""Order statistics and other statistics of samples: the same calls in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:.*degrees of freedom")]

nan, inf = float("nan"), float("inf")

COMPLEX = [
    *(complex(-inf, 3), complex(-inf, 0), 1 + 2j, 3 + 40j, complex(inf, 1), complex(inf, -2)),
    *(0j, -1e30 + 1j, complex(nan, 1), complex(1, nan), 200 - 1j, 200 + 2j),
]


def _with_gradient(lib: Any, function: Callable[[Any], Any], *values: float) -> Any:
    """Return a function's results, and the gradient of the sum of the first."""
    x = leaf(lib, *values)
    answer = function(x)
    (answer[0] if isinstance(answer, tuple) else answer).sum().backward()
    return answer, x.grad


POINTS: dict[str, tuple[Callable[[Any, Any], Any], tuple[float, ...]]] = {
    "median of ties": (lambda lib, x: x.median(), (1.0, 2.0, 2.0, 3.0)),
    "median with nan": (lambda lib, x: x.median(), (1.0, nan, nan, 3.0)),
    "median with infinities": (lambda lib, x: x.median(), (-inf, inf, inf)),
    "nanmedian with nan": (lambda lib, x: x.nanmedian(), (1.0, nan, 2.0, 2.0)),
    "nanmedian of nan": (lambda lib, x: x.nanmedian(), (nan, nan)),
    "median along a dimension": (lambda lib, x: x.median(0), (3.0, nan, nan)),
    "nanmedian along a dimension": (lambda lib, x: x.nanmedian(0), (3.0, nan, 1.0)),
    "mode of ties": (lambda lib, x: x.mode(), (2.0, 1.0, 2.0, 1.0, 0.0)),
    "cummax of ties and nan": (lambda lib, x: x.cummax(0), (1.0, 3.0, 3.0, nan, 2.0, nan, 5.0)),
    "cummin of ties and nan": (lambda lib, x: x.cummin(0), (1.0, 3.0, 1.0, nan, 2.0, nan, 5.0)),
    "cummax from -inf": (lambda lib, x: x.cummax(0), (-inf, -inf, 0.0, inf)),
    "logcumsumexp of large": (lambda lib, x: x.logcumsumexp(0), (1000.0, -1000.0, 1001.0)),
    "logcumsumexp up to inf": (lambda lib, x: x.logcumsumexp(0), (1.0, inf, 2.0, inf)),
    "logcumsumexp with nan": (lambda lib, x: x.logcumsumexp(0), (1.0, nan, 2.0)),
    "nansum with nan": (lambda lib, x: x.nansum(), (1.0, nan, 2.0)),
    "nansum of nan": (lambda lib, x: x.nansum(0, True), (nan, nan)),
    "nanmean with nan": (lambda lib, x: x.nanmean(0), (1.0, nan, 2.0)),
    "nanmean of nan": (lambda lib, x: x.nanmean(), (nan, nan)),
    "aminmax of ties": (lambda lib, x: tuple(x.aminmax()), (1.0, 1.0, 3.0)),
    "aminmax with nan": (lambda lib, x: tuple(x.aminmax(dim=0)), (1.0, nan, nan)),
    "std_mean of a constant": (lambda lib, x: tuple(lib.std_mean(x)), (1.0, 1.0)),
    "std_mean of one": (lambda lib, x: tuple(lib.std_mean(x)), (1.0,)),
    "var_mean of one": (lambda lib, x: tuple(lib.var_mean(x, 0, True, True)), (1.0,)),
}


@pytest.mark.parametrize("text", POINTS)
def test_point(text: str) -> None:
    import torch

    function, values = POINTS[text]
    assert_same(lambda lib: _with_gradient(lib, lambda x: function(lib, x), *values), torch)


CALLS: dict[str, Callable[[Any], Any]] = {
    "median of nothing": lambda lib: lib.ones(0).median(),
    "median of nothing along a dimension": lambda lib: lib.ones(0, 2).median(0),
    "medians of integers": lambda lib: [
        lib.tensor([5, 1, 3, 2]).median(),
        lib.tensor([5, 1, 3, 2]).nanmedian(0),
    ],
    "median of half precision": lambda lib: lib.tensor([1.0, 2.0]).half().median(),
    "median of bools": lambda lib: lib.tensor([True, False]).median(),
    "median of complex": lambda lib: lib.tensor([1j]).median(),
    "median of a scalar": lambda lib: list(leaf(lib, 2.0).reshape(()).median(-1)),
    "median over a wrong dimension": lambda lib: lib.ones(2).median(1),
    "mode of nothing": lambda lib: lib.ones(0).mode(),
    "mode of bools": lambda lib: list(lib.tensor([True, False, True]).mode()),
    "mode of a scalar": lambda lib: list(lib.tensor(3).mode()),
    "mode of complex": lambda lib: lib.tensor([1j]).mode(),
    "running extremes of nothing": lambda lib: list(lib.ones(2, 0).cummax(1)),
    "running extremes of integers": lambda lib: [*lib.tensor([1, 2, 0]).cummin(0)],
    "running extremes of bools": lambda lib: [*lib.tensor([True, False, True]).cummax(0)],
    "running extremes of complex": lambda lib: lib.tensor([1j]).cummax(0),
    "logcumsumexp of integers": lambda lib: lib.tensor([1, 2]).logcumsumexp(0),
    "logcumsumexp of a scalar": lambda lib: leaf(lib, inf).reshape(()).logcumsumexp(0),
    "logcumsumexp of complex numbers": lambda lib: [
        lib.tensor(COMPLEX).reshape(3, 4).logcumsumexp(dim) for dim in (0, 1)
    ],
    "logaddexp of complex numbers": lambda lib: lib.logaddexp(
        lib.tensor(COMPLEX)[:, None], lib.tensor(COMPLEX)
    ),
    "logcumsumexp of nothing": lambda lib: lib.ones(0, 2).logcumsumexp(0),
    "nansum of integers": lambda lib: lib.tensor([1, 2], dtype=lib.int32).nansum(),
    "nansum of bools": lambda lib: lib.tensor([True, True]).nansum(),
    "nansum in another dtype": lambda lib: leaf(lib, 1.0).nansum(dtype=lib.float32),
    "nansum over no dimensions": lambda lib: lib.nansum(lib.ones(2, 2), []),
    "nansum of complex": lambda lib: lib.tensor([1j]).nansum(),
    "nanmean of integers": lambda lib: lib.tensor([1, 2]).nanmean(),
    "nanmean of integers as floats": lambda lib: lib.tensor([1]).nanmean(dtype=lib.float32),
    "nanmean in another dtype": lambda lib: lib.tensor([1.0, 2.0]).nanmean(dtype=lib.float64),
    "nanmean of half precision": lambda lib: lib.tensor([1.0, 2.0]).half().nanmean(0),
    "count_nonzero": lambda lib: [lib.eye(3).count_nonzero(dim) for dim in (None, 1, (0, 1), ())],
    "count_nonzero of a scalar": lambda lib: lib.tensor(3.0).count_nonzero(0),
    "count_nonzero of complex and nan": lambda lib: lib.tensor([nan, 0, 1j]).count_nonzero(),
    "aminmax of nothing": lambda lib: lib.ones(0).aminmax(),
    "aminmax of nothing along a dimension": lambda lib: lib.ones(0, 2).aminmax(dim=0),
    "aminmax of bools": lambda lib: list(lib.tensor([True, False]).aminmax()),
    "aminmax that keeps dimensions": lambda lib: list(lib.ones(2, 2).aminmax(keepdim=True)),
    "aminmax of complex": lambda lib: lib.tensor([1j]).aminmax(),
    "std_mean of integers": lambda lib: lib.std_mean(lib.tensor([1, 2])),
    "var_mean of complex": lambda lib: list(lib.var_mean(lib.tensor([1j, 2]))),
    "std_mean of complex": lambda lib: list(lib.std_mean(lib.tensor([1j, 2]))),
    "std_mean with a correction": lambda lib: list(
        lib.std_mean(leaf(lib, 1.0, 3.0), dim=None, correction=0, keepdim=True)
    ),
    "names of outputs": lambda lib: [
        leaf(lib, 1.0).median(0).values,
        leaf(lib, 1.0).mode().indices,
        leaf(lib, 1.0).cummax(0).values,
        leaf(lib, 1.0).aminmax().max,
    ],
    "a modified tensor that cummax read": lambda lib: _modified(lib, lambda x: x.cummax(0)[0]),
    "a modified tensor that median read": lambda lib: _modified(lib, lambda x: x.median()),
}


def _modified(lib: Any, function: Callable[[Any], Any]) -> Any:
    """The backward pass after the input of an op was modified."""
    x = leaf(lib, 1.0, 2.0, 3.0) * 1
    out = function(x)
    x.mul_(2)
    return attempt(lambda: out.abs().sum().backward())


@pytest.mark.parametrize("text", CALLS)
def test_call(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: lib.unique(x, return_inverse=True)[0],
        lambda lib, x: lib.unique(x, dim=0),
        lambda lib, x: lib.unique_consecutive(x, return_counts=True)[0],
        lambda lib, x: lib.bincount(lib.tensor([0, 1, 1, 2]), x),
    ],
)
def test_gradients_that_there_are_not_are_refused(
    torch: Any, call: Callable[[Any, Any], Any]
) -> None:
    def behaviour(lib: Any) -> Any:
        found = call(lib, leaf(lib, 3.0, 1.0, 1.0, 2.0))
        try:
            found.sum().backward()
        except RuntimeError as error:  # a NotImplementedError is one
            return found.tolist(), found.requires_grad, "not implemented" in str(error)
        return found

    assert_same(behaviour, torch)
