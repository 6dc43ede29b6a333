"""Compiled functions: a program is captured once, optimised, and run in place of the ops."""

from __future__ import annotations

from .errors import CaptureError as CaptureError
from .explanation import Explanation as Explanation
from .explanation import explain as explain
from .function import CompiledFunction as CompiledFunction
from .function import compile as compile

__all__ = ["CaptureError", "CompiledFunction", "Explanation", "compile", "explain"]
