"""Every op of the table, compiled, on its examples: the same results and gradients as eager.

A program is captured on other numbers than those that it is compared on, so that a value of the
capture that stays in the program is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler import CaptureError
from gradspec.core.tensor import Tensor, wrap

from .cases import (
    CASES,
    Case,
    at,
    call_gradspec,
    convert,
    is_differentiable,
    leaf,
    outputs,
    variables,
)

OF_UNKNOWN_SHAPE = ("where", "masked_select", "argwhere", "bincount")
"""Ops whose results have a shape that depends on data."""

ROUNDED_DIFFERENTLY = ("linalg_vector_norm-4", "float_power.Tensor_Scalar-0", "mm-2")
"""Powers of single numbers, which NumPy computes in another way than those of arrays, and products
whose operands lie in memory in another way."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_compiled_op_answers_as_eager_does(case: Case) -> None:
    def call(tensors: dict[str, Any]) -> Any:
        return call_gradspec(case.op, tensors)

    compiled = gs.compile(call, backend="numpy")
    arguments = case.arguments()
    expected = _answers(call, case, arguments)
    if case.op.name in OF_UNKNOWN_SHAPE:
        with pytest.raises(CaptureError, match="shape of a result depends on data"):
            _answers(compiled, case, _moved(arguments))
        return
    _answers(compiled, case, _moved(arguments))
    found = _answers(compiled, case, arguments)
    assert len(found) == len(expected)
    tolerance = 1e-13 if case.label in ROUNDED_DIFFERENTLY else 0
    for ours, wanted in zip(found, expected, strict=True):
        if isinstance(wanted, np.ndarray):
            assert (ours.dtype, ours.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(ours, wanted, rtol=tolerance, atol=0)
        else:
            assert ours == wanted


IN_C = [case for case in CASES[::12] if case.op.name not in OF_UNKNOWN_SHAPE]
"""Building a library takes a fifth of a second: one case in twelve is compiled to C."""


@pytest.mark.parametrize("case", IN_C, ids=lambda case: case.label)
def test_a_compiled_op_answers_in_c_as_eager_does(case: Case) -> None:
    """Vector math of C and sums by lanes differ in the last digits."""

    def call(tensors: dict[str, Any]) -> Any:
        return call_gradspec(case.op, tensors)

    compiled = gs.compile(call, backend="c")
    arguments = case.arguments()
    expected = _answers(call, case, arguments)
    _answers(compiled, case, _moved(arguments))
    found = _answers(compiled, case, arguments)
    assert len(found) == len(expected)
    for ours, wanted in zip(found, expected, strict=True):
        if isinstance(wanted, np.ndarray):
            assert (ours.dtype, ours.shape) == (wanted.dtype, wanted.shape)
            tolerance = 1e-5 if wanted.dtype == np.float32 else 1e-11
            np.testing.assert_allclose(ours, wanted, rtol=tolerance, atol=tolerance * 1e-3)
        else:
            assert ours == wanted


def _moved(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the same forms with their floating-point numbers in other places."""

    def move(value: Any) -> Any:
        if isinstance(value, list):
            return [move(item) for item in value]
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
            return value
        return np.flip(value).copy() if value.size > 1 else np.asarray(value * 0.99)

    return {name: move(value) for name, value in arguments.items()}


def _answers(call: Callable[[Any], Any], case: Case, arguments: dict[str, Any]) -> list[Any]:
    """All results of a call, and the gradients of the arguments by those that have one."""
    tensors = convert(case.op, arguments, leaf)
    result = call(tensors)
    places = variables(case.op, arguments) if is_differentiable(case.op) else []
    leaves = at(tensors, places)
    roots = [o for o in outputs(case.op, result) if isinstance(o, Tensor) and o.requires_grad]
    found = list(result) if isinstance(result, tuple | list) else [result]
    if roots and leaves:
        rng = np.random.default_rng(0)
        cotangents = [
            wrap(np.asarray(rng.uniform(0.5, 1.5, o.shape)).astype(o.dtype)) for o in roots
        ]
        found += gs.autograd.grad(roots, leaves, cotangents, allow_unused=True)
    return [item.array if isinstance(item, Tensor) else item for item in found]
