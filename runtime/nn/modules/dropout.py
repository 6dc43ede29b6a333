"""Dropout."""

from ...core.missing import explaining as _explaining
from .. import AlphaDropout as AlphaDropout
from .. import Dropout as Dropout
from .. import Dropout1d as Dropout1d
from .. import Dropout2d as Dropout2d
from .. import Dropout3d as Dropout3d
from .. import FeatureAlphaDropout as FeatureAlphaDropout

__getattr__ = _explaining(__name__)
