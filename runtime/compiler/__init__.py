"""Compiled functions: a program is captured once, optimised, and run in place of the ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy import lazy_attributes as _lazy_attributes
from .control_flow import cond as cond
from .control_flow import fori_loop as fori_loop
from .control_flow import scan as scan
from .control_flow import while_loop as while_loop
from .entrance import compile as compile
from .entrance import disable as disable
from .entrance import is_compiling as is_compiling
from .entrance import is_dynamo_compiling as is_dynamo_compiling
from .entrance import is_exporting as is_exporting
from .entrance import list_backends as list_backends
from .errors import CaptureError as CaptureError
from .function import CompiledFunction as CompiledFunction
from .module import OptimizedModule as OptimizedModule

if TYPE_CHECKING:
    from .explanation import Explanation as Explanation
    from .explanation import explain as explain

__all__ = [
    "CaptureError",
    "CompiledFunction",
    "Explanation",
    "OptimizedModule",
    "compile",
    "cond",
    "disable",
    "explain",
    "fori_loop",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "scan",
    "while_loop",
]

__getattr__, __dir__ = _lazy_attributes(
    globals(), {name: (".explanation", name) for name in ("Explanation", "explain")}
)
