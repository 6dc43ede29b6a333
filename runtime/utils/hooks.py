"""Handles that remove hooks."""

from ..core.hooks import RemovableHandle as RemovableHandle
from ..core.missing import explaining as _explaining

__all__ = ["RemovableHandle"]

__getattr__ = _explaining(__name__)
