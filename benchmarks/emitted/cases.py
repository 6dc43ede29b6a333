"""Calls of the emitted ops, and of the Functions by hand that compute the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import torch
from torch import Tensor

from . import by_hand

Op = Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class Case:
    """Two ways to compute the same, and arguments by their number of elements."""

    name: str
    emitted: Op
    by_hand: Op
    inputs: Callable[[int], tuple[Tensor, ...]]


def cases(ops: ModuleType) -> list[Case]:
    """Every op beside what is written by hand."""
    cap = 30.0
    return [
        Case(
            "softcap", lambda x: ops.softcap(x, cap), lambda x: by_hand.Softcap.apply(x, cap), _one
        ),
        Case(
            "tanh_cap",
            lambda x: ops.tanh_cap(x, cap),
            lambda x: by_hand.Softcap.apply(x, cap),
            _one,
        ),
        Case("quick_gelu", ops.quick_gelu, by_hand.QuickGelu.apply, _one),
        Case("swiglu", ops.swiglu, by_hand.SwiGLU.apply, _two),
        Case(
            "rms_norm",
            lambda x, w: ops.scaled_rms_norm(x, w, 1e-6),
            lambda x, w: by_hand.RMSNorm.apply(x, w, 1e-6),
            _rows(1),
        ),
        Case(
            "layer_norm",
            lambda x, w, b: ops.affine_layer_norm(x, w, b, 1e-5),
            lambda x, w, b: by_hand.LayerNorm.apply(x, w, b, 1e-5),
            _rows(2),
        ),
        Case("rotary", ops.rotary, by_hand.Rotary.apply, _turned),
        Case("log_cosh_loss", ops.log_cosh_loss, by_hand.LogCoshLoss.apply, _target),
        Case("focal_loss", ops.focal_loss, by_hand.FocalLoss.apply, _labels),
    ]


def _numbers(*shape: int, requires_grad: bool = True) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(shape, generator=generator).requires_grad_(requires_grad)


def _one(count: int) -> tuple[Tensor, ...]:
    return (_numbers(count),)


def _two(count: int) -> tuple[Tensor, ...]:
    return _numbers(count), _numbers(count)


def _width(count: int) -> int:
    return 4 if count < 100 else 100


def _rows(vectors: int) -> Callable[[int], tuple[Tensor, ...]]:
    def made(count: int) -> tuple[Tensor, ...]:
        width = _width(count)
        return _numbers(count // width, width), *(_numbers(width) for _ in range(vectors))

    return made


def _turned(count: int) -> tuple[Tensor, ...]:
    width = _width(count)
    angles = _numbers(count // width, width // 2, requires_grad=False)
    return _numbers(count // width, width), angles.cos(), angles.sin()


def _target(count: int) -> tuple[Tensor, ...]:
    return _numbers(count), _numbers(count, requires_grad=False) + 0.5


def _labels(count: int) -> tuple[Tensor, ...]:
    return _numbers(count), (_numbers(count, requires_grad=False) > 0).float()
