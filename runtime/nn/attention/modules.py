"""Attention of several heads as a module."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from .. import init
from ..linear import NonDynamicallyQuantizableLinear
from ..module import Module
from ..parameter import empty_parameter
from .functions import additive_mask, multi_head_attention_forward


class MultiheadAttention(Module):
    """Attention of several heads, each with projections of its own: Vaswani et al. (2017)."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        apart = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = empty_parameter((3 * embed_dim, embed_dim), dtype, device)
            for letter in apart:
                self.register_parameter(f"{letter}_proj_weight", None)
        else:
            for letter, width in apart.items():
                weight = empty_parameter((embed_dim, width), dtype, device)
                self.register_parameter(f"{letter}_proj_weight", weight)
            self.register_parameter("in_proj_weight", None)
        given = empty_parameter((3 * embed_dim,), dtype, device) if bias else None
        self.register_parameter("in_proj_bias", given)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self.bias_k = empty_parameter((1, 1, embed_dim), dtype, device) if add_bias_kv else None
        self.bias_v = empty_parameter((1, 1, embed_dim), dtype, device) if add_bias_kv else None
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend: see `nn.functional.multi_head_attention_forward`.

        With `batch_first` tensors of three dimensions are (N, L, E).
        """
        key_padding_mask = additive_mask(
            key_padding_mask, "key_padding_mask", query, beside=attn_mask
        )
        attn_mask = additive_mask(attn_mask, "attn_mask", query)
        turns = self.batch_first and query.ndim == 3
        if turns:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        output, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if turns else output), weights
