"""The base classes of losses, from which programs derive theirs."""

from ...core.missing import explaining as _explaining
from ..losses.modules import *  # noqa: F403
from ..losses.modules import Loss as _Loss
from ..losses.modules import WeightedLoss as _WeightedLoss

__all__ = ["_Loss", "_WeightedLoss"]

__getattr__ = _explaining(__name__)
