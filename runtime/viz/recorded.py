"""The ops that a program calls, the backward pass included, with their arguments and results.

Python's own profiling hook sees them, as in `autograd.profiler`: ops cost nothing extra elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.entered_modes import own_code
from ..dispatch.registry import OPS, import_all


@dataclass(frozen=True, slots=True)
class Step:
    """One call of an op that calls no other: its arguments in order, and its results."""

    op: str
    arguments: tuple[Any, ...]
    results: tuple[Tensor, ...]


class _Recorder:
    """Keeps the innermost calls of ops, in the order of their return."""

    def __init__(self) -> None:
        import_all()
        self.names: dict[CodeType, str] = {
            own_code(function): op.name.partition(".")[0] for function, op in OPS.items()
        }
        self.steps: list[Step] = []
        self.open: list[tuple[CodeType, tuple[Any, ...], int]] = []

    def watch(self, frame: FrameType, event: str, value: Any) -> None:
        """Note where an op begins, and what it returns."""
        code = frame.f_code
        if event == "call" and code in self.names:
            words = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            arguments = tuple(frame.f_locals[word] for word in words)
            self.open.append((code, arguments, len(self.steps)))
        elif event == "return" and self.open and self.open[-1][0] is code:
            _, arguments, known = self.open.pop()
            results = value if isinstance(value, tuple | list) else (value,)
            tensors = tuple(each for each in results if isinstance(each, Tensor))
            if known == len(self.steps) and tensors:
                self.steps.append(Step(self.names[code], arguments, tensors))


@contextmanager
def recording() -> Iterator[list[Step]]:
    """Record the ops of the block, and of this thread alone."""
    recorder = _Recorder()
    before: Any = sys.getprofile()
    sys.setprofile(recorder.watch)
    try:
        yield recorder.steps
    finally:
        sys.setprofile(before)
