"""Gradients of convolutions as functions: PyTorch's `torch.nn.grad`."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.missing import explaining as _explaining
from ..core.tensor import Tensor
from ..dispatch.registry import ops

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]

__getattr__ = _explaining(__name__)

Sizes = int | Sequence[int]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv1d` by its input, of shape `input_size`.

    `weight` is (out_channels, in_channels / groups, kernel), `grad_output` (batch, out_channels,
    length of the output). RuntimeError for shapes that no convolution has together.
    """
    return _of_input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv1d` by its weight, of shape `weight_size`.

    RuntimeError for shapes that no convolution has together.
    """
    return _of_weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv2d` by its input, of shape `input_size`."""
    return _of_input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv2d` by its weight, of shape `weight_size`."""
    return _of_weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv3d` by its input, of shape `input_size`."""
    return _of_input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Compute the gradient of `conv3d` by its weight, of shape `weight_size`."""
    return _of_weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)


def _of_input(
    spatial: int,
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    _check(spatial, input_size, weight.shape, grad_output, stride, padding, dilation, groups)
    like = grad_output.new_empty(1).expand(tuple(input_size))
    found: Tensor = ops._convolution_input(
        grad_output, weight, like, stride, padding, dilation, False, 0, groups, spatial, ""
    )
    return found


def _of_weight(
    spatial: int,
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    _check(spatial, input.shape, weight_size, grad_output, stride, padding, dilation, groups)
    like = grad_output.new_empty(1).expand(tuple(weight_size))
    found: Tensor = ops._convolution_weight(
        grad_output, input, like, stride, padding, dilation, False, 0, groups, spatial, ""
    )
    return found


def _check(
    spatial: int,
    input_size: Sequence[int],
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> None:
    """Raise RuntimeError unless a convolution of these shapes has a gradient of this shape."""
    if len(input_size) != spatial + 2 or len(weight_size) != spatial + 2:
        raise RuntimeError(
            f"conv{spatial}d: expected {spatial + 2}-dimensional input and weight, but got sizes "
            f"{list(input_size)} and {list(weight_size)}"
        )
    if groups <= 0 or input_size[1] != weight_size[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight_size)}, expected input"
            f"{list(input_size)} to have {weight_size[1] * groups} channels, but got "
            f"{input_size[1]} channels instead"
        )
    options = zip(*(_each(value, spatial) for value in (stride, padding, dilation)), strict=True)
    sizes = zip(input_size[2:], weight_size[2:], options, strict=True)
    places = [
        (size + 2 * pad - spread * (kernel - 1) - 1) // step + 1
        for size, kernel, (step, pad, spread) in sizes
    ]
    expected = [input_size[0], weight_size[0], *places]
    if list(grad_output.shape) != expected:
        raise RuntimeError(
            f"conv{spatial}d: expected grad_output of shape {expected}, but got "
            f"{list(grad_output.shape)}"
        )


def _each(value: Sizes, spatial: int) -> Sequence[int]:
    return [value] * spatial if isinstance(value, int) else value
