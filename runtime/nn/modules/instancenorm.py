"""Instance normalisation."""

from ...core.missing import explaining as _explaining
from .. import InstanceNorm1d as InstanceNorm1d
from .. import InstanceNorm2d as InstanceNorm2d
from .. import InstanceNorm3d as InstanceNorm3d
from .. import LazyInstanceNorm1d as LazyInstanceNorm1d
from .. import LazyInstanceNorm2d as LazyInstanceNorm2d
from .. import LazyInstanceNorm3d as LazyInstanceNorm3d
from ..normalization.modules import _InstanceNorm as _InstanceNorm

__getattr__ = _explaining(__name__)
