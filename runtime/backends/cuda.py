"""Switches of a device that is not there."""

from types import SimpleNamespace
from typing import Final

from ..core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)

matmul: Final = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


def is_built() -> bool:
    """Return False."""
    return False
