"""The arguments of a call as users have them: float64 arrays of the witnesses."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..inputs.draw import Inputs
from ..numeric.evaluate import Point, to_float
from ..symbolic.complex_numbers import is_complex
from ..symbolic.exact_constants import as_plain
from ..symbolic.symbols import SymArray, expressions

Array: TypeAlias = np.ndarray[Any, Any]


def numeric_values(inputs: Inputs, point: Point) -> dict[str, Any]:
    """Every argument, with floats for symbols."""
    return {name: numeric(value, point) for name, value in inputs.values.items()}


def numeric(value: Any, point: Point) -> Any:
    """One argument; a list item by item."""
    if isinstance(value, SymArray):
        return floats(expressions(value), point)
    if isinstance(value, list):
        return [numeric(item, point) for item in value]
    return as_plain(value)


def floats(exact: Array, point: Point) -> Array:
    """Expressions at the witness, as float64 or complex128; other arrays as they are.

    An expression of real numbers without a real value, as the logarithm of -1, is nan.
    """
    if exact.dtype != object:
        return exact
    values = [to_float(point.value(expr)) for expr in exact.flat]
    if any(map(is_complex, exact.flat)):
        return np.array(values, np.complex128).reshape(exact.shape)
    real = [np.nan if isinstance(value, complex) else value for value in values]
    return np.array(real, np.float64).reshape(exact.shape)
