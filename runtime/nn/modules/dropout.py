"""Dropout."""

from ...core.missing import explaining as _explaining
from .. import AlphaDropout as AlphaDropout
from .. import Dropout as Dropout
from .. import Dropout1d as Dropout1d
from .. import Dropout2d as Dropout2d
from .. import Dropout3d as Dropout3d
from .. import FeatureAlphaDropout as FeatureAlphaDropout
from ..layers import DropoutWith as _DropoutNd  # noqa: F401 - programs look for it here

__getattr__ = _explaining(__name__)
