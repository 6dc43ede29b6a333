"""Fake quantisation: values rounded to an integer grid, with a straight-through gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.function import Function
from ..core.captured import is_any
from ..core.tensor import Tensor, wrap


class _FakeQuantize(Function):
    """Rounds to the grid; the gradient flows where the value is within it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, scale: Any, zero_point: Any, low: int, high: int
    ) -> Tensor:
        values = input.numpy()
        inverse = (1 / scale).astype(values.dtype)
        steps = values * inverse
        is_whole = zero_point.dtype.kind in "iu"  # the sum would round halves to other neighbours
        grid = np.rint(steps) + zero_point if is_whole else np.rint(steps + zero_point)
        ctx.within = (grid >= low) & (grid <= high)
        rounded = (np.clip(grid, low, high) - zero_point).astype(scale.dtype) * scale
        return wrap(rounded.astype(values.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return grad * wrap(ctx.within.astype(grad.dtype)), None, None, None, None


def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Tensor:
    """Round to `(q - zero_point) * scale`, with whole numbers `q` from `quant_min` to `quant_max`.

    RuntimeError where the zero point is not among these.
    """
    _check_bounds(quant_min, quant_max)
    zero = _zero_points(zero_point).reshape(())
    if is_any((zero < quant_min) | (zero > quant_max)):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    found: Tensor = _FakeQuantize.apply(
        input, _numbers(scale).reshape(()), zero, quant_min, quant_max
    )
    return found


def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """Round with a scale and a zero point for each index of the dimension `axis`."""
    _check_bounds(quant_min, quant_max)
    scales, zeros = _numbers(scale), _zero_points(zero_point)
    if scales.ndim != 1 or zeros.shape != scales.shape:
        raise RuntimeError("scale and zero-point need to be 1-D tensors of the same dimensions")
    if not -input.ndim <= axis < input.ndim:
        raise IndexError(f"`axis` must be between 0 and number of dimensions of input, not {axis}")
    if scales.size != input.shape[axis]:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    if is_any((zeros < quant_min) | (zeros > quant_max)):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    shape = [1] * input.ndim
    shape[axis] = scales.size
    found: Tensor = _FakeQuantize.apply(
        input, scales.reshape(shape), zeros.reshape(shape), quant_min, quant_max
    )
    return found


def _check_bounds(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


def _zero_points(value: Any) -> Any:
    """Return zero points as an array: of whole numbers, or of float32."""
    array = value.detach().numpy() if isinstance(value, Tensor) else np.asarray(value)
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float32)


def _numbers(value: Any) -> Any:
    """Return numbers as an array: a scale is a float32, as PyTorch keeps it."""
    array = value.detach().numpy() if isinstance(value, Tensor) else np.asarray(value)
    return array.astype(np.float32)
