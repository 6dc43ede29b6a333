"""Optimizers: update parameters in place by their accumulated gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.lazy import lazy_attributes as _lazy_attributes
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

if _TYPE_CHECKING:
    from . import lr_scheduler, swa_utils
    from .adadelta import Adadelta
    from .adafactor import Adafactor
    from .adagrad import Adagrad
    from .adamax import Adamax
    from .asgd import ASGD
    from .lbfgs import LBFGS
    from .muon import Muon
    from .nadam import NAdam
    from .radam import RAdam
    from .rmsprop import RMSprop
    from .rprop import Rprop
    from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]

_LAZY = {
    **{
        name: (f".{name.lower()}", name)
        for name in ("ASGD", "LBFGS", "Adadelta", "Adafactor", "Adagrad", "Adamax", "Muon")
    },
    **{name: (f".{name.lower()}", name) for name in ("NAdam", "RAdam", "RMSprop", "Rprop")},
    "SparseAdam": (".sparse_adam", "SparseAdam"),
    "lr_scheduler": (".lr_scheduler", ""),
    "swa_utils": (".swa_utils", ""),
}
__getattr__, __dir__ = _lazy_attributes(globals(), _LAZY)
