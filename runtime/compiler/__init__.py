"""Compiled functions: a program is captured once, optimised, and run in place of the ops."""

from __future__ import annotations

from .control_flow import cond as cond
from .control_flow import fori_loop as fori_loop
from .control_flow import scan as scan
from .control_flow import while_loop as while_loop
from .errors import CaptureError as CaptureError
from .explanation import Explanation as Explanation
from .explanation import explain as explain
from .function import CompiledFunction as CompiledFunction
from .function import compile as compile

__all__ = [
    "CaptureError",
    "CompiledFunction",
    "Explanation",
    "compile",
    "cond",
    "explain",
    "fori_loop",
    "scan",
    "while_loop",
]
