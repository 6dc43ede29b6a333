"""Activations at their kinks and at infinities, in place, and refused: as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.behaviours import assert_same, leaf

pytestmark = pytest.mark.oracle

POINTS = (
    *(-math.inf, -1e300, -1000.0, -6.0, -3.0, -1.0, -0.5, -0.25, -0.0),
    *(0.0, 0.25, 0.5, 1.0, 3.0, 6.0, 1000.0, 1e300, math.inf, math.nan),
)
"""The kinks of all of them, their neighbours, and numbers that are not finite."""

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "elu": lambda f, x: f.elu(x),
    "elu, alpha 2": lambda f, x: f.elu(x, 2.0),
    "elu, alpha -0.5": lambda f, x: f.elu(x, -0.5),
    "elu, alpha 0": lambda f, x: f.elu(x, 0.0),
    "selu": lambda f, x: f.selu(x),
    "celu": lambda f, x: f.celu(x),
    "celu, alpha 2": lambda f, x: f.celu(x, 2.0),
    "celu, alpha -2": lambda f, x: f.celu(x, -2.0),
    "relu": lambda f, x: f.relu(x),
    "relu6": lambda f, x: f.relu6(x),
    "hardtanh": lambda f, x: f.hardtanh(x),
    "hardtanh at a point": lambda f, x: f.hardtanh(x, 0.5, 0.5),
    "hardswish": lambda f, x: f.hardswish(x),
    "leaky_relu": lambda f, x: f.leaky_relu(x, 0.25),
    "silu": lambda f, x: f.silu(x),
    "softsign": lambda f, x: f.softsign(x),
    "threshold": lambda f, x: f.threshold(x, 0.5, 7.0),
    "hardshrink": lambda f, x: f.hardshrink(x),
    "hardshrink, lambda 0": lambda f, x: f.hardshrink(x, 0.0),
    "hardshrink, lambda -1": lambda f, x: f.hardshrink(x, -1.0),
    "softshrink": lambda f, x: f.softshrink(x),
    "softshrink, lambda 0": lambda f, x: f.softshrink(x, 0.0),
    "tanhshrink": lambda f, x: f.tanhshrink(x),
}

ONCE: dict[str, Callable[[Any, Any], Any]] = {
    "hardsigmoid": lambda f, x: f.hardsigmoid(x),
    "mish": lambda f, x: f.mish(x),
}
"""PyTorch has no second derivative of one, and of the other nan for large numbers."""


def _derivatives(lib: Any, function: Callable[[Any, Any], Any], most: int) -> list[Any]:
    """The value, and a number of derivatives."""
    x = leaf(lib, *POINTS)
    found = [function(lib.nn.functional, x)]
    for _ in range(most):
        ones = lib.ones_like(found[-1])
        found += lib.autograd.grad(found[-1], x, ones, create_graph=True)
    return [*found[:-1], found[-1].detach()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_at_special_points(name: str) -> None:
    import torch

    assert_same(lambda lib: _derivatives(lib, FUNCTIONS[name], 2), torch)


@pytest.mark.parametrize("name", ONCE)
def test_values_and_slopes_at_special_points(name: str) -> None:
    import torch

    assert_same(lambda lib: _derivatives(lib, ONCE[name], 1), torch)


@pytest.mark.parametrize("name", FUNCTIONS | ONCE)
def test_tangents_at_special_points(name: str) -> None:
    import torch

    def tangent(lib: Any) -> Any:
        modes = lib.autograd.forward_ad
        x = leaf(lib, *POINTS).detach()
        with modes.dual_level():
            dual = modes.make_dual(x, lib.ones_like(x))
            return modes.unpack_dual((FUNCTIONS | ONCE)[name](lib.nn.functional, dual)).tangent

    assert_same(tangent, torch)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
@pytest.mark.parametrize("name", FUNCTIONS | ONCE)
def test_numbers_and_no_numbers(name: str, shape: tuple[int, ...]) -> None:
    import torch

    def answer(lib: Any) -> Any:
        x = lib.full(shape, -0.375, requires_grad=True)
        out = (FUNCTIONS | ONCE)[name](lib.nn.functional, x)
        return out, lib.autograd.grad(out, x, lib.ones_like(out))

    assert_same(answer, torch)


def test_mish_has_a_second_derivative_everywhere() -> None:
    import gradspec as gs

    *_, second = _derivatives(gs, ONCE["mish"], 2)
    assert second.tolist()[POINTS.index(1e300)] == 0


def _prelu(lib: Any, shape: tuple[int, ...], slopes: Any) -> Any:
    numbers = lib.linspace(-1.0, 1.0, math.prod(shape), dtype=lib.float64)
    x = numbers.view(shape).requires_grad_()
    weight = lib.tensor(slopes, dtype=lib.float64, requires_grad=True)
    out = lib.nn.functional.prelu(x, weight)
    return out, *lib.autograd.grad(out, (x, weight), out.detach() + 1)


SLOPES: dict[str, tuple[tuple[int, ...], Any]] = {
    "one": ((2, 3), [0.25]),
    "a number": ((2, 3), 0.25),
    "one a channel": ((2, 3), [0.25, 0.0, -2.0]),
    "of images": ((2, 3, 2, 2), [0.25, 0.5, 2.0]),
    "of a vector": ((3,), [0.25]),
    "of a number": ((), [0.25]),
    "of a number, a number": ((), 0.25),
    "of nothing": ((0, 2), [0.25, 0.5]),
    "of no channels": ((2, 0), [0.25]),
    "of another number of channels": ((2, 3), [0.25, 0.5]),
    "of a vector, several": ((3,), [0.25, 0.5, 2.0]),
    "a matrix": ((1, 1), [[0.25]]),
}


@pytest.mark.parametrize("name", SLOPES)
def test_prelu(name: str) -> None:
    import torch

    assert_same(lambda lib: _prelu(lib, *SLOPES[name]), torch)


def _gated(lib: Any) -> Any:
    """Each point beside itself, and beside its opposite."""
    value = leaf(lib, *POINTS, *POINTS)
    gate = leaf(lib, *POINTS, *(-point for point in POINTS))
    out = lib.nn.functional.glu(lib.stack([value, gate]), 0)
    first = lib.autograd.grad(out, (value, gate), lib.ones_like(out), create_graph=True)
    return out, [each.detach() for each in first], lib.autograd.grad(first[0].sum(), gate)


def _gated_tangent(lib: Any) -> Any:
    modes = lib.autograd.forward_ad
    x = leaf(lib, *POINTS, *POINTS[::-1]).detach()
    with modes.dual_level():
        gated = lib.nn.functional.glu(modes.make_dual(x, lib.ones_like(x)))
        return modes.unpack_dual(gated).tangent


def _at_kinks(lib: Any) -> Any:
    x, slope = leaf(lib, -math.inf, -1.0, -0.0, 0.0, 2.0, math.inf), leaf(lib, 0.25)
    out = lib.nn.functional.prelu(x, slope)
    return out, *lib.autograd.grad(out, (x, slope), lib.ones_like(out))


def _written(lib: Any, function: Callable[[Any, Any], Any]) -> Any:
    x = leaf(lib, -4.0, -0.75, 0.0, 0.25, 2.0, 7.0)
    y = x * 1
    out = function(lib.nn.functional, y)
    gradient = lib.autograd.grad(out, x, lib.ones_like(out))
    return out is y, out.detach(), gradient, y._version


CALLS: dict[str, Callable[[Any], Any]] = {
    "prelu at zero and infinities": _at_kinks,
    "prelu of two dtypes": lambda lib: lib.prelu(
        lib.ones(2), lib.tensor([0.25], dtype=lib.float64)
    ),
    "prelu of integers": lambda lib: lib.prelu(lib.tensor([1, 2]), lib.tensor([1])),
    "methods": lambda lib: [
        leaf(lib, -1.0, 0.25).hardshrink(0.5),
        leaf(lib, -1.0, 2.0).prelu(leaf(lib, 0.25)),
    ],
    "at the top level": lambda lib: [
        lib.celu(leaf(lib, -1.0), 2),
        lib.selu(leaf(lib, -1.0)),
        lib.threshold(leaf(lib, -1.0, 3.0), threshold=1, value=2),
        lib.hardshrink(leaf(lib, 0.25), lambd=0.125),
    ],
    "celu without alpha": lambda lib: lib.celu(lib.ones(2), 0),
    "softshrink backwards": lambda lib: lib.nn.functional.softshrink(lib.ones(2), -1),
    "softshrink by infinity": lambda lib: lib.nn.functional.softshrink(lib.ones(2), math.inf),
    "hardtanh of wrong bounds": lambda lib: lib.nn.functional.hardtanh(lib.ones(2), 1, -1),
    "hardtanh of integers": lambda lib: [
        lib.nn.functional.hardtanh(lib.tensor([1, -2, 5]), -1.5, 2.7),
        lib.nn.functional.relu6(lib.tensor([-1, 3, 9])),
    ],
    "hardtanh of bytes": lambda lib: lib.nn.functional.hardtanh(
        lib.tensor([1], dtype=lib.uint8), 0, 6
    ),
    "hardtanh of bytes below zero": lambda lib: lib.nn.functional.hardtanh(
        lib.tensor([1], dtype=lib.uint8)
    ),
    "hardtanh of bools": lambda lib: lib.nn.functional.hardtanh(lib.tensor([True])),
    "threshold of integers": lambda lib: lib.threshold(lib.tensor([1, 2, 3]), 1.5, 5.7),
    "threshold of bools": lambda lib: lib.threshold(lib.tensor([True]), 0, 1),
    "softsign of integers": lambda lib: lib.nn.functional.softsign(lib.tensor([1, -3])),
    "tanhshrink of bools": lambda lib: lib.nn.functional.tanhshrink(lib.tensor([True])),
    "elu of complex numbers": lambda lib: lib.nn.functional.elu(lib.tensor([1j])),
    "glu at special points": _gated,
    "tangent of glu at special points": _gated_tangent,
    "glu of a number": lambda lib: lib.nn.functional.glu(lib.tensor(1.0)),
    "glu of three": lambda lib: lib.nn.functional.glu(lib.ones(3)),
    "glu of another dimension": lambda lib: lib.nn.functional.glu(lib.ones(2), 1),
    "glu of nothing": lambda lib: lib.nn.functional.glu(lib.ones(0, 4)),
    "glu of integers": lambda lib: lib.nn.functional.glu(lib.tensor([1, 2])),
    **{
        f"{name}_": lambda lib, name=name, rest=rest: _written(
            lib, lambda f, x: getattr(f, f"{name}_")(x, *rest)
        )
        for name, rest in {
            "celu": (2.0,),
            "elu": (2.0,),
            "hardtanh": (-0.5, 3.0),
            "leaky_relu": (0.25,),
            "relu": (),
            "selu": (),
            "threshold": (0.5, 7.0),
        }.items()
    },
    **{
        f"{name}, inplace": lambda lib, name=name, rest=rest: _written(
            lib, lambda f, x: getattr(f, name)(x, *rest, inplace=True)
        )
        for name, rest in {
            "celu": (2.0,),
            "elu": (2.0,),
            "hardsigmoid": (),
            "hardswish": (),
            "hardtanh": (-0.5, 3.0),
            "leaky_relu": (0.25,),
            "mish": (),
            "relu": (),
            "relu6": (),
            "selu": (),
            "silu": (),
            "threshold": (0.5, 7.0),
        }.items()
    },
}


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


@pytest.mark.parametrize("name", ["softsign", "tanhshrink"])
def test_gradients_of_complex_numbers(name: str) -> None:
    import torch

    def gradient(lib: Any) -> Any:
        z = lib.tensor([1 + 2j, -0.5j, 3.0 + 0j], dtype=lib.complex128, requires_grad=True)
        out = getattr(lib.nn.functional, name)(z)
        return out, lib.autograd.grad(out.abs().sum(), z)

    assert_same(gradient, torch)
