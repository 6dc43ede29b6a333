"""Shapes of a call as `requires` fixes them: `weight.shape == self.shape[-1:]` gives a shape, and
`other.shape[0] == self.shape[1]` one extent of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...ir.nodes import Attribute, Call, Compare, Const, Expr, Logic, Name, Subscript, Unary
from ...spec.model import Example, OpSpec
from ...spec.structure import shape_only, structural_value
from .data import Args, kind_of_data, reshaped, shape_of
from .extents import is_shape

_PASSES = 3


def with_required_shapes(spec: OpSpec, args: Args) -> Args:
    """The call with the shapes and extents that equations of the requirements name.

    Equations are taken in their order, a few times over, so that one may build on others. What
    cannot be evaluated is left as it is; whether the call meets the requirements is the caller's
    to ask.
    """
    args = dict(args)
    equations = list(_equations(spec))
    for _ in range(_PASSES if equations else 0):
        before = dict(args)
        for left, right in equations:
            for side, other in ((left, right), (right, left)):
                if _assign(spec, args, side, other):
                    break
        if args == before:
            break
    return args


def with_required_numbers(spec: OpSpec, args: Args) -> Args:
    """The call with complex numbers for the tensors that are required to have them."""
    required = {
        condition.args[0].id
        for condition in _conditions(spec)
        if isinstance(condition, Call)
        and condition.function == "is_complex"
        and isinstance(condition.args[0], Name)
    }
    return {
        name: {"complex": given} if name in required and is_shape(spec, name, given) else given
        for name, given in args.items()
    }


def _conditions(spec: OpSpec) -> Iterator[Expr]:
    """Each of the requirements, with `and` taken apart."""
    pending = [requirement.test for requirement in spec.requires]
    while pending:
        condition = pending.pop(0)
        if isinstance(condition, Logic) and condition.op == "and":
            pending[:0] = condition.operands
        else:
            yield condition


def _equations(spec: OpSpec) -> Iterator[tuple[Expr, Expr]]:
    pending = list(_conditions(spec))
    while pending:
        match pending.pop(0):
            case Logic("and", operands):
                pending[:0] = operands
            case Logic("or", (*_, last)):  # `weight is None or weight.shape == ...`
                pending.insert(0, last)
            case Compare("==", left, right):
                yield left, right


def _assign(spec: OpSpec, args: Args, side: Expr, other: Expr) -> bool:
    """Give the tensor that one side is about what the other side says; False if that is nothing."""
    match side:
        case Attribute(Name(name), "shape"):
            index = None
        case Subscript(Attribute(Name(name), "shape"), (Const() | Unary("-", Const())) as index):
            pass
        case Call("len", (Name(name),)):
            return _lengthen(spec, args, name, other)
        case _:
            return False
    kind = kind_of_data(args.get(name))
    if name not in args or not (kind or is_shape(spec, name, args[name])):
        return False
    values = shape_only(spec, Example(tuple(args.items()), spec.span))
    try:
        wanted = structural_value(other, values)
        if index is None:
            new = list(wanted)
        else:
            new = shape_of(args[name][kind]) if kind else list(args[name])
            new[structural_value(index, values)] = wanted
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    if not all(map(_is_extent, new)):
        return False
    args[name] = {kind: reshaped(args[name][kind], new)} if kind else new
    return True


def _lengthen(spec: OpSpec, args: Args, name: str, other: Expr) -> bool:
    """Give a list a number of items, those that it has in turns."""
    items = args.get(name)
    values = shape_only(spec, Example(tuple(args.items()), spec.span))
    try:
        length = structural_value(other, values)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    if not isinstance(items, list) or not items or not _is_extent(length):
        return False
    args[name] = list(itertools.islice(itertools.cycle(items), length))
    return True


def _is_extent(size: Any) -> bool:
    return type(size) is int and size >= 0
