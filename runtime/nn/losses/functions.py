"""Losses that warn, as PyTorch's do, where shapes or a reduction are probably a mistake."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...core.tensor import Tensor
from ...core.user_warnings import warn
from ...dispatch.registry import ops
from ...generated.names import nn as nn_names
from .options import LinearCrossEntropyOptions

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


def _weighable(loss: _Loss) -> _Loss:
    """Give a loss the argument `weight`: a factor for each element, by whose sum a mean divides."""

    @wraps(loss)
    def call(
        input: Tensor,
        target: Tensor,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
    ) -> Tensor:
        if weight is None:
            found: Tensor = loss(input, target, size_average, reduce, reduction)
            return found
        _check_weight(weight, input)
        weighted = loss(input, target, reduction="none") * weight
        if reduction == "mean":
            return weighted.sum() / weight.sum()
        return ops._reduced(weighted, reduction)

    return call  # type: ignore[return-value]


def _check_weight(weight: Tensor, input: Tensor) -> None:
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def _checked_huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    if weight is not None:
        _check_weight(weight, input)
    return nn_names.huber_loss(input, target, reduction, delta, weight)


mse_loss = _of_one_size(_weighable(nn_names.mse_loss))
l1_loss = _of_one_size(_weighable(nn_names.l1_loss))
smooth_l1_loss = _of_one_size(nn_names.smooth_l1_loss)
huber_loss = _of_one_size(wraps(nn_names.huber_loss)(_checked_huber_loss))


@wraps(nn_names.cross_entropy)
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compute the cross entropy of logits (N, C, ...) and classes (N, ...), or probabilities.

    RuntimeError for a `weight` that is not one number a class, for a `label_smoothing` outside of
    [0, 1], and for an `ignore_index` beside probabilities.
    """
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if input.shape == target.shape:
        if target.dtype.kind not in "fc":
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{target.dtype}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
    if weight is not None:
        classes = input.shape[0 if input.ndim == 1 else 1]
        if tuple(weight.shape) != (classes,):
            raise RuntimeError(
                f"cross_entropy: weight tensor should be defined either for all {classes} classes "
                f"or no classes but got weight tensor of shape: {list(weight.shape)}"
            )
    return nn_names.cross_entropy(
        input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing
    )


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


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Compute the triplet loss with any distance of two tensors, by default the Euclidean one.

    ValueError for a `margin` that is not positive or an unknown reduction; RuntimeError for tensors
    of different numbers of dimensions.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "triplet_margin_with_distance_loss: anchor, positive and negative must have the same "
            f"number of dimensions, not {anchor.ndim}, {positive.ndim} and {negative.ndim}"
        )
    distance = nn_names.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return ops._reduced(ops.clamp_min(margin + near - far, 0), reduction)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """Compute `cross_entropy` of the logits that a linear layer makes of `input`.

    `input` is (N, in_features) or (in_features,), `linear_weight` (classes, ..., in_features).
    `options` choose how PyTorch saves memory, and change nothing; TypeError for others.
    """
    if options is not None and not isinstance(options, LinearCrossEntropyOptions):
        raise TypeError(
            "linear_cross_entropy(): options must be LinearCrossEntropyOptions or None, not "
            f"{type(options).__name__}"
        )
    classes, *others, features = linear_weight.shape
    rows = linear_weight.reshape(-1, features)
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = nn_names.linear(input, rows, bias).reshape(*input.shape[:-1], classes, *others)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits,
        target,
        weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
