"""A device that is not there."""

from ..core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)


def is_available() -> bool:
    """Return False: tensors are NumPy arrays on the CPU."""
    return False


def is_built() -> bool:
    """Return False."""
    return False
