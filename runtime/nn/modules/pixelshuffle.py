"""Pixels and channels exchanged."""

from ...core.missing import explaining as _explaining
from .. import PixelShuffle as PixelShuffle
from .. import PixelUnshuffle as PixelUnshuffle

__getattr__ = _explaining(__name__)
