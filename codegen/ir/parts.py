"""The parts of an expression by their places, to be exchanged; and what it is linear in."""

from __future__ import annotations

import dataclasses

from .nodes import Binary, Block, Call, Const, Expr, Logic, Name, Node, Slice, Subscript, Unary
from .walk import names, walk


def is_linear_at(expr: Expr, place: str) -> bool:
    """Return whether an expression that is no call is linear in what stands at one place of it."""
    match expr:
        case Unary("-"):
            return True
        case Binary("*" | "@"):
            return True
        case Binary("/"):
            return place == "left"
        case Subscript():
            return place == "value"
    return False


def parts_of(expr: Expr) -> dict[str, Expr]:
    """The expressions directly below, by where they stand."""
    match expr:
        case Call(_, args, kwargs):
            return {str(n): arg for n, arg in enumerate(args)} | dict(kwargs)
        case Logic(_, operands):
            return {str(n): operand for n, operand in enumerate(operands)}
        case Subscript(value, Slice(start, stop, step)):
            bounds = {"start": start, "stop": stop, "step": step}
            return {"value": value} | {k: v for k, v in bounds.items() if v is not None}
        case Name() | Const():
            return {}
    fields = (f.name for f in dataclasses.fields(expr))
    return {name: v for name in fields if isinstance(v := getattr(expr, name), Node)}  # type: ignore[misc]


def with_parts(expr: Expr, values: dict[str, Expr]) -> Expr:
    """A copy with other expressions at some places."""
    if isinstance(expr, Call):
        args = tuple(values.get(str(n), arg) for n, arg in enumerate(expr.args))
        kwargs = tuple((name, values.get(name, value)) for name, value in expr.kwargs)
        return dataclasses.replace(expr, args=args, kwargs=kwargs)
    changed: Expr = dataclasses.replace(expr, **values)  # type: ignore[arg-type]
    return changed


def items_of(block: Block, tensors: str) -> list[tuple[str, int]] | None:
    """The items of a list that a formula reads, and their positions; None if it reads it whole."""
    found: dict[str, int] = {}
    reads = 0
    for node in walk(block):
        match node:
            case Subscript(Name(name), Const(int(position))) if name == tensors:
                found[f"{name}[{position}]"] = position
                reads += 1
    return list(found.items()) if reads == sum(n.id == tensors for n in names(block)) else None
