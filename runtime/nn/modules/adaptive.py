"""The adaptive softmax."""

from ...core.missing import explaining as _explaining
from .. import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss

__getattr__ = _explaining(__name__)
