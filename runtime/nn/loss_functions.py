"""Losses that warn, as PyTorch's do, where shapes or a reduction are probably a mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..generated import nn_names

_Loss = TypeVar("_Loss", bound=Callable[..., Any])


def _of_one_size(loss: _Loss) -> _Loss:
    """Make a loss warn of a target that is broadcast, or broadcasts the input."""

    @wraps(loss)
    def call(input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if type(input) is type(target) is Tensor and input.array.shape != target.array.shape:
            warn(
                f"{loss.__name__}: Using a target size ({list(target.shape)}) that is different to "
                f"the input size ({list(input.shape)}). Broadcasting compares every element of one "
                "with several of the other: this is seldom meant."
            )
        return loss(input, target, *args, **kwargs)

    return call  # type: ignore[return-value]


mse_loss = _of_one_size(nn_names.mse_loss)
l1_loss = _of_one_size(nn_names.l1_loss)
smooth_l1_loss = _of_one_size(nn_names.smooth_l1_loss)
huber_loss = _of_one_size(nn_names.huber_loss)


@wraps(nn_names.kl_div)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Compute the Kullback-Leibler divergence; warn of `mean`, which is over elements."""
    if reduction == "mean" and size_average is None and reduce is None:
        warn(
            "kl_div: reduction 'mean' divides by the number of elements; the divergence itself is "
            "reduction 'batchmean', which divides by the batch size."
        )
    return nn_names.kl_div(input, target, size_average, reduce, reduction, log_target)
