"""Flattening."""

from ...core.missing import explaining as _explaining
from .. import Flatten as Flatten
from .. import Unflatten as Unflatten

__getattr__ = _explaining(__name__)
