"""Optimizers: they change parameters in place by what backward passes accumulated."""

from ..core.missing import explaining as _explaining
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]

__getattr__ = _explaining(__name__)
