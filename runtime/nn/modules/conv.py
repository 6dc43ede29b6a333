"""Convolutions, and their base classes, which programs look for in models."""

from ...core.missing import explaining as _explaining
from .. import Conv1d as Conv1d
from .. import Conv2d as Conv2d
from .. import Conv3d as Conv3d
from .. import ConvTranspose1d as ConvTranspose1d
from .. import ConvTranspose2d as ConvTranspose2d
from .. import ConvTranspose3d as ConvTranspose3d
from .. import LazyConv1d as LazyConv1d
from .. import LazyConv2d as LazyConv2d
from .. import LazyConv3d as LazyConv3d
from .. import LazyConvTranspose1d as LazyConvTranspose1d
from .. import LazyConvTranspose2d as LazyConvTranspose2d
from .. import LazyConvTranspose3d as LazyConvTranspose3d
from ..layers import ConvNd as _ConvNd
from ..transposed import _ConvTranspose as _ConvTransposeNd

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "_ConvNd",
    "_ConvTransposeNd",
]

__getattr__ = _explaining(__name__)
