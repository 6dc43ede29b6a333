"""The ops of ops.yaml as people write them: Functions that keep what pays, and nothing else."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class Softcap(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cap: float) -> Tensor:
        bounded = torch.tanh(x / cap)
        ctx.save_for_backward(bounded)
        return cap * bounded

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (bounded,) = ctx.saved_tensors
        return grad * (1 - bounded * bounded), None


class QuickGelu(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        share = torch.sigmoid(1.702 * x)
        ctx.save_for_backward(x, share)
        return x * share

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, share = ctx.saved_tensors
        return grad * (share + 1.702 * x * share * (1 - share))


class SwiGLU(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gate: Tensor) -> Tensor:
        share = torch.sigmoid(gate)
        ctx.save_for_backward(x, gate, share)
        return x * (gate * share)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, gate, share = ctx.saved_tensors
        return grad * (gate * share), grad * x * (share * (1 + gate * (1 - share)))


class RMSNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, scale)
        return x * scale * weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, scale = ctx.saved_tensors
        g = grad * weight
        by_x = scale * (g - x * (scale * scale * (g * x).mean(-1, keepdim=True)))
        return by_x, (grad * x * scale).sum_to_size(weight.shape), None


class LayerNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        middle = x.mean(-1, keepdim=True)
        centred = x - middle
        scale = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, middle, scale)
        return centred * scale * weight + bias

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, middle, scale = ctx.saved_tensors
        normed = (x - middle) * scale
        g = grad * weight
        by_x = scale * (g - g.mean(-1, True) - normed * (g * normed).mean(-1, True))
        by_weight = (grad * normed).sum_to_size(weight.shape)
        return by_x, by_weight, grad.sum_to_size(weight.shape), None


class Rotary(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        cos, sin = ctx.saved_tensors
        a, b = grad.chunk(2, -1)
        return torch.cat([a * cos + b * sin, b * cos - a * sin], -1), None, None


class LogCoshLoss(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, target: Tensor) -> Tensor:
        error = x - target
        ctx.save_for_backward(error)
        size = error.abs()
        return (size + torch.log1p(torch.exp(-2 * size)) - math.log(2)).mean()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (error,) = ctx.saved_tensors
        by_x = grad * torch.tanh(error) / error.numel()
        return by_x, -by_x if ctx.needs_input_grad[1] else None


class FocalLoss(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, target: Tensor) -> Tensor:
        sign = 1 - 2 * target
        miss = torch.sigmoid(sign * x)
        kept = torch.nn.functional.logsigmoid(-sign * x)
        ctx.save_for_backward(sign, miss, kept)
        return (-miss * miss * kept).mean()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        sign, miss, kept = ctx.saved_tensors
        by_x = grad / sign.numel() * sign * miss * miss * (miss - 2 * (1 - miss) * kept)
        return by_x, None
