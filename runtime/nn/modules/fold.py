"""Windows of images."""

from ...core.missing import explaining as _explaining
from .. import Fold as Fold
from .. import Unfold as Unfold

__getattr__ = _explaining(__name__)
