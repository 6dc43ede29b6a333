"""Integers and bools given to functions of floats: the result has the default dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.autograd.forward_ad as forward_ad
import gradspec.nn.functional as nn_functional

CALLS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "gelu": (nn_functional.gelu, [0.8413447460685429, 0.0]),
    "silu": (nn_functional.silu, [0.7310585786300049, 0.0]),
    "logsigmoid": (nn_functional.logsigmoid, [-0.31326168751822286, -0.6931471805599453]),
    "softplus": (nn_functional.softplus, [1.3132616875182228, 0.6931471805599453]),
    "hypot": (lambda x: gs.hypot(x, x), [1.4142135623730951, 0.0]),
}


@pytest.mark.parametrize("default", [gs.float32, gs.float64], ids=str)
@pytest.mark.parametrize("dtype", [gs.int64, gs.uint8, gs.bool], ids=str)
@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_integers_become_floats(
    call: Callable[[Any], Any], expected: list[float], dtype: Any, default: Any
) -> None:
    gs.set_default_dtype(default)
    try:
        found = call(gs.tensor([1, 0], dtype=dtype))
    finally:
        gs.set_default_dtype(gs.float32)
    assert found.dtype == default
    np.testing.assert_allclose(found.array, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "nansum", "prod"])
def test_whole_numbers_have_no_gradient(name: str) -> None:
    x = gs.tensor([1.5, 2.5], requires_grad=True)
    assert not getattr(x, name)(dtype=gs.int64).requires_grad
    assert getattr(x, name)(dtype=gs.float64).requires_grad


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_whole_numbers_have_no_gradient(name: str) -> None:
    x = gs.tensor([1.5, 2.5], requires_grad=True)
    assert not getattr(x, name)(0, dtype=gs.int64).requires_grad
    assert getattr(x, name)(0, dtype=gs.float64).requires_grad


def test_whole_numbers_have_no_tangent() -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([1.5, 2.5]), gs.ones(2))
        assert forward_ad.unpack_dual(x.sum(dtype=gs.int64)).tangent is None
        assert forward_ad.unpack_dual(x.sum(dtype=gs.float64)).tangent.item() == 2


def test_a_mean_is_no_whole_number() -> None:
    with pytest.raises(RuntimeError, match="Optional dtype must be either a floating point"):
        gs.tensor([1.5, 2.5]).mean(dtype=gs.int64)
    with pytest.raises(RuntimeError, match="Input dtype must be either a floating point"):
        gs.tensor([1, 2]).mean()


def test_gradients_beside_bytes_do_not_wrap_around() -> None:
    large = gs.tensor([200], dtype=gs.uint8)
    x = gs.tensor([2.0], dtype=gs.float64, requires_grad=True)
    gs.addcmul(gs.zeros(1), x, large, value=2).backward()
    assert x.grad.item() == 400
    y = gs.tensor([0.5], dtype=gs.float64, requires_grad=True)
    gs.special.zeta(gs.tensor([3], dtype=gs.uint8), y).backward()
    # -3 zeta(4, 1/2), where zeta(4, 1/2) = (2 ** 4 - 1) pi ** 4 / 90
    np.testing.assert_allclose(y.grad.item(), -3 * 15 * np.pi**4 / 90, rtol=1e-12)


REFLECTED: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}


@pytest.mark.parametrize("number", [16, 3])
@pytest.mark.parametrize("operator", REFLECTED.values(), ids=REFLECTED)
def test_a_number_stands_before_a_tensor(operator: Callable[[Any, Any], Any], number: int) -> None:
    numbers = [1, 2, 3, 4]
    found = operator(number, gs.tensor(numbers))
    np.testing.assert_allclose(found.array, [operator(number, each) for each in numbers])
