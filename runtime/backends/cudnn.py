"""Switches of a library for a device that is not there."""

from ..core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Return False."""
    return False


def version() -> None:
    """Return None: there is no such library."""
