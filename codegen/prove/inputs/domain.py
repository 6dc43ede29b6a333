"""The `domain` of a spec as conditions on symbols.

`{self: positive}`, `{self: -1 < self < 1}`, `{other: other > self}`: words, or comparisons of
sums and products of arguments and numbers. A condition holds element by element.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy

from ..symbolic.exact_constants import ExactConstant

WORDS = {
    "positive": "{0} > 0",
    "negative": "{0} < 0",
    "nonnegative": "{0} > 0",
    "nonzero": "{0} != 0",
    "unit": "0 < {0} < 1",
}
"""Open regions throughout: a derivative is asked for in the inside."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}

_CONSTANTS = {"pi": ExactConstant(sympy.pi), "inf": np.inf}


def comparisons(argument: str, condition: str) -> list[tuple[ast.expr, ast.expr]]:
    """The pairs `(smaller, larger)` that a condition asks for; `!=` holds almost everywhere."""
    pairs = []
    for relation, left, right in _relations(argument, condition):
        if isinstance(relation, ast.Lt | ast.LtE):
            pairs.append((left, right))
        elif isinstance(relation, ast.Gt | ast.GtE):
            pairs.append((right, left))
    return pairs


def _relations(argument: str, condition: str) -> Iterator[tuple[ast.cmpop, ast.expr, ast.expr]]:
    text = WORDS.get(condition.strip(), condition).format(argument)
    tree = ast.parse(text, mode="eval").body
    for chain in tree.values if isinstance(tree, ast.BoolOp) else [tree]:
        if not isinstance(chain, ast.Compare):
            raise ValueError(f"the domain of {argument!r} is not a comparison: {condition}")
        sides = [chain.left, *chain.comparators]
        yield from zip(chain.ops, sides, sides[1:], strict=False)


def is_inside(conditions: Iterable[tuple[str, str]], values: Mapping[str, Any]) -> bool:
    """Return whether arrays are between the borders of a domain; zero is nonnegative."""
    return not np.any(outside(conditions, values))


def outside(conditions: Iterable[tuple[str, str]], values: Mapping[str, Any]) -> Any:
    """Return which elements are on the borders of a domain or beyond; False if none can be.

    Where lists of tensors have a domain: whether any element is.
    """
    found: Any = False
    of_lists = any(isinstance(value, list) for value in values.values())
    for condition, difference in differences(conditions, values):
        array = np.asarray(difference)
        inside = array >= 0 if is_closed(condition) else array > 0
        found = found | (not inside.all() if of_lists else ~inside)
    return found


def is_closed(condition: str) -> bool:
    """Return whether an op is defined on the border of a region, too."""
    return condition.strip() == "nonnegative"


def is_at_gap(conditions: Iterable[tuple[str, str]], values: Mapping[str, Any]) -> bool:
    """Return whether an element is what a domain leaves out by `!=`."""
    return any(
        np.any(evaluate(left, each) == evaluate(right, each))
        for argument, condition in conditions
        for relation, left, right in _relations(argument, condition)
        for each in _item_by_item(left, right, values)
        if isinstance(relation, ast.NotEq)
    )


def _item_by_item(
    left: ast.expr, right: ast.expr, values: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The arguments of two sides, of lists one tensor at a time; none where one is absent."""
    names = sorted((_names(left) | _names(right)) - _CONSTANTS.keys())
    given = [value if isinstance(value, list) else [value] for value in map(values.get, names)]
    for items in itertools.product(*given):
        if all(item is not None for item in items):
            yield dict(zip(names, items, strict=True))


def differences(
    conditions: Iterable[tuple[str, str]], values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Each condition with what it says is positive; those on absent arguments are left out."""
    for argument, condition in conditions:
        for smaller, larger in comparisons(argument, condition):
            for each in _item_by_item(smaller, larger, values):
                yield condition, evaluate(larger, each) - evaluate(smaller, each)


def evaluate(tree: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of one side of a comparison, on arrays."""
    match tree:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return values[name] if name in values else _CONSTANTS[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](evaluate(left, values), evaluate(right, values))
        case ast.UnaryOp(op=unary, operand=operand) if type(unary) in _OPERATORS:
            return _OPERATORS[type(unary)](evaluate(operand, values))
    raise ValueError(f"`{ast.unparse(tree)}` cannot stand in a domain")


def bounds(argument: str, conditions: list[str]) -> tuple[float, float]:
    """The interval that the conditions on one argument alone leave to its elements."""
    low, high = -np.inf, np.inf
    for condition in conditions:
        for smaller, larger in comparisons(argument, condition):
            if isinstance(larger, ast.Name) and larger.id == argument and _is_number(smaller):
                low = max(low, float(evaluate(smaller, {})))
            if isinstance(smaller, ast.Name) and smaller.id == argument and _is_number(larger):
                high = min(high, float(evaluate(larger, {})))
    return low, high


def _is_number(tree: ast.expr) -> bool:
    return _names(tree) <= _CONSTANTS.keys()


def _names(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
