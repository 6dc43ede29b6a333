"""What programs ask of `torch.distributed` before they use it: there is one process."""

from __future__ import annotations

from .core.missing import explaining as _explaining

__all__ = ["is_available", "is_initialized"]

__getattr__ = _explaining(__name__)


def is_available() -> bool:
    """Return False: there are no groups of processes."""
    return False


def is_initialized() -> bool:
    """Return False: there is no group of processes."""
    return False
