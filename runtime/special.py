"""PyTorch's namespace `special`: functions of the table, some under names of their own."""

from __future__ import annotations

from .core.missing import explaining as _explaining
from .generated.special_names import *  # noqa: F403
from .generated.special_names import __all__ as _same_names

__all__ = [
    *_same_names,
    *("expit", "gammainc", "gammaincc", "gammaln", "multigammaln", "psi"),
]

__getattr__ = _explaining(__name__)
