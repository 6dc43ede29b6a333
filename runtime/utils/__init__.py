"""PyTorch's `torch.utils`: batches of examples, checkpoints to save memory, trees, and others."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.lazy import lazy_attributes as _lazy_attributes

if _TYPE_CHECKING:
    from . import _pytree, checkpoint, data, dlpack, hooks

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks"]

__getattr__, __dir__ = _lazy_attributes(globals(), {name: (f".{name}", "") for name in __all__})
