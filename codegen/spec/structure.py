"""Evaluate conditions on the structure of arguments: shapes, dtypes and plain values.

Arrays, tensors and the shapes and dtypes of examples will do, as no element is read. Nothing is
compiled: conditions of any file may be evaluated while it is checked.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    Logic,
    Name,
    Sequence,
    Slice,
    Star,
    Subscript,
    Unary,
)
from ..ir.walk import walk
from .examples import DATA_KINDS
from .model import REQUIRED, Example, OpSpec, Param, Requirement

_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}

_UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "~": operator.invert,
    "not": operator.not_,
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": lambda left, right: _product(left, right),
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": lambda left, right: _remainder(left, right),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
"""The operators of conditions; powers, which may be huge, are none of them."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda item, items: item in items,
    "not in": lambda item, items: item not in items,
}

_LONGEST = 10_000
"""Items of a tuple that a condition may make by repeating another."""

_DATA_DTYPES = {"int": "int64", "bool": "bool", "float": "float64", "complex": "complex128"}


@dataclass(frozen=True, slots=True)
class ShapeDtype:
    """A tensor without its elements."""

    shape: tuple[int, ...]
    dtype: str = "float64"

    @property
    def ndim(self) -> int:
        return len(self.shape)


def shape_only(spec: OpSpec, example: Example) -> dict[str, Any]:
    """The arguments of an example, with `ShapeDtype`s for its tensors."""
    given = dict(example.args)
    return {
        param.name: _shape_only(param, given[param.name])
        if param.name in given
        else None
        if param.default is REQUIRED
        else param.default
        for param in spec.signature.params
    }


def _shape_only(param: Param, value: Any) -> Any:
    if param.type.base != "Tensor" or value is None:
        return value
    return list(map(_tensor, value)) if param.type.is_list else _tensor(value)


def _tensor(value: Any) -> ShapeDtype | None:
    if isinstance(value, Mapping):
        ((kind, data),) = value.items()
        shape = _shape(data) if kind in DATA_KINDS else tuple(data)
        return ShapeDtype(shape, _DATA_DTYPES.get(kind, "float64"))
    return None if value is None else ShapeDtype(tuple(value))


def _shape(data: Any) -> tuple[int, ...]:
    """The shape of nested lists, none of which is ragged."""
    if not isinstance(data, list):
        return ()
    return (len(data), *(_shape(data[0]) if data else ()))


def unmet(spec: OpSpec, values: Mapping[str, Any]) -> Requirement | None:
    """The first requirement that a call does not meet; None if the op is meant for it."""
    return next((each for each in spec.requires if not holds(each, values)), None)


def holds(requirement: Requirement, values: Mapping[str, Any]) -> bool:
    """Return whether a requirement holds for the arguments of a call.

    `values` has every argument by name: arrays or their `ShapeDtype`s, and plain values. A
    condition that cannot be evaluated does not hold. Symbols of a proof stand for elements of
    every dtype.
    """
    if any(_is_symbolic(values[name]) for name in dtypes_read(requirement.test)):
        return True
    try:
        return bool(_value(requirement.test, values))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


def structural_value(expr: Expr, values: Mapping[str, Any]) -> Any:
    """The value of a part of a condition for the arguments of a call, as `holds` takes them.

    Raises what Python raises for it where it has none.
    """
    return _value(expr, values)


def dtypes_read(test: Expr) -> list[str]:
    """The arguments whose dtypes a condition is about."""
    asked = [
        node
        for node in walk(test)
        if (isinstance(node, Attribute) and node.name == "dtype")
        or (isinstance(node, Call) and node.function == "is_complex")
    ]
    return list(dict.fromkeys(n.id for node in asked for n in walk(node) if isinstance(n, Name)))


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_symbolic, value))
    return str(getattr(value, "dtype", "")) == "object"


def _value(expr: Expr, values: Mapping[str, Any]) -> Any:
    match expr:
        case Const(value):
            return value
        case Name(name):
            return values[name] if name in values else _CONSTANTS[name]
        case Unary(op, operand):
            return _UNARY[op](_value(operand, values))
        case Binary(op, left, right):
            return BINARY[op](_value(left, values), _value(right, values))
        case Compare(op, left, right):
            return _COMPARE[op](_value(left, values), _value(right, values))
        case Logic(op, operands):
            combined = all if op == "and" else any
            return combined(_value(operand, values) for operand in operands)
        case Attribute(value, name):
            return getattr(_value(value, values), name)
        case Subscript(value, index):
            return _value(value, values)[_index(index, values)]
        case Conditional(test, then, otherwise):
            return _value(then if _value(test, values) else otherwise, values)
        case Sequence(items):
            return tuple(part for item in items for part in _items(item, values))
        case Call(function, (argument,)):
            return _HELPERS[function](_value(argument, values))
    raise TypeError(f"{type(expr).__name__} has no value in a condition")


_HELPERS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "tuple": tuple,
    "float": float,
    "int": int,
    "numel": lambda value: math.prod(getattr(value, "shape", value)),
    "is_complex": lambda value: str(value.dtype).startswith("complex"),
}


def _items(item: Expr, values: Mapping[str, Any]) -> tuple[Any, ...]:
    if isinstance(item, Star):
        return tuple(_value(item.value, values))
    return (_value(item, values),)


def _index(index: Expr | Slice, values: Mapping[str, Any]) -> Any:
    if not isinstance(index, Slice):
        return _value(index, values)
    bounds = (index.start, index.stop, index.step)
    return slice(*(None if bound is None else _value(bound, values) for bound in bounds))


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):  # as a format it may ask for any width
        raise TypeError("a text has no remainder")
    return left % right


def _product(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if hasattr(sequence, "__len__") and len(sequence) * count > _LONGEST:
            raise ValueError(f"more than {_LONGEST} items")
    return left * right
