"""Pooling."""

from ...core.missing import explaining as _explaining
from .. import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .. import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .. import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .. import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .. import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .. import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .. import AvgPool1d as AvgPool1d
from .. import AvgPool2d as AvgPool2d
from .. import AvgPool3d as AvgPool3d
from .. import FractionalMaxPool2d as FractionalMaxPool2d
from .. import FractionalMaxPool3d as FractionalMaxPool3d
from .. import LPPool1d as LPPool1d
from .. import LPPool2d as LPPool2d
from .. import LPPool3d as LPPool3d
from .. import MaxPool1d as MaxPool1d
from .. import MaxPool2d as MaxPool2d
from .. import MaxPool3d as MaxPool3d
from .. import MaxUnpool1d as MaxUnpool1d
from .. import MaxUnpool2d as MaxUnpool2d
from .. import MaxUnpool3d as MaxUnpool3d

__getattr__ = _explaining(__name__)
