"""Attention whose scores a function of the user's changes: `score_mod`, and masks by blocks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypedDict

import numpy as np

from ...core.missing import explaining as _explaining
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from .block_mask import BlockMask as BlockMask
from .block_mask import create_block_mask as create_block_mask
from .block_mask import create_mask as create_mask
from .block_mask import refuse_sliced
from .dot_product import share_heads, softmax_of_masked
from .places import ScoreMod, of_all_places
from .places import and_masks as and_masks
from .places import noop_mask as noop_mask
from .places import or_masks as or_masks


class AuxRequest(NamedTuple):
    """Further results that `flex_attention` is asked for."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """Further results of `flex_attention`; None for what was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels, which choose nothing here."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    BACKEND: str


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Average `value` (B, H, S, V), weighted by `query` (B, H, L, E) times `key` (B, H, S, E).

    `score_mod(score, batch, head, query, key)` gives the score that takes the place of one, and
    `block_mask` which keys count for which queries. A query for which none does gets zeros. With
    `enable_gqa` several heads of `query` share one of `key` and `value`. `return_lse` asks for the
    logarithm of the sums of exponentials (B, H, L), too, and `return_aux` for it and the largest
    scores. Scores are computed in single precision or better. ValueError for shapes that do not
    fit each other or the mask.
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    wanted = AuxRequest(lse=return_lse) if return_aux is None else return_aux
    heads = query.shape[1]
    key, value = share_heads(key, heads), share_heads(value, heads)
    if key.shape[0] != query.shape[0]:
        key, value = (ops.expand(t, (query.shape[0], *t.shape[1:])) for t in (key, value))
    given = query.dtype
    precision = np.promote_types(given, np.float32)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query.to(precision), key.to(precision).transpose(-2, -1)) * factor
    if score_mod is not None:
        scores = of_all_places(score_mod, scores.shape, scores).to(precision)
    if block_mask is not None:
        hidden = wrap(np.asarray(-np.inf, precision))
        scores = ops.where(block_mask.places(query.shape[:2]), scores, hidden)
    weights = softmax_of_masked(scores)
    found = ops.matmul(weights.to(given), value.to(given))
    lse = _logsumexp(scores) if wanted.lse else None
    if return_aux is not None:
        return found, AuxOutput(lse, ops.amax(scores, -1) if wanted.max_scores else None)
    return (found, lse) if return_lse else found


def _logsumexp(scores: Tensor) -> Tensor:
    """Minus infinity where no key counts, through which no gradient flows."""
    hidden = (scores == -math.inf).all(-1)
    zero = wrap(np.zeros((), scores.array.dtype))
    nothing = wrap(np.asarray(-np.inf, scores.array.dtype))
    sums = ops.logsumexp(ops.where(hidden.unsqueeze(-1), zero, scores), -1)
    return ops.where(hidden, nothing, sums)


def _check(
    query: Tensor, key: Tensor, value: Tensor, mask: BlockMask | None, enable_gqa: bool
) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype}, key.dtype: {key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if query.dtype.kind != "f":
        raise ValueError(f"flex_attention: query must be of a floating dtype, not {query.dtype}")
    if not query.ndim == key.ndim == value.ndim == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    if key.shape[:3] != value.shape[:3]:
        raise ValueError(
            "Expect key and value to have the same batch size, heads and length but got "
            f"{list(key.shape[:3])} and {list(value.shape[:3])}."
        )
    many, few = query.shape[1], key.shape[1]
    if many != few and not enable_gqa:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={many} and Hkv={few}. Try setting enable_gqa=True for GQA."
        )
    if many % few:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={many} and Hkv={few}."
        )
    batches = query.shape[0], key.shape[0]
    if batches[0] != batches[1] and (mask is None or batches[1] != 1):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or one of key/value and a "
            f"block_mask, but got Bq={batches[0]}, and Bkv={batches[1]}."
        )
    if mask is not None:
        _check_mask(mask, (*query.shape[:3], key.shape[2]))


def _check_mask(mask: BlockMask, wanted: tuple[int, ...]) -> None:
    if mask.mask_mod is refuse_sliced:
        raise RuntimeError(
            "Cannot use mask_mod from a sliced BlockMask: set mask_mod from that of the whole one"
        )
    shape = mask.shape
    fits = len(shape) == 4 and all(
        given in (1, size) for given, size in zip(shape[:2], wanted[:2], strict=True)
    )
    if not fits or shape[2:] != wanted[2:]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={shape} but got q_len={wanted[2]} and "
            f"kv_len={wanted[3]}, with {wanted[0]} batches of {wanted[1]} heads: create one for "
            "these, or let block_mask._adjust(q_len, kv_len) take the upper left part"
        )


__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

__getattr__ = _explaining(__name__)
