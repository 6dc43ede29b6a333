"""Batch normalisation, and its base class, which programs look for in models."""

from ...core.missing import explaining as _explaining
from .. import LazyBatchNorm1d as LazyBatchNorm1d
from .. import LazyBatchNorm2d as LazyBatchNorm2d
from .. import LazyBatchNorm3d as LazyBatchNorm3d
from ..layers import BatchNorm as _BatchNorm
from ..layers import BatchNorm1d as BatchNorm1d
from ..layers import BatchNorm2d as BatchNorm2d
from ..layers import BatchNorm3d as BatchNorm3d
from ..layers import RunningNorm as _NormBase

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "_BatchNorm",
    "_NormBase",
]

__getattr__ = _explaining(__name__)
