"""Products of three tensors: bilinear maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..kernels.elementwise.checks import same_dtype
from . import init
from .module import Module
from .parameter import empty_parameter


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `x1 weight[o] x2 + bias[o]` for the last dimensions of two inputs: (..., out).

    RuntimeError for shapes that do not fit, and for tensors of different dtypes.
    """
    given = [each.array for each in (input1, input2, weight, bias) if each is not None]
    same_dtype("bilinear", *given)
    if input1.ndim != input2.ndim or input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            "bilinear(): input batch dimensions do not match: got "
            f"{list(input1.shape)} and {list(input2.shape)}"
        )
    if weight.ndim != 3 or (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise RuntimeError(
            f"bilinear(): inputs of {input1.shape[-1]} and {input2.shape[-1]} features do not fit "
            f"a weight of shape {list(weight.shape)}"
        )
    outputs, first, second = weight.shape
    rows = ops.reshape(input1, [-1, first]) @ weight.permute(1, 0, 2).reshape(first, -1)
    rows = rows.reshape(-1, outputs, second)
    found = ops.matmul(rows, input2.reshape(-1, second, 1)).squeeze(-1)
    found = found.reshape(*input1.shape[:-1], outputs)
    return found if bias is None else found + bias


def _trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """Return the product of three tensors, each with further dimensions, summed over some.

    `unroll_dim` says in which order PyTorch computes, and changes nothing.
    """
    factors = []
    for tensor, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in sorted(dims):
            tensor = ops.unsqueeze(tensor, dim)
        factors.append(tensor)
    product = factors[0] * factors[1] * factors[2]
    return ops.sum(product, list(sumdim)) if sumdim else product


class Bilinear(Module):
    """Bilinear map of two inputs: `x1 weight[o] x2 + bias[o]`."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = empty_parameter((out_features, in1_features, in2_features), dtype, device)
        self.register_parameter(
            "bias", empty_parameter((out_features,), dtype, device) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within `1/sqrt(in1_features)`, as PyTorch does."""
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Map (..., in1_features) and (..., in2_features) to (..., out_features)."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
