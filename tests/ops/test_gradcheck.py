"""Gradients, first and second, against finite differences; forward mode against reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad

from .cases import CASES, Arguments, Case, at, call_gradspec, convert, leaf, outputs, variables

NOT_SMOOTH = {"sign", "floor", "ceil", "round", "trunc"}
"""Piecewise constant: finite differences say nothing of them."""

SMOOTH = [
    case
    for case in CASES
    if variables(case.op, case.arguments())
    and case.op.signature.name not in NOT_SMOOTH
    and any(
        item.requires_grad
        for item in outputs(
            case.op, call_gradspec(case.op, convert(case.op, case.arguments(), leaf))
        )
    )
]


def _function(case: Case, arguments: Arguments) -> tuple[Callable[..., Any], list[Any]]:
    """The call as a function of its float arguments alone, and those.

    It answers the outputs that depend on them, which may be a matter of a flag.
    """
    converted = convert(case.op, arguments, leaf)
    places = variables(case.op, arguments)
    recorded = outputs(case.op, call_gradspec(case.op, converted))
    smooth = [place for place, item in enumerate(recorded) if item.requires_grad]

    def function(*tensors: Any) -> Any:
        values = {k: list(v) if isinstance(v, list) else v for k, v in converted.items()}
        for (name, position), tensor in zip(places, tensors, strict=True):
            if position is None:
                values[name] = tensor
            else:
                values[name][position] = tensor
        every = outputs(case.op, call_gradspec(case.op, values))
        found = [_in_real_numbers(every[place]) for place in smooth]
        return found[0] if len(found) == 1 else tuple(found)

    return function, at(converted, places)


def _in_real_numbers(result: Any) -> Any:
    """A result, of which complex numbers are pairs of real ones."""
    return gs.view_as_real(result) if result.dtype.kind == "c" else result


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.label)
def test_gradients(case: Case) -> None:
    function, inputs = _function(case, case.arguments())
    assert gs.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.label)
def test_second_gradients(case: Case) -> None:
    function, inputs = _function(case, case.arguments())
    assert gs.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.label)
def test_forward_mode_is_dual_to_reverse_mode(case: Case) -> None:
    """`<g, J t> = <J^T g, t>` for random tangents `t` and cotangents `g`."""
    function, inputs = _function(case, case.arguments())
    rng = np.random.default_rng(7)
    tangents = [leaf(rng.normal(size=x.shape), False) for x in inputs]
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), t) for x, t in zip(inputs, tangents, strict=True)]
        results = function(*duals)
        results = results if isinstance(results, tuple) else (results,)
        found = [forward_ad.unpack_dual(item).tangent for item in results]
    outs = function(*inputs)
    outs = outs if isinstance(outs, tuple) else (outs,)
    cotangents = [leaf(rng.normal(size=out.shape), False) for out in outs]
    grads = gs.autograd.grad(outs, inputs, cotangents, materialize_grads=True)
    forward = sum(float((g * t).sum()) for g, t in zip(cotangents, found, strict=True))
    reverse = sum(float((g * t).sum()) for g, t in zip(grads, tangents, strict=True))
    assert forward == pytest.approx(reverse, rel=1e-9, abs=1e-12)


def _weighted_sum(results: Any) -> Any:
    """A scalar of which no part of the outputs drops out."""
    found = results if isinstance(results, tuple) else (results,)
    weights = np.random.default_rng(5)
    return sum((out * gs.from_numpy(weights.uniform(0.5, 1.5, out.shape))).sum() for out in found)


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case.label)
def test_forward_over_reverse(case: Case) -> None:
    """The tangent of a gradient is the product of the Hessian, found by two reverse passes."""
    function, inputs = _function(case, case.arguments())
    rng = np.random.default_rng(7)
    directions = [gs.from_numpy(rng.uniform(-1, 1, tensor.shape)) for tensor in inputs]
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(tensor, direction)
            for tensor, direction in zip(inputs, directions, strict=True)
        ]
        gradients = gs.autograd.grad(_weighted_sum(function(*duals)), duals, materialize_grads=True)
        tangents = [forward_ad.unpack_dual(gradient).tangent for gradient in gradients]
    gradients = gs.autograd.grad(
        _weighted_sum(function(*inputs)), inputs, create_graph=True, materialize_grads=True
    )
    slope = sum(
        (gradient * direction).sum()
        for gradient, direction in zip(gradients, directions, strict=True)
    )
    expected = [gs.zeros_like(tensor) for tensor in inputs]
    if slope.requires_grad:
        expected = gs.autograd.grad(slope, inputs, materialize_grads=True)
    for tangent, product in zip(tangents, expected, strict=True):
        found = np.zeros(product.shape) if tangent is None else tangent.numpy()
        np.testing.assert_allclose(found, product.detach().numpy(), rtol=1e-7, atol=1e-9)
