"""Errors of a capture, with the line of the user's program that causes them."""

from __future__ import annotations

import functools
import inspect
import sys
from functools import cache
from types import FrameType
from typing import Any

from .program import Place

_OWN = frozenset({"gradspec", "numpy", "contextlib", "functools", "importlib"})


class CaptureError(RuntimeError):
    """A function does what a program cannot: it says where, and what to write instead."""


def refusal(what: str, instead: str) -> CaptureError:
    """The error of a capture at the line of the user's program that is being run."""
    place = current_place()
    where = f"{place.file}:{place.line}: " if place.line else ""
    return CaptureError(f"gs.compile: {where}{what}. {instead}")


def current_place() -> Place:
    """Find the origin of a call: the op or node that runs, and the user's line."""
    frame: FrameType | None = sys._getframe(1)
    op = ""
    while frame is not None:
        package = package_of(frame.f_globals)
        if not op and package == "gradspec.generated":
            op = _op_of(frame)
        if not _is_own(package):
            return Place(op, frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Place(op)


def place_of(function: Any) -> str:
    """Return where a function is defined, as the beginning of a message; empty if it is unknown."""
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__"):
        function = getattr(type(function), "forward", type(function).__call__)
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}: "


def is_users_frame(frame: FrameType) -> bool:
    """Return whether what runs there is the user's program."""
    return not _is_own(package_of(frame.f_globals))


@cache
def _is_own(package: str) -> bool:
    return package.partition(".")[0] in _OWN


def is_called_by(name: str) -> bool:
    """Return whether one of the library's functions that run has a name."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not is_users_frame(frame):
        if frame.f_code.co_name == name:
            return True
        frame = frame.f_back
    return False


def package_of(namespace: dict[str, object]) -> str:
    """Return the package or module that has a namespace, empty if it has no name."""
    found = namespace.get("__package__") or namespace.get("__name__") or ""
    return found if type(found) is str else str(found)


def _op_of(frame: FrameType) -> str:
    """Return the op or node that a frame runs; nothing for a part that several nodes share."""
    name = frame.f_code.co_name
    if name.startswith("array__"):
        return ""
    node = frame.f_locals.get("node") if name in ("apply", "apply_differentiable") else None
    return name if node is None else type(node).__name__
