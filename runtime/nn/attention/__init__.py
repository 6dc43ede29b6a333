"""Attention: functions, modules, and the transformer made of them."""

from ...core.missing import explaining as _explaining
from .backends import SDPBackend as SDPBackend
from .backends import sdpa_kernel as sdpa_kernel

__all__ = ["SDPBackend", "sdpa_kernel"]

__getattr__ = _explaining(__name__)
