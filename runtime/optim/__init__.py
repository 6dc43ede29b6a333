"""Optimizers: update parameters in place by their accumulated gradients."""

from ..core.missing import explaining as _explaining
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]

__getattr__ = _explaining(__name__)
