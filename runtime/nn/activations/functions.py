"""Activations of `nn.functional` that take more than an op of the table does.

Most overwrite their input if asked to: `relu(x, inplace=True)` is `relu_(x)`, which not every
function has. The last two are arithmetic, with the nodes of its ops.
"""

from __future__ import annotations

import numpy as np

from ...batching.randomness import for_each_element
from ...core.random_generator import generator
from ...core.strides import in_order_of
from ...core.tensor import Tensor, wrap
from ...core.types import Number
from ...generated import activations
from ...inplace.ops import in_place
from ..composed import leaky_relu

celu_ = in_place(activations.celu, "celu_")
elu_ = in_place(activations.elu, "elu_")
hardtanh_ = in_place(activations.hardtanh, "hardtanh_")
leaky_relu_ = in_place(leaky_relu, "leaky_relu_")
relu_ = in_place(activations.relu, "relu_")
selu_ = in_place(activations.selu, "selu_")
threshold_ = in_place(activations.threshold, "threshold_")


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return positive elements, and `alpha * (exp(x / alpha) - 1)` for others; smooth at zero."""
    return celu_(input, alpha) if inplace else activations.celu(input, alpha)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return positive elements, and `alpha * (exp(x) - 1)` for the others."""
    return elu_(input, alpha) if inplace else activations.elu(input, alpha)


def hardsigmoid(input: Tensor | Number, inplace: bool = False) -> Tensor:
    """Approximate the logistic function by lines: `(x + 3) / 6`, clamped between zero and one."""
    if inplace:
        return in_place(activations.hardsigmoid, "hardsigmoid_")(input)
    return activations.hardsigmoid(input)


def hardswish(input: Tensor | Number, inplace: bool = False) -> Tensor:
    """Multiply each element by its `hardsigmoid`."""
    if inplace:
        return in_place(activations.hardswish, "hardswish_")(input)
    return activations.hardswish(input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp elements between two numbers; ValueError if these are in the wrong order."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return hardtanh_(input, min_val, max_val)
    return activations.hardtanh(input, min_val, max_val)


def mish(input: Tensor | Number, inplace: bool = False) -> Tensor:
    """Multiply each element by the hyperbolic tangent of its softplus."""
    return in_place(activations.mish, "mish_")(input) if inplace else activations.mish(input)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return positive elements, and zero for the others."""
    return relu_(input) if inplace else activations.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Clamp elements between zero and six."""
    return in_place(activations.relu6, "relu6_")(input) if inplace else activations.relu6(input)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return positive elements, and of others a share: in training one drawn between two numbers.

    Otherwise the share is the mean of the two. RuntimeError if they are in the wrong order.
    """
    return (
        rrelu_(input, lower, upper, training) if inplace else _rrelu(input, lower, upper, training)
    )


@for_each_element
def _rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    array = input.array
    if array.dtype.kind != "f":
        raise NotImplementedError(f'"rrelu" not implemented for {array.dtype}')
    if not training:
        return leaky_relu(input, (lower + upper) / 2)
    shares = np.where(array <= 0, generator().uniform(lower, upper, array.shape), 1)
    return input * wrap(in_order_of(array, shares.astype(array.dtype)))


rrelu_ = in_place(_rrelu, "rrelu_")


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Apply the `elu` that keeps mean zero and variance one from layer to layer."""
    return selu_(input) if inplace else activations.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Multiply each element by its logistic function; also called swish."""
    return in_place(activations.silu, "silu_")(input) if inplace else activations.silu(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return elements above a threshold, and `value` for the others."""
    if inplace:
        return threshold_(input, threshold, value)
    return activations.threshold(input, threshold, value)


def softsign(input: Tensor) -> Tensor:
    """Divide each element by one plus its absolute value."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Subtract from each element its hyperbolic tangent."""
    return input - input.tanh()
