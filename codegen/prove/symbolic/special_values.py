"""Examples that the formulas of an op ask for, beside those that its spec gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...ir.nodes import Block, Call, Compare, Const, Expr, Name, Node, Unary
from ...ir.walk import walk
from ...spec.model import Example, Formula, OpSpec
from ...spec.vocabulary import COMPARISONS


def special_examples(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Example]:
    """The first example again, with each value that a formula treats specially.

    A formula with `alpha == 2` in it may be wrong for that `alpha` alone.
    """
    if not examples:
        return
    first = dict(examples[0].args)
    kinds = {p.name: p.type.base for p in spec.signature.params if not p.type.is_list}
    for param, value in dict.fromkeys(_compared(spec)):
        tried = [dict(example.args).get(param) for example in examples]
        if value not in tried and _may_be(kinds.get(param), value):
            yield Example(tuple((first | {param: value}).items()), examples[0].span)


def _may_be(kind: str | None, value: Any) -> bool:
    if isinstance(value, str):
        return kind == "str"
    return kind in ("Scalar", "float", "int")


def _compared(spec: OpSpec) -> Iterator[tuple[str, Any]]:
    for block in formulas(spec):
        for node in walk(block):
            match node:
                case Compare(left=Name(id=name), right=Const(value=int() | float() | str() as v)):
                    if not isinstance(v, bool):
                        yield name, v


def compared_numbers(spec: OpSpec) -> list[float]:
    """The numbers that formulas compare something with, and bounds: `clamp_max(x, 20)`."""
    found: dict[float, None] = {}
    for block in formulas_with_helpers(spec):
        for node in walk(block):
            for side in compared(node) or bounds(node):
                match side:
                    case Const(value=bool()):
                        pass
                    case Const(value=int() | float() as number):
                        found[float(number)] = None
                    case Unary(operand=Const(value=int() | float() as number)):
                        found[-float(number)] = None
    return list(found)


def compared(node: Node) -> tuple[Expr, Expr] | None:
    """The two sides of a comparison, which may be written as the op `eq`, `ge`, ...; else None."""
    match node:
        case Compare(_, left, right):
            return left, right
        case Call(function, (left, right)) if function in COMPARISONS:
            return left, right
    return None


def bounds(node: Node) -> tuple[Expr, ...]:
    """The arguments of a function that takes the larger or the smaller of them."""
    match node:
        case Call(function, args, kwargs) if function.removeprefix("np.") in BOUNDING:
            return (*args, *(value for _, value in kwargs))
    return ()


BOUNDING = frozenset({"clamp", "clamp_max", "clamp_min", "clip", "hardtanh"}) | frozenset(
    {"fmax", "fmin", "maximum", "minimum"}
)
"""Functions that compare without a condition."""


def formulas(spec: OpSpec) -> Iterator[Block]:
    """Return every formula of an entry: definition, kernel, batching rule, VJPs and JVPs."""
    definitions = (spec.forward, spec.kernel, spec.composite, spec.batch)
    rules = [*definitions, *(r for _, r in spec.vjps), *(r for _, r in spec.jvps)]
    return (rule.block for rule in rules if isinstance(rule, Formula))


def formulas_with_helpers(spec: OpSpec) -> Iterator[Block]:
    """Return every formula of an entry, and the definitions of the ops that are parts of them."""
    yield from formulas(spec)
    yield from (op.definition.block for op in spec.helpers if op.definition is not None)
