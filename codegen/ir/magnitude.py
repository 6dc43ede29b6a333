"""Bound constant arithmetic without doing it: `9**9**9` has 400 million digits."""

from __future__ import annotations

import math
from collections.abc import Callable

from .nodes import Binary, Call, Const, Expr, Sequence, Unary

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    name: getattr(math, name)
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "exp"),
        *("exp2", "expm1", "lgamma", "log", "log1p", "log2", "log10", "sin", "sinh", "sqrt"),
        *("tan", "tanh"),
    )
} | {"rsqrt": lambda value: 1 / math.sqrt(value)}
"""Functions of numbers that formulas call, by name."""

_MOST_ITEMS = 10_000
"""No list that a formula spells by repeating another needs more."""

_DIVISIONS = ("/", "//", "%")


def fault_of(expr: Expr) -> str:
    """Say what is wrong with an expression of numbers or a list; nothing if it has a value.

    Of a quotient the divisor is enough.
    """
    match expr:
        case Binary(op, _, right) if op in _DIVISIONS and _value(right) == 0:
            return "this divides by zero"
    if (length := _length(expr)) > _MOST_ITEMS:
        return f"a list of {length:,.0f} items"
    value = _value(expr)
    if value is None or math.isfinite(value):
        return ""
    return "this number is infinite as a float" if math.isinf(value) else "this is no real number"


def _length(expr: Expr) -> float:
    """The number of items of a list, which may be repeated; 0 if it is something else."""
    match expr:
        case Sequence(items):
            return len(items)
        case Binary("*", left, right):
            return max(_length(left) * _times(right), _times(left) * _length(right))
        case Binary("+", left, right):
            return _length(left) + _length(right)
    return 0


def _times(expr: Expr) -> float:
    """The value of a number; 1 if it is something else."""
    value = _value(expr)
    return 1 if value is None else value


def _value(expr: Expr) -> float | None:
    """The value of an expression of numbers as a float; None if it is something else."""
    match expr:
        case Const(value) if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case Unary("-", operand):
            value = _value(operand)
            return None if value is None else -value
        case Binary(op, left, right):
            return _combined(op, _value(left), _value(right))
        case Call(name, (argument,), ()) if name in _FUNCTIONS:
            value = _value(argument)
            return None if value is None else _number(_FUNCTIONS[name], value)
    return None


def _combined(op: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return _number(lambda: left / right)
        case "**":
            return _number(math.pow, left, right)
    return None


def _number(function: Callable[..., float], *values: float) -> float:
    """The value of a function; an infinity where it overflows, nan where it has none."""
    try:
        return function(*values)
    except OverflowError:
        return math.inf
    except (ZeroDivisionError, ValueError):
        return math.nan
