"""Examples that the formulas of an op ask for, beside those that its spec gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir.nodes import Block, Compare, Const, Name
from ..ir.walk import walk
from ..spec.model import Example, Formula, OpSpec


def special_examples(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Example]:
    """The first example again, with each value that a formula treats specially.

    A formula with `alpha == 2` in it may be wrong for that `alpha` alone.
    """
    numbers = {p.name for p in spec.signature.params if p.type.base in ("Scalar", "float", "int")}
    for param, value in dict.fromkeys(_compared(spec)):
        tried = [dict(example.args).get(param) for example in examples]
        if param in numbers and value not in tried and examples:
            args = dict(examples[0].args) | {param: value}
            yield Example(tuple(args.items()), examples[0].span)


def _compared(spec: OpSpec) -> Iterator[tuple[str, Any]]:
    for block in _formulas(spec):
        for node in walk(block):
            match node:
                case Compare(left=Name(id=name), right=Const(value=int() | float() as value)):
                    if not isinstance(value, bool):
                        yield name, value


def _formulas(spec: OpSpec) -> Iterator[Block]:
    rules = [spec.forward, spec.composite, *(r for _, r in spec.vjps), *(r for _, r in spec.jvps)]
    return (rule.block for rule in rules if isinstance(rule, Formula))
