"""Derivatives as an installed library computes them, and programs in it."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .libraries import Library
from .questions import Array

MOST_LINES = 6
"""The lines of a program."""


class Session:
    """A library that has been imported."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._names: dict[str, Any] = {}
        exec("\n".join(library.prelude), self._names)  # the text of our own tables

    def function(
        self, body: str, constants: Mapping[str, Array] | None = None
    ) -> Callable[..., Any]:
        """The function of `t` that a text says; constants are arrays by name."""
        names = dict(self._names)
        for name, array in (constants or {}).items():
            names[name] = self.array(array)
        function: Callable[..., Any] = eval(f"lambda t: {body}", names)
        return function

    def array(self, array: Array) -> Any:
        """An array of the library."""
        return eval(self.library.array.format(data="data"), self._names | {"data": array})

    def values(self, function: Callable[..., Any], t: Array | float) -> Array:
        """The values of a function."""
        with _quiet():
            return _numbers(function(self.array(np.asarray(t, np.float64))))

    def derivatives(self, function: Callable[..., Any], t: Array | float) -> dict[str, Any]:
        """Answer of each mode, or the exception that it raises."""
        found: dict[str, Any] = {}
        given = self.array(np.asarray(t)) if isinstance(t, np.ndarray) else float(t)
        for mode, (*lines, value) in self.library.modes.items():
            names = dict(self._names) | {"f": function, "at": given}
            try:
                with _quiet():
                    exec("\n".join(line.format(t="at") for line in lines), names)
                    found[mode] = _numbers(eval(value.format(t="at"), names))
            except Exception as error:
                found[mode] = error
        return found

    def program(self, body: str, mode: str, t: float) -> str:
        """A program that prints what a mode answers."""
        *lines, value = self.library.modes[mode]
        text = [
            *self.library.prelude,
            f"f = lambda t: {body}",
            *(line.format(t=repr(t)) for line in lines),
            f"print({value.format(t=repr(t))}.item())",
        ]
        assert len(text) <= MOST_LINES
        return "\n".join(text) + "\n"


def printed(program: str) -> float:
    """Run a program, and read the number that it prints last.

    Raises whatever it raises, and ValueError if that is no number.
    """
    shown = io.StringIO()
    with _quiet(), contextlib.redirect_stdout(shown):
        exec(compile(program, "<program>", "exec"), {})
    return float(shown.getvalue())


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _numbers(value: Any) -> Array:
    for name in ("detach", "resolve_conj"):
        if hasattr(value, name):
            value = getattr(value, name)()
    data = value.data if type(value).__module__.startswith("mygrad") else value
    array = np.asarray(data)
    if array.dtype.kind == "c" and not math.isclose(float(np.abs(array.imag).max(initial=0)), 0):
        raise TypeError("a derivative along a real line is complex")
    return np.asarray(array.real, np.float64)
