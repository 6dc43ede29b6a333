"""The connectionist temporal classification loss, by the forward recursion in logarithms.

A. Graves et al., Connectionist Temporal Classification (2006). The recursion consists of ops of the
table, so it is differentiable in every mode and to every order. Its gradient is the derivative by
`log_probs`; PyTorch's has `exp(log_probs)` added, which `log_softmax` takes away again: behind it
both are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...batching.examples import reading_each_example
from ...core.captured import is_any
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops

_IMPOSSIBLE = -1e30
"""Stands for the logarithm of zero: its exponential is zero, and no difference of two is nan."""


@reading_each_example
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Negative logarithm of the probability of `targets`, summed over all alignments.

    `log_probs` is (T, N, C), or (T, C) without a batch; `targets` is (N, S), or all in one row. The
    `mean` is of the losses over their lengths. Targets that no alignment gives have an infinite
    loss, or zero with `zero_infinity`, and no gradient.
    Raises RuntimeError for lengths, labels and shapes that do not fit.
    """
    if log_probs.array.dtype.kind != "f":
        raise NotImplementedError(f'"ctc_loss_cpu" not implemented for {log_probs.dtype}')
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    is_single = log_probs.ndim == 2
    rows = log_probs.unsqueeze(1) if is_single else log_probs
    if rows.ndim != 3:
        raise RuntimeError(f"ctc_loss: log_probs has 2 or 3 dimensions, not {log_probs.ndim}")
    frames, labels = _lengths(input_lengths), _lengths(target_lengths)
    _check(rows, frames, labels, blank)
    padded = _padded(targets.array, labels, is_single)
    losses = _losses(rows, padded, frames, labels, blank)
    is_infinite = wrap(losses.array > -_IMPOSSIBLE / 2)
    losses = losses.masked_fill(is_infinite, 0.0 if zero_infinity else float("inf"))
    if reduction == "mean":
        return (losses / wrap(np.maximum(labels, 1).astype(losses.dtype))).mean()
    if reduction == "sum":
        return losses.sum()
    return losses.squeeze(0) if is_single else losses


def _lengths(given: Tensor | Sequence[int]) -> Any:
    array = given.array if isinstance(given, Tensor) else np.array(given, np.int64)
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"ctc_loss: lengths must be integral, not {array.dtype}")
    return array.reshape(-1).astype(np.int64)


def _check(rows: Tensor, frames: Any, labels: Any, blank: int) -> None:
    time, batch, classes = rows.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", frames), ("target_lengths", labels)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
        if (lengths < 0).any():
            raise RuntimeError(f"ctc_loss: {name} must not be negative")
    if (frames > time).any():
        raise RuntimeError(
            f"Expected input_lengths to have value at most {time}, but got value {frames.max()}"
        )


def _padded(targets: Any, labels: Any, is_single: bool) -> Any:
    """The labels of each example in a row, as (N, S); what is behind them does not count."""
    if targets.dtype.kind not in "iu":
        raise RuntimeError(f"ctc_loss: targets must be integral, not {targets.dtype}")
    width = int(labels.max(initial=0))
    if targets.ndim == 1 and not is_single:
        if targets.size != labels.sum():
            raise RuntimeError(
                f"Expected targets to have size {labels.sum()} at dimension 0, but got size "
                f"{targets.size}"
            )
        places = (labels.cumsum() - labels)[:, None] + np.arange(width)
        row = np.concatenate([targets, np.zeros(width, np.int64)])  # behind the last example's
        return np.where(np.arange(width) < labels[:, None], row[places], 0).astype(np.int64)
    whole = targets.reshape(len(labels), -1)
    if whole.shape[1] < width:
        raise RuntimeError(
            f"Expected targets to have size at least {width} at dimension 1, but got size "
            f"{whole.shape[1]}"
        )
    return whole[:, :width].astype(np.int64)


def _losses(rows: Tensor, padded: Any, frames: Any, labels: Any, blank: int) -> Tensor:
    """The loss of each example: states are the labels with blanks between and around them."""
    time, batch, classes = rows.shape
    places = np.arange(2 * padded.shape[1] + 1)
    blanks = np.full((batch, 1), blank)
    between = np.stack([np.broadcast_to(blanks, padded.shape), padded], -1)
    states = np.concatenate([between.reshape(batch, -1), blanks], 1)
    exists = places <= 2 * labels[:, None]
    states = np.where(exists, states, blank)
    if is_any((states < 0) | (states >= classes)):
        raise RuntimeError(f"ctc_loss: labels must be in [0, {classes})")
    differs = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    skips = np.concatenate([np.zeros((batch, min(2, len(places))), bool), differs], 1)
    index = wrap(np.broadcast_to(states, (time, *states.shape)).copy())
    heights = ops.clamp_min(rows.gather(2, index), _IMPOSSIBLE)
    start = np.where(exists & (places < 2), 0.0, _IMPOSSIBLE).astype(rows.dtype)
    # The state before the first frame: nothing was emitted, and the first two states may follow.
    alpha = wrap(np.where(places == 0, 0.0, start).astype(rows.dtype))
    nothing = wrap(np.full((batch, 2), _IMPOSSIBLE, rows.dtype))
    for t in range(time):
        if t == 0:
            reached = alpha
        else:
            behind = ops.cat([nothing, alpha], 1)
            one, two = behind[:, 1:-1], behind[:, :-2].masked_fill(wrap(~skips), _IMPOSSIBLE)
            reached = ops.logsumexp(ops.stack([alpha, one, two]), [0])
        after = ops.clamp_min(reached + heights[t], _IMPOSSIBLE)
        alpha = ops.where(wrap((t < frames)[:, None]), after, alpha)
    is_last = (places >= 2 * labels[:, None] - 1) & exists
    is_last &= (frames[:, None] > 0) | (places == 0)
    return -ops.logsumexp(alpha.masked_fill(wrap(~is_last), _IMPOSSIBLE), [1])
