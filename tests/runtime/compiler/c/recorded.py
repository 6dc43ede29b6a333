"""Programs that are recorded of functions on arrays, for the tests of the C backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradspec.compiler.c import build
from gradspec.compiler.program import Program
from gradspec.compiler.tape import Tape


def recorded(function: Callable[..., Any], *arrays: np.ndarray[Any, Any]) -> Program:
    """Record a function, which answers an array or several; writes to arguments are kept."""
    tape = Tape()
    with np.errstate(all="ignore"):
        found = function(*[tape.input(array) for array in arrays])
    return tape.program(found if isinstance(found, tuple) else (found,))


def run(function: Callable[..., Any], *arrays: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Run a function as C."""
    return build(recorded(function, *arrays))(*arrays)


def expected(function: Callable[..., Any], *arrays: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Run a function as it is, on copies."""
    with np.errstate(all="ignore"):
        found = function(*[array.copy("K") for array in arrays])
    return tuple(map(np.asarray, found)) if isinstance(found, tuple) else (np.asarray(found),)


def assert_same_bits(found: Any, wanted: Any) -> None:
    """Compare shape, dtype, and each bit but those of a NaN."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    both_nan = (found != found) & (wanted != wanted)
    assert np.array_equal(np.where(both_nan, 0, found), np.where(both_nan, 0, wanted))
    if found.dtype.kind == "f":
        assert np.array_equal(np.signbit(found) | both_nan, np.signbit(wanted) | both_nan)


def assert_close(found: Any, wanted: Any, ulps: float) -> None:
    """Compare shape, dtype, and values within units in the last place; special ones are alike."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    special = ~np.isfinite(wanted)
    assert_same_bits(np.where(special, found, 0), np.where(special, wanted, 0))
    error = np.abs(np.where(special, 0, found) - np.where(special, 0, wanted))
    assert np.all(error <= ulps * np.spacing(np.abs(np.where(special, 1, wanted))))
