"""Arrays of symbols that answer NumPy's functions, with all exact models registered."""

from __future__ import annotations

from . import array_models
from .exact_arrays import Sym, SymArray, as_symbols, expressions, lift, sym_array

__all__ = ["Sym", "SymArray", "as_symbols", "expressions", "lift", "sym_array"]

array_models.register()
