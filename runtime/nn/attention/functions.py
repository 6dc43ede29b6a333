"""Attention of several heads with its projections: Vaswani et al. (2017)."""

from __future__ import annotations

import math

import numpy as np

from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn_once
from ...dispatch.registry import ops
from ..composed import dropout
from .dot_product import scaled_dot_product_attention


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attend from `query` (L, N, E) to `key` and `value` (S, N, ...), in `num_heads` parts of `E`.

    Returns the projected result (L, N, E), and the weights (N, L, S), or those of each head
    (N, heads, L, S) unless `average_attn_weights`; None unless `need_weights`. N may be left out.
    `attn_mask` is (L, S) or (N * heads, L, S), `key_padding_mask` (N, S); true, or minus infinity,
    hides a key. AssertionError and RuntimeError, as in PyTorch, for shapes that do not fit.
    """
    is_batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    _check_width(width, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    padding = additive_mask(key_padding_mask, "key_padding_mask", query, beside=attn_mask)
    hints = is_causal and padding is None and not need_weights
    mask = None if hints else additive_mask(attn_mask, "attn_mask", query)
    if mask is not None:
        mask = _three_dims(mask, (length, key.shape[0]), batch * num_heads)
    if use_separate_proj_weight:
        weights = [q_proj_weight, k_proj_weight, v_proj_weight]
    else:
        weights = [None] * 3 if in_proj_weight is None else list(ops.split(in_proj_weight, width))
    q, k, v = _projected([query, key, value], weights, in_proj_bias)
    heads = batch * num_heads
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = ops.cat([k, bias_k.repeat(1, batch, 1)])
        v = ops.cat([v, bias_v.repeat(1, batch, 1)])
        mask, padding = _with_column(mask), _with_column(padding)
    elif bias_k is not None or bias_v is not None:
        raise AssertionError("bias_k and bias_v are set together or not at all")
    q = _by_head(q, num_heads)
    k = _by_head(k, num_heads) if static_k is None else _static("static_k", static_k, heads, q)
    v = _by_head(v, num_heads) if static_v is None else _static("static_v", static_v, heads, q)
    if add_zero_attn:
        zero = wrap(np.zeros((heads, 1, width // num_heads), k.array.dtype))
        k, v = ops.cat([k, zero], 1), ops.cat([v, zero], 1)
        mask, padding = _with_column(mask), _with_column(padding)
    if padding is not None:
        _check_padding(padding, (batch, k.shape[1]))
        each = padding.view(batch, 1, 1, k.shape[1]).expand(-1, num_heads, -1, -1)
        each = each.reshape(heads, 1, k.shape[1])
        mask = each if mask is None else mask + each
    chance = dropout_p if training else 0.0
    if need_weights:
        found, shares = _weighed(q, k, v, mask, chance)
        shares = shares.view(batch, num_heads, length, k.shape[1])
        shares = shares.mean(1) if average_attn_weights else shares
    else:
        found, shares = _attended(q, k, v, mask, chance, hints, num_heads), None
    joined = found.transpose(0, 1).reshape(length * batch, width)
    output = ops.linear(joined, out_proj_weight, out_proj_bias)
    output = output.view(length, batch, output.shape[1])
    if is_batched:
        return output, shares
    return output.squeeze(1), None if shares is None else shares.squeeze(0)


def additive_mask(
    mask: Tensor | None, name: str, like: Tensor, *, beside: Tensor | None = None
) -> Tensor | None:
    """Return a mask of floats: minus infinity where one of bools is true."""
    if mask is None:
        return None
    if mask.dtype.kind not in "bf":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if beside is not None and beside.dtype != mask.dtype:
        warn_once(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both "
            "instead."
        )
    if mask.dtype.kind == "f":
        return mask
    zeros = wrap(np.zeros(mask.shape, like.array.dtype))
    return ops.masked_fill(zeros, mask, -math.inf)


def _is_batched(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor | None,
    mask: Tensor | None,
    num_heads: int,
) -> bool:
    if query.ndim not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.ndim}-D query tensor"
        )
    kind = f"For {'batched' if query.ndim == 3 else 'unbatched'} ({query.ndim}-D) `query`, expected"
    if not key.ndim == value.ndim == query.ndim:
        raise AssertionError(
            f"{kind} `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and "
            f"{value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != query.ndim - 1:
        raise AssertionError(
            f"{kind} `key_padding_mask` to be `None` or {query.ndim - 1}-D but found "
            f"{padding.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim == 3 and query.ndim == 2:
        shape = (num_heads, query.shape[0], key.shape[0])
        if tuple(mask.shape) != shape:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {shape} but got {tuple(mask.shape)}"
            )
    return query.ndim == 3


def _check_width(width: int, wanted: int, num_heads: int) -> None:
    if width != wanted:
        raise AssertionError(f"was expecting embedding dimension of {wanted}, but got {width}")
    if width % num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")


def _three_dims(mask: Tensor, plain: tuple[int, int], heads: int) -> Tensor:
    shape = plain if mask.ndim == 2 else (heads, *plain)
    if tuple(mask.shape) != shape:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{shape}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _check_padding(padding: Tensor, shape: tuple[int, int]) -> None:
    for dim, wanted in enumerate(shape):
        if padding.shape[dim] != wanted:
            raise AssertionError(
                f"Expected key_padding_mask.shape[{dim}] to be {wanted}, but got "
                f"{padding.shape[dim]}"
            )


def _projected(
    given: list[Tensor], weights: list[Tensor | None], bias: Tensor | None
) -> list[Tensor]:
    if given[1].shape[:2] != given[2].shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {given[1].shape[:2]} do not match value's "
            f"{given[2].shape[:2]}"
        )
    biases = (None,) * 3 if bias is None else ops.split(bias, bias.shape[0] // 3)
    found = []
    for tensor, weight, offset in zip(given, weights, biases, strict=True):
        if weight is None:
            raise AssertionError("a projection weight of query, key or value is None")
        found.append(ops.linear(tensor, weight, offset))
    return found


def _by_head(tensor: Tensor, num_heads: int) -> Tensor:
    """Bring (length, batch, width) into (batch * heads, length, width of a head)."""
    length, batch, width = tensor.shape
    return tensor.reshape(length, batch * num_heads, width // num_heads).transpose(0, 1)


def _static(name: str, given: Tensor, heads: int, like: Tensor) -> Tensor:
    if given.shape[0] != heads or given.shape[2] != like.shape[2]:
        raise AssertionError(
            f"expecting {name} of shape ({heads}, length, {like.shape[2]}), but got "
            f"{tuple(given.shape)}"
        )
    return given


def _with_column(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else ops.constant_pad_nd(mask, [0, 1], 0)


def _weighed(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, chance: float
) -> tuple[Tensor, Tensor]:
    scaled, turned = q * math.sqrt(1 / q.shape[-1]), k.transpose(-2, -1)
    scores = ops.bmm(scaled, turned) if mask is None else ops.baddbmm(mask, scaled, turned)
    shares = dropout(ops.softmax(scores, -1), chance)
    return ops.bmm(shares, v), shares


def _attended(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    chance: float,
    is_causal: bool,
    num_heads: int,
) -> Tensor:
    batch = q.shape[0] // num_heads
    q, k, v = (each.reshape(batch, num_heads, *each.shape[1:]) for each in (q, k, v))
    if mask is not None and mask.shape[0] != 1:
        mask = mask.reshape(batch, num_heads, *mask.shape[1:])
    found = scaled_dot_product_attention(q, k, v, mask, chance, is_causal)
    return found.reshape(batch * num_heads, *found.shape[2:])
