"""Upsampling."""

from ...core.missing import explaining as _explaining
from .. import Upsample as Upsample
from .. import UpsamplingBilinear2d as UpsamplingBilinear2d
from .. import UpsamplingNearest2d as UpsamplingNearest2d

__getattr__ = _explaining(__name__)
