"""Complex numbers: values, gradients, second gradients and dtypes are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

Numbers = list[np.ndarray[Any, Any]]

rng = np.random.default_rng(0)


def real(*shape: int) -> np.ndarray[Any, Any]:
    return rng.normal(size=shape)


def positive(*shape: int) -> np.ndarray[Any, Any]:
    return rng.uniform(0.5, 2.0, shape)


def mixed(*shape: int) -> np.ndarray[Any, Any]:
    return real(*shape) + 1j * real(*shape)


UNARY = (
    *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("acosh", "atanh", "abs", "neg", "square", "conj", "real", "imag", "angle", "sgn"),
    *("sum", "mean", "view_as_real"),
)

CASES: dict[str, tuple[Callable[..., Any], Numbers]] = {
    name: (lambda m, x, name=name: getattr(m, name)(x), [mixed(2, 3)]) for name in UNARY
} | {
    "angle of real": (lambda m, x: m.angle(x), [real(3)]),
    "sgn of real": (lambda m, x: m.sgn(x), [real(3)]),
    "z * z": (lambda m, x: x * x, [mixed(3)]),
    "mul": (lambda m, x, y: x * y, [mixed(2, 3), mixed(3)]),
    "mul by real": (lambda m, x, y: x * y, [mixed(2, 3), real(3)]),
    "div": (lambda m, x, y: x / y, [mixed(2, 3), mixed(3)]),
    "real over complex": (lambda m, x, y: x / y, [real(2, 3), mixed(3)]),
    "add alpha": (lambda m, x, y: m.add(x, y, alpha=2 - 1j), [mixed(3), mixed(3)]),
    "sub alpha": (lambda m, x, y: m.sub(x, y, alpha=2 - 1j), [mixed(3), mixed(3)]),
    "number - z": (lambda m, x: 1j - x, [mixed(3)]),
    "number - real": (lambda m, x: 1j - x, [real(3)]),
    "real * number": (lambda m, x: x * 2j + (1 - 1j), [real(3)]),
    "number / z": (lambda m, x: 2j / x, [mixed(3)]),
    "z ** 3": (lambda m, x: x**3, [mixed(3)]),
    "z ** 0": (lambda m, x: x**0, [mixed(3)]),
    "z ** number": (lambda m, x: x ** (2 + 1j), [mixed(3)]),
    "real ** number": (lambda m, x: x ** (2 + 1j), [positive(3)]),
    "2 ** z": (lambda m, x: 2**x, [mixed(3)]),
    "number ** z": (lambda m, x: (2 + 1j) ** x, [mixed(3)]),
    "number ** real": (lambda m, x: m.pow(2 + 1j, x), [real(3)]),
    "z ** w": (lambda m, x, y: x**y, [mixed(3), mixed(3)]),
    "z ** real": (lambda m, x, y: x**y, [mixed(3), real(3)]),
    "real ** z": (lambda m, x, y: x**y, [positive(3), mixed(3)]),
    "mm": (lambda m, x, y: x @ y, [mixed(2, 3), mixed(3, 2)]),
    "mv": (lambda m, x, y: x @ y, [mixed(2, 3), mixed(3)]),
    "dot": (lambda m, x, y: m.dot(x, y), [mixed(3), mixed(3)]),
    "bmm": (lambda m, x, y: m.bmm(x, y), [mixed(2, 2, 3), mixed(2, 3, 1)]),
    "matmul": (lambda m, x, y: x @ y, [mixed(2, 1, 2, 3), mixed(3, 2)]),
    "addmm": (
        lambda m, a, x, y: m.addmm(a, x, y, beta=2j, alpha=1 - 1j),
        [mixed(2), mixed(1, 2), mixed(2, 2)],
    ),
    "linear": (
        lambda m, x, y, b: m.nn.functional.linear(x, y, b),
        [mixed(2, 3), mixed(2, 3), mixed(2)],
    ),
    "complex": (lambda m, x, y: m.complex(x, y) * (1 + 2j), [real(2, 3), real(3)]),
    "view_as_complex": (lambda m, x: m.view_as_complex(x) * (1 + 2j), [real(3, 2)]),
    "parts": (lambda m, x: x.real * x.imag, [mixed(3)]),
    "cat": (lambda m, x, y: m.cat([x, y]), [mixed(3), real(3)]),
    "stack": (lambda m, x, y: m.stack([x, y]), [mixed(3), mixed(3)]),
    "index": (lambda m, x: x[m.tensor([0, 0, 2])], [mixed(3)]),
    "slice": (lambda m, x: x[1:], [mixed(3)]),
    "gather": (lambda m, x: m.gather(x, 0, m.tensor([0, 0, 1])), [mixed(3)]),
    "cumsum": (lambda m, x: m.cumsum(x, 0), [mixed(3)]),
    "transpose": (lambda m, x: x.transpose(0, 1) * 2, [mixed(2, 3)]),
    "masked_fill": (lambda m, x: x.masked_fill(m.tensor([True, False]), 2j), [mixed(2)]),
    "where": (lambda m, x, y: m.where(m.tensor([True, False]), x, y), [mixed(2), mixed(2)]),
    "to": (lambda m, x: x.to(m.complex128) * 1j, [real(3)]),
    "sum of one dim": (lambda m, x: x.sum(0), [mixed(2, 3)]),
    "tanh": (lambda m, x: m.tanh(x), [mixed(3)]),
    "sigmoid": (lambda m, x: m.sigmoid(x), [mixed(3)]),
    "var": (lambda m, x: m.var(x, 0), [mixed(3, 2)]),
    "H": (lambda m, x: x.H * 2j, [mixed(2, 3)]),
    "mH": (lambda m, x: x.mH * 2j, [mixed(1, 2, 3)]),
    "index_put": (
        lambda m, x, y: m.index_put(x, (m.tensor([2, 0]),), y),
        [mixed(3), mixed(2)],
    ),
    "pad": (lambda m, x: m.nn.functional.pad(x, (1, 2)), [mixed(3)]),
    "pad in a circle": (
        lambda m, x: m.nn.functional.pad(x, (1, 1), mode="circular"),
        [mixed(1, 1, 3)],
    ),
    "addcmul": (
        lambda m, x, y, z: m.addcmul(x, y, z, value=1 - 2j),
        [mixed(3), mixed(3), mixed(3)],
    ),
    "addcdiv": (
        lambda m, x, y, z: m.addcdiv(x, y, z, value=2j),
        [mixed(3), mixed(3), mixed(3)],
    ),
    "lerp": (lambda m, x, y: m.lerp(x, y, 0.25), [mixed(3), mixed(3)]),
    "addmv": (
        lambda m, a, x, y: m.addmv(a, x, y, beta=2j, alpha=1 - 1j),
        [mixed(2), mixed(2, 3), mixed(3)],
    ),
    "addr": (
        lambda m, a, x, y: m.addr(a, x, y, beta=2j, alpha=1 - 1j),
        [mixed(2, 3), mixed(2), mixed(3)],
    ),
    "baddbmm": (
        lambda m, a, x, y: m.baddbmm(a, x, y, beta=2j, alpha=1 - 1j),
        [mixed(2, 1, 2), mixed(2, 1, 3), mixed(2, 3, 2)],
    ),
    "addbmm": (
        lambda m, a, x, y: m.addbmm(a, x, y, beta=2j, alpha=1 - 1j),
        [mixed(1, 2), mixed(2, 1, 3), mixed(2, 3, 2)],
    ),
    "fft": (lambda m, x: m.fft.fft(x, 4), [mixed(3)]),
    "irfft": (lambda m, x: m.fft.irfft(x, norm="ortho"), [mixed(3)]),
    "rfft": (lambda m, x: m.fft.rfft(x, norm="forward"), [real(5)]),
    "tril": (lambda m, x: m.tril(x), [mixed(3, 3)]),
}


def narrowed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)


def derivatives(m: Any, function: Callable[..., Any], arrays: Numbers) -> list[Any]:
    """The value of a call, and the first and second gradients of a real combination of it."""
    inputs = [m.tensor(array, requires_grad=True) for array in arrays]
    out = function(m, *inputs)
    weights = np.cos(1.0 + np.arange(out.numel())).reshape(tuple(out.shape)).astype(np.float32)
    weight = m.tensor(weights) * (1 + 0.5j if out.is_complex() else 1)
    first = m.autograd.grad(_real(m, out * weight).sum(), inputs, create_graph=True)
    squares = [_real(m, g * g * (0.3 - 0.7j)) if g.is_complex() else g * g for g in first]
    total = sum(square.sum() for square in squares if square.requires_grad)
    second = (
        m.autograd.grad(total, inputs, allow_unused=True)
        if not isinstance(total, int)
        else [None] * len(inputs)
    )
    return [out, *first, *second]


def _real(m: Any, tensor: Any) -> Any:
    return m.real(tensor) if tensor.is_complex() else tensor


@pytest.mark.parametrize("width", [64, 32])
@pytest.mark.parametrize("name", CASES)
def test_like_pytorch(name: str, width: int) -> None:
    import torch

    function, arrays = CASES[name]
    if width == 32:
        arrays = [narrowed(array) for array in arrays]
    tolerance = 1e-9 if width == 64 else 2e-3
    mine = derivatives(gs, function, arrays)
    theirs = derivatives(torch, function, arrays)
    for a, b in zip(mine, theirs, strict=True):
        found = None if a is None else a.detach().numpy()
        wanted = None if b is None else b.numpy(force=True)
        if found is None or wanted is None:
            present = wanted if found is None else found
            assert present is None or not present.any()
            continue
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("conj", [mixed(2)]),
        ("abs", [mixed(2)]),
        ("angle", [mixed(2)]),
        ("sgn", [mixed(2)]),
        ("complex", [real(2), real(2)]),
        ("real", [mixed(2)]),
        ("view_as_real", [mixed(2)]),
        ("view_as_complex", [real(3, 2)]),
    ],
)
def test_node_names(name: str, inputs: Numbers) -> None:
    import torch

    mine, theirs = (
        getattr(m, name)(*(m.tensor(array, requires_grad=True) for array in inputs)).grad_fn.name()
        for m in (gs, torch)
    )
    assert mine == theirs


def test_the_angle_of_a_real_number_does_not_see_the_sign_of_zero() -> None:
    import torch

    values = [-0.0, 0.0, -1.0, 2.0, float("nan"), float("inf"), -float("inf")]
    found, wanted = gs.angle(gs.tensor(values)), torch.angle(torch.tensor(values))
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    complexes = [complex(-0.0, 0.0), complex(-0.0, -0.0), complex(0.0, -0.0)]
    found, wanted = gs.angle(gs.tensor(complexes)), torch.angle(torch.tensor(complexes))
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())
