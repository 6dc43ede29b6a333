"""float32 stays float32, forward and backward: no stray float64 constant or intermediate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from .cases import CASES, Case, at, call_gradspec, convert, leaf, outputs, variables


def _float32(array: Any, _: bool) -> Any:
    return array.astype(np.float32) if array.dtype.kind == "f" else array


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.op.signature.name not in ("to", "float_power")],
    ids=lambda case: case.label,
)
def test_every_gradient_is_float32(case: Case) -> None:
    arguments = {
        name: np.dtype(np.float32) if isinstance(value, np.dtype) else value
        for name, value in convert(case.op, case.arguments(), _float32).items()
    }
    converted = convert(case.op, arguments, leaf)
    result = call_gradspec(case.op, converted)
    roots = [item for item in outputs(case.op, result) if item.requires_grad]
    assert all(root.dtype in (np.float32, np.complex64) for root in roots)
    inputs = at(converted, variables(case.op, arguments))
    if roots and inputs:
        total = sum(gs.real(root).sum() for root in roots)
        first = gs.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
        assert all(grad is None or grad.dtype == np.float32 for grad in first)
        again = [grad.sum() for grad in first if grad is not None and grad.requires_grad]
        second = gs.autograd.grad(sum(again), inputs, allow_unused=True) if again else []
        assert all(grad is None or grad.dtype == np.float32 for grad in second)


@pytest.mark.parametrize("first", [np.float32, np.float64])
@pytest.mark.parametrize("second", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "pow", "sub"])
def test_a_gradient_has_the_dtype_of_its_input(name: str, first: Any, second: Any) -> None:
    a = leaf(np.array([0.5, 1.5], first), True)
    b = leaf(np.array([[2.0], [3.0]], second), True)
    getattr(gs, name)(a, b).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert (a.grad.dtype, b.grad.dtype) == (np.dtype(first), np.dtype(second))
    assert (a.grad.shape, b.grad.shape) == ((2,), (2, 1))
