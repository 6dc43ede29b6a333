"""No op gives a warning of NumPy's: inf and NaN are values, as in PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.tensor import Tensor

from .cases import CASES, Case, call_gradspec, convert, leaf, outputs

EDGES = np.array([0.0, -1.0, np.inf, -np.inf, np.nan, 1e308, 1e-308, -0.0, -1e30, 3.0])
"""Zero, what has no logarithm or square root, what is not finite, and what overflows."""


def _full_of_edges(dtype: str, start: int) -> Callable[[Any, bool], Tensor]:
    with np.errstate(all="ignore"):
        edges = np.roll(EDGES, start).astype(dtype)

    def convert_array(array: Any, requires_grad: bool) -> Tensor:
        if array.dtype.kind != "f":
            return leaf(array, False)
        return leaf(np.resize(edges, array.shape), requires_grad)

    return convert_array


def _without_elements(dim: int) -> Callable[[Any, bool], Tensor]:
    def convert_array(array: Any, requires_grad: bool) -> Tensor:
        chosen = (slice(None),) * dim + (slice(0),)
        return leaf(array[chosen].copy() if array.ndim > dim else array, requires_grad)

    return convert_array


WAYS = {
    "float64": _full_of_edges("float64", 0),
    "float64, rolled": _full_of_edges("float64", 3),
    "float32": _full_of_edges("float32", 2),
    "float16": _full_of_edges("float16", 1),
    "integers": lambda array, requires_grad: leaf(np.zeros(array.shape, np.int64), False),
    "no rows": _without_elements(0),
    "no columns": _without_elements(1),
}


def _use(case: Case, convert_array: Callable[[Any, bool], Tensor]) -> None:
    """The values, gradients, second derivatives and tangents of a call, as far as there are any."""
    arguments = convert(case.op, case.arguments(), convert_array)
    leaves = [v for v in _flat(arguments) if isinstance(v, Tensor) and v.requires_grad]
    results = [r for r in outputs(case.op, call_gradspec(case.op, arguments)) if r.requires_grad]
    for result in results:
        result.backward(gs.full_like(result, -2.0), retain_graph=True)
        cotangent = gs.full_like(result, -2.0)
        found = gs.autograd.grad(result, leaves, cotangent, create_graph=True, allow_unused=True)
        again = [grad for grad in found if grad is not None and grad.requires_grad]
        ones = [gs.ones_like(grad) for grad in again]
        if again:
            gs.autograd.grad(again, leaves, ones, allow_unused=True)
    with gs.autograd.forward_ad.dual_level():
        call_gradspec(case.op, {name: _dual(value) for name, value in arguments.items()})


def _flat(arguments: dict[str, Any]) -> Iterator[Any]:
    for value in arguments.values():
        yield from value if isinstance(value, list) else [value]


def _dual(value: Any) -> Any:
    if isinstance(value, list):
        return [_dual(item) for item in value]
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    return gs.autograd.forward_ad.make_dual(value.detach(), gs.full_like(value, -3.0))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_edges_are_computed_without_a_warning(case: Case) -> None:
    given = []
    for way, convert_array in WAYS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # What is in a call may be refused: that is the subject of other tests.
            with suppress(RuntimeError, IndexError, ValueError, TypeError, ZeroDivisionError):
                _use(case, convert_array)
        given += [
            f"{way}: {w.message} ({w.filename}:{w.lineno})"
            for w in caught
            if issubclass(w.category, RuntimeWarning)  # NumPy's, not ours to users
        ]
    assert not given, "\n".join(given)
