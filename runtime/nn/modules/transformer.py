"""The transformer, and the helpers that programs build variants of it with."""

import copy as _copy
from collections.abc import Callable as _Callable
from typing import Any as _Any

from ...core.missing import explaining as _explaining
from .. import Module as _Module
from .. import ModuleList as _ModuleList
from .. import Transformer as Transformer
from .. import TransformerDecoder as TransformerDecoder
from .. import TransformerDecoderLayer as TransformerDecoderLayer
from .. import TransformerEncoder as TransformerEncoder
from .. import TransformerEncoderLayer as TransformerEncoderLayer
from .. import functional as _functional

__getattr__ = _explaining(__name__)


def _get_clones(module: _Module, N: int) -> _ModuleList:
    return _ModuleList(_copy.deepcopy(module) for _ in range(N))


def _get_activation_fn(activation: str) -> _Callable[..., _Any]:
    if activation in ("relu", "gelu"):
        function: _Callable[..., _Any] = getattr(_functional, activation)
        return function
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")
