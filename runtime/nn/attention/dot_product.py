"""Attention, composed of ops of the table."""

from __future__ import annotations

import math

import numpy as np

from ...core.captured import has_values
from ...core.tensor import Tensor, wrap
from ...generated.activations import _softmax
from ...generated.arithmetic import where
from ...generated.linalg import matmul
from ..composed import dropout


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Average `value` (..., S, V), weighted by `query` (..., L, E) times `key` (..., S, E).

    `attn_mask` is added to the scores, or, if bool, says which of them count. A query that may
    attend to nothing gets zeros. With `enable_gqa` several heads (dimension -3) of `query` share
    one of `key` and `value`. RuntimeError for a mask together with `is_causal`, for tensors of
    different dtypes, and for a mask of integers.
    """
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError("scaled_dot_product_attention: query, key, value are at least 2D")
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (np.bool_, np.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {attn_mask.dtype} and query.dtype: {query.dtype} instead."
        )
    if enable_gqa:
        key, value = (_shared_heads(heads, query.shape[-3]) for heads in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else math.inf
    scores = matmul(query * scale, key.transpose(-2, -1))
    if is_causal:
        attn_mask = wrap(np.tri(*scores.shape[-2:], dtype=np.bool_))
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    return matmul(dropout(_weights(scores, attn_mask is not None), dropout_p), value)


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    if mask.array.dtype != np.bool_:
        return scores + mask
    return where(mask, scores, wrap(np.asarray(-np.inf, scores.array.dtype)))


def _weights(scores: Tensor, masked: bool) -> Tensor:
    """Take the softmax of the scores; zeros where all of them are minus infinity."""
    if masked:
        hidden = (scores == -math.inf).all(-1, keepdim=True)
        if not has_values(hidden.array) or hidden.array.any():
            zero = wrap(np.zeros((), scores.array.dtype))
            return where(hidden, zero, _softmax(where(hidden, zero, scores), -1))
    return _softmax(scores, -1)


def _shared_heads(heads: Tensor, count: int) -> Tensor:
    """Repeat each head, for `count` heads in all."""
    given = heads.shape[-3]
    if count % given:
        raise RuntimeError(
            "scaled_dot_product_attention: the number of heads in key and value must divide the "
            f"number of heads in query, but got {given} and {count}"
        )
    order = wrap(np.repeat(np.arange(given), count // given))
    return heads.index_select(-3, order)
