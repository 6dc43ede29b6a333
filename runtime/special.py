"""PyTorch's namespace `special`: functions of the table, some under names of their own."""

from __future__ import annotations

from .core.missing import explaining as _explaining
from .functions.composites import mvlgamma as multigammaln
from .generated import digamma as psi
from .generated import igamma as gammainc
from .generated import igammac as gammaincc
from .generated import lgamma as gammaln
from .generated import sigmoid as expit
from .generated.names.special import *  # noqa: F403
from .generated.names.special import __all__ as _same_names

__all__ = [*_same_names, "expit", "gammainc", "gammaincc", "gammaln", "multigammaln", "psi"]

__getattr__ = _explaining(__name__)
