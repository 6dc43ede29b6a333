"""Tangents that are not spread to the shape of a sum, as what they are multiplied with has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..ir.nodes import Attribute, Binary, Call, Expr, Name, Unary
from ..ir.walk import with_parts
from ..spec.elementwise import is_elementwise
from .program import Flattener
from .terms import NoDerivative, added


def without_spreads(node: Any, flattener: Flattener) -> Any:
    """A formula in which `x * (expand(s, x.shape) + expand(t, x.shape))` is `x * (s + t)`.

    Where one of both is absent, the product still has the shape of `x`.
    """
    node = with_parts(node, lambda part: without_spreads(part, flattener))
    match node:
        case Binary("*", left, right):
            left = _narrow(left, lambda name: _is_as_large(right, name, flattener))
            right = _narrow(right, lambda name: _is_as_large(left, name, flattener))
            return dataclasses.replace(node, left=left, right=right)
        case Binary("/", left, right):
            left = _narrow(left, lambda name: _is_as_large(right, name, flattener))
            return dataclasses.replace(node, left=left)
    return node


def _narrow(term: Expr, is_spread_anyway: Callable[[str], bool]) -> Expr:
    """A sum without the spreads of its terms to the shapes of some names."""
    match term:
        case Call("expand", (value, Attribute(Name(name), "shape"))) if is_spread_anyway(name):
            return value
        case Binary("+", left, right):
            return added([_narrow(left, is_spread_anyway), _narrow(right, is_spread_anyway)])
        case Binary("-", left, right):
            left, right = _narrow(left, is_spread_anyway), _narrow(right, is_spread_anyway)
            return dataclasses.replace(term, left=left, right=right)
        case Unary("-", operand):
            return dataclasses.replace(term, operand=_narrow(operand, is_spread_anyway))
    return term


def _is_as_large(expr: Expr, name: str, flattener: Flattener) -> bool:
    """Return whether a value is computed element by element of that of a name, and others."""
    match expr:
        case Name(found):
            return found == name
        case Unary("-", operand):
            return _is_as_large(operand, name, flattener)
        case Binary("*" | "/" | "+" | "-" | "**", left, right):
            return any(_is_as_large(side, name, flattener) for side in (left, right))
        case Call(_, args) if any(_is_as_large(arg, name, flattener) for arg in args):
            try:
                return is_elementwise(flattener.target(expr).op)
            except NoDerivative:
                return False
    return False
