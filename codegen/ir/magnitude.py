"""Bound constant arithmetic without doing it: `9**9**9` has 400 million digits."""

from __future__ import annotations

import math

from .nodes import Binary, Const, Expr, Unary


def is_infinite(expr: Expr) -> bool:
    """Return whether an expression of numbers alone is larger than any float."""
    value = _value(expr)
    return value is not None and math.isinf(value)


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
    return None


def _combined(op: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    try:
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "**":
                return math.pow(left, right)
    except OverflowError:
        return math.inf
    except (ZeroDivisionError, ValueError):
        return None
    return None
