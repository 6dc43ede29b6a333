"""PyTorch's top-level losses: those of `nn.functional`, with `reduction` as a number.

0 is `none`, 1 is `mean`, 2 is `sum`; RuntimeError for other numbers. They warn of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from ...generated.names import nn as nn_names
from . import ctc

_REDUCTIONS = ("none", "mean", "sum")


def _named(reduction: int) -> str:
    if not isinstance(reduction, int) or not 0 <= reduction < len(_REDUCTIONS):
        raise RuntimeError(f"reduction is 0 (none), 1 (mean) or 2 (sum), not {reduction!r}")
    return _REDUCTIONS[reduction]


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """Compute the cross entropy of two classes, given the logits of one of them."""
    return nn_names.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_named(reduction), pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """Compute the loss of angles: small where `target` is 1, large where it is -1."""
    return nn_names.cosine_embedding_loss(
        input1, input2, target, margin, reduction=_named(reduction)
    )


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Compute the connectionist temporal classification loss: see `nn.functional.ctc_loss`."""
    return ctc.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _named(reduction), zero_infinity
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1
) -> Tensor:
    """Compute distances where `target` is 1, what they lack to `margin` where it is -1."""
    return nn_names.hinge_embedding_loss(input, target, margin, reduction=_named(reduction))


def kl_div(
    input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False
) -> Tensor:
    """Compute the Kullback-Leibler divergence; 1 is the mean over elements."""
    return nn_names.kl_div(input, target, reduction=_named(reduction), log_target=log_target)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """Compute by how much scores are not in the wanted order."""
    return nn_names.margin_ranking_loss(input1, input2, target, margin, reduction=_named(reduction))


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Compute the negative log likelihood of Poisson distributions."""
    return nn_names.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=_named(reduction)
    )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """Compute the triplet loss of distances of order `p`."""
    return nn_names.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_named(reduction)
    )
