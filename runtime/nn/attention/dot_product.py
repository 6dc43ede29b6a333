"""Attention, composed of ops of the table."""

from __future__ import annotations

import math

import numpy as np

from ...core.captured import has_values
from ...core.tensor import Tensor, wrap
from ...dtypes.promotion import type_name
from ...generated.activations import _softmax
from ...generated.arithmetic import where
from ...generated.linalg import matmul
from ...generated.numbers import _to_single
from ...kernels.elementwise.checks import HALF
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
    one of `key` and `value`. Halves are computed in single precision. RuntimeError for tensors of
    different dtypes, for integers, and for a mask together with `is_causal`; but both apply where
    PyTorch's fused attention takes them: without dropout, to tensors of four dimensions and one
    width, and for a mask of two or four dimensions that needs no gradient.
    """
    also = attn_mask if is_causal else None
    if also is not None and (dropout_p or not _is_fused(query, value, also)):
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
    if query.dtype.kind not in "fc":
        raise RuntimeError(f"expected scalar type Float but found {type_name(query.dtype)}")
    if attn_mask is not None and attn_mask.dtype not in (np.bool_, np.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {attn_mask.dtype} and query.dtype: {query.dtype} instead."
        )
    if enable_gqa:
        key, value = (share_heads(heads, query.shape[-3]) for heads in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else math.inf
    is_half = query.dtype == HALF
    if is_half:
        query, key, value = (_to_single(each) for each in (query, key, value))
    scores = matmul(query * scale, key.transpose(-2, -1))
    if is_causal:
        scores = _masked(scores, wrap(np.tri(*scores.shape[-2:], dtype=np.bool_)))
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    is_masked = is_causal or attn_mask is not None
    weights = dropout(softmax_of_masked(scores) if is_masked else _softmax(scores, -1), dropout_p)
    found = matmul(weights, value)
    return found.to(HALF) if is_half else found


def _is_fused(query: Tensor, value: Tensor, mask: Tensor) -> bool:
    """Return whether PyTorch has a fused function for these tensors, without dropout."""
    has_shapes = query.ndim == value.ndim == 4 and mask.ndim in (2, 4)
    return has_shapes and query.shape[-1] == value.shape[-1] and not mask.requires_grad


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    if mask.array.dtype != np.bool_:
        return scores + mask
    return where(mask, scores, wrap(np.asarray(-np.inf, scores.array.dtype)))


def softmax_of_masked(scores: Tensor) -> Tensor:
    """Take the softmax of scores; zeros where all of them are minus infinity."""
    hidden = (scores == -math.inf).all(-1, keepdim=True)
    if not has_values(hidden.array) or hidden.array.any():
        zero = wrap(np.zeros((), scores.array.dtype))
        return where(hidden, zero, _softmax(where(hidden, zero, scores), -1))
    return _softmax(scores, -1)


def share_heads(heads: Tensor, count: int) -> Tensor:
    """Repeat each head, for `count` heads in all; RuntimeError if that is no multiple."""
    given = heads.shape[-3]
    if given == count:
        return heads
    if count % given:
        raise RuntimeError(
            "scaled_dot_product_attention: the number of heads in key and value must divide the "
            f"number of heads in query, but got {given} and {count}"
        )
    order = wrap(np.repeat(np.arange(given), count // given))
    return heads.index_select(-3, order)
