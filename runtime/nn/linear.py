"""Linear layers, and those that change nothing but the shape."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import empty_parameter


class Identity(Module):
    """Module that returns its input; arguments of the constructor are ignored."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return `input`."""
        return input


class Linear(Module):
    """Linear map `input @ weight.T + bias`, with a weight of shape (out_features, in_features)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter((out_features, in_features), dtype, device)
        self.register_parameter(
            "bias", empty_parameter((out_features,), dtype, device) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw both uniformly within `1/sqrt(in_features)`, as PyTorch does."""
        if self.in_features:
            bound = 1 / math.sqrt(self.in_features)
            init.uniform_(self.weight, -bound, bound)
            if self.bias is not None:
                init.uniform_(self.bias, -bound, bound)
        elif self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Map (..., in_features) to (..., out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """The linear layer at the end of attention, which PyTorch gives a class of its own."""


class Flatten(Module):
    """Module that merges the dimensions from `start_dim` to `end_dim`."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the flattened tensor."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Show the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
