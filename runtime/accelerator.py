"""`gs.accelerator`, for programs that take the device that is there: there is only the CPU."""

from __future__ import annotations

from .core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)


def is_available() -> bool:
    """Return False."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is no accelerator."""


def device_count() -> int:
    """Return 0."""
    return 0
