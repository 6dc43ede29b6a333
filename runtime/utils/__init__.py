"""PyTorch's `torch.utils`: `data`, for batches of examples, and `checkpoint`, to save memory."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.lazy import lazy_attributes as _lazy_attributes

if _TYPE_CHECKING:
    from . import checkpoint, data

__all__ = ["checkpoint", "data"]

__getattr__, __dir__ = _lazy_attributes(
    globals(), {"checkpoint": (".checkpoint", ""), "data": (".data", "")}
)
