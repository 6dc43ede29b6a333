"""Tensors from and for other libraries, on the same memory."""

from ..core.missing import explaining as _explaining
from ..functions.foreign_memory import from_dlpack as from_dlpack
from ..functions.foreign_memory import to_dlpack as to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]

__getattr__ = _explaining(__name__)
