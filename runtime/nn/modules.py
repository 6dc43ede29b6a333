"""Linear layers, and the losses used most."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..core.user_warnings import warn
from . import functional as F
from . import init
from . import module as module
from .module import Module
from .parameter import empty_parameter

# ---- layers


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


# ---- losses


class Loss(Module):
    """Base of losses: `reduction` says whether elements are averaged, summed or left.

    `size_average` and `reduce` are the older way to say it, and warn (UserWarning).
    """

    reductions: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _legacy_reduction(size_average, reduce)
        if reduction not in self.reductions:
            raise ValueError(f"{reduction} is not a valid value for reduction")
        self.reduction = reduction


def _legacy_reduction(size_average: Any, reduce: Any) -> str:
    """Return the reduction that the older arguments say."""
    averages, reduces = size_average is None or size_average, reduce is None or reduce
    reduction = ("mean" if averages else "sum") if reduces else "none"
    warn(
        "size_average and reduce are the older way to say how a loss is reduced; say "
        f"reduction={reduction!r} instead."
    )
    return reduction


class MSELoss(Loss):
    """Squared error."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """Cross entropy of two classes, given the logits of one of them."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class NLLLoss(Loss):
    """Negative log likelihood of classes, given log-probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under the name that it once had for images."""


class CrossEntropyLoss(Loss):
    """Cross entropy of classes or class probabilities, given logits."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
