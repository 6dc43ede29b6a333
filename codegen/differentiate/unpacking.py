"""Parts of a tensor that a definition gives names to, and items of a list that it numbers.

The parts of `a, b = split(self, 2, -1)` are taken one by one, as `select` and `slice` take them.
The definition itself has the call: it refuses a tensor of which there are more parts than names, or
fewer. Items of a list are told apart where `requires` says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Logic,
    Name,
    Sequence,
    Star,
    Subscript,
)
from ..ir.simplify import simplify
from ..ir.walk import walk
from ..spec.model import OpSpec


def counted_lists(op: OpSpec) -> dict[str, int]:
    """The lists of which the definition reads items by number, each with its length."""
    definition = op.definition
    if definition is None:
        return {}
    lists = {param.name for param in op.signature.tensor_params if param.type.is_list}
    read = {
        node.value.id
        for node in walk(definition.block)
        if isinstance(node, Subscript) and isinstance(node.value, Name)
    }
    found: dict[str, int] = {}
    for condition in required(op):
        match condition:
            case Compare("==", Call("len", (Name(name),)), Const(int(count))) if (
                name in lists & read
            ):
                found[name] = count
    return found


def required(op: OpSpec) -> Iterator[Expr]:
    """Return the requirements of `requires`, with `and` taken apart."""
    left = [requirement.formula.block.expression for requirement in op.requires]
    while left:
        condition = left.pop(0)
        if isinstance(condition, Logic) and condition.op == "and":
            left[:0] = condition.operands
        elif condition is not None:
            yield condition


def parts_of(function: str, args: Mapping[str, Expr], count: int) -> tuple[Expr, ...] | None:
    """The parts that the names stand for; None where `function` does not take tensors apart.

    `args` are the arguments of the call by name.
    """
    match function:
        case "unbind":
            return tuple(
                Call("select", (args["self"], args["dim"], Const(k))) for k in range(count)
            )
        case "split" | "split_with_sizes":
            size = args.get("split_size", args.get("split_sizes"))
            if not isinstance(size, Sequence):
                return None if size is None else _slices(args, [size] * count)
            if len(size.items) == count and not any(isinstance(n, Star) for n in size.items):
                return _slices(args, list(size.items))
    return None


def length_of_chunk(args: Mapping[str, Expr]) -> Expr:
    """The length of the parts that `chunk` makes, of which the last may be shorter."""
    whole = Subscript(Attribute(args["self"], "shape"), args["dim"])
    more = simplify(Binary("-", args["chunks"], Const(1)))
    return Binary("//", Binary("+", whole, more), args["chunks"])


def _slices(args: Mapping[str, Expr], sizes: list[Expr]) -> tuple[Expr, ...]:
    """Parts of such lengths, one behind the other; the last one is what is left."""
    parts: list[Expr] = []
    start: Expr = Const(0)
    for number, _ in enumerate(sizes, 1):
        end = Const(None) if number == len(sizes) else _sum(sizes[:number])
        parts.append(Call("slice", (args["self"], args["dim"], start, end)))
        start = end
    return tuple(parts)


def _sum(sizes: list[Expr]) -> Expr:
    """Sizes added up; a multiple, where they are the same."""
    if len(sizes) == 1:
        return sizes[0]
    numbers = [s.value for s in sizes if isinstance(s, Const) and isinstance(s.value, int)]
    if len(numbers) == len(sizes):
        return Const(sum(numbers))
    if all(size == sizes[0] for size in sizes):
        return Binary("*", Const(len(sizes)), sizes[0])
    return reduce(lambda total, size: Binary("+", total, size), sizes)
