"""Normalisation over features, groups and channels."""

from ...core.missing import explaining as _explaining
from .. import GroupNorm as GroupNorm
from .. import LayerNorm as LayerNorm
from .. import LocalResponseNorm as LocalResponseNorm
from .. import RMSNorm as RMSNorm

__getattr__ = _explaining(__name__)
