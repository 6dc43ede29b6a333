"""A batch normalisation in evaluation, merged into the layer before it."""

from __future__ import annotations

import copy
from typing import TypeVar

from ...core.tensor import Tensor
from ..layers import BatchNorm
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

_Layer = TypeVar("_Layer", bound=Module)


def fuse_conv_bn_eval(conv: _Layer, bn: BatchNorm, transpose: bool = False) -> _Layer:
    """Make a convolution that computes `bn(conv(x))`; `transpose` says that `conv` is transposed.

    Both have to be in evaluation mode, `bn` with running statistics: AssertionError otherwise.
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        conv.weight,
        conv.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Tensor, Tensor]:
    """Make weight and bias of a convolution, followed by a normalisation, into one of each.

    The output channels are the weight's first dimension, with `transpose` its second.
    """
    scale, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w, conv_w * scale.reshape(shape), conv_b, shift)


def fuse_linear_bn_eval(linear: _Layer, bn: BatchNorm) -> _Layer:
    """Make a linear layer that computes `bn(linear(x))`.

    Both have to be in evaluation mode, `bn` with running statistics, and the features of `bn` those
    of the result, or one: AssertionError otherwise.
    """
    _check(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            f"to fuse, linear.out_features ({linear.out_features}) == bn.num_features "
            f"({bn.num_features}), or bn.num_features == 1"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Make weight and bias of a linear layer, followed by a normalisation, into one of each."""
    scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w, linear_w * scale.unsqueeze(-1), linear_b, shift)


def _check(layer: Module, bn: BatchNorm) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("fusion needs the running statistics of the normalisation")


def _affine(
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    weight: Tensor | None,
    bn_bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return what a normalisation multiplies by, and what it makes of the layer's bias."""
    scale = (var + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    shift = ((0 if bias is None else bias) - mean) * scale
    return scale, shift if bn_bias is None else shift + bn_bias


def _parameters(
    weight: Tensor, fused_weight: Tensor, bias: Tensor | None, fused_bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Return parameters of the dtype of the weight, that require grad as those before did."""
    has_gradient = bias is not None and bias.requires_grad
    return (
        Parameter(fused_weight.to(weight.dtype), weight.requires_grad),
        Parameter(fused_bias.to(weight.dtype), has_gradient),
    )
