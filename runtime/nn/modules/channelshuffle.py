"""The shuffle of channels."""

from ...core.missing import explaining as _explaining
from .. import ChannelShuffle as ChannelShuffle

__getattr__ = _explaining(__name__)
