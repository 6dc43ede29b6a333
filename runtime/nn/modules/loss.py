"""The base class of losses, from which programs derive theirs."""

from ...core.missing import explaining as _explaining
from ..losses.modules import *  # noqa: F403
from ..losses.modules import Loss as _Loss

__all__ = ["_Loss"]

__getattr__ = _explaining(__name__)
