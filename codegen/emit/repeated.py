"""What several places of the gradients compute alike is computed once, and has a name.

Derived formulas say everything where it stands: `tanh(x / width)` may be in both gradients, and
twice in one. Arrays are not compiled, so each would be an array of its own.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir import nodes as ir
from ..ir.walk import measure, names, with_parts
from ..spec.model import Formula

Gradients = Sequence[tuple[tuple[str, ...], Formula]]


def without_repeated(
    gradients: Gradients, is_array: Callable[[ir.Expr], bool], free: Callable[[str], str]
) -> list[tuple[tuple[str, ...], Formula]]:
    """The gradients, in which what is repeated is assigned first; blocks have names of their own.

    `is_array` tells what is worth a name, and `free` makes one of a proposal.
    """
    values: dict[int, Any] = {
        n: f.block.expression for n, (_, f) in enumerate(gradients) if f.block.expression
    }
    made: list[ir.Assign] = []
    while found := _largest_repeated([*values.values(), *(m.value for m in made)], is_array):
        name = ir.Name(free(_word(found)))
        values = {n: _replaced(value, found, name) for n, value in values.items()}
        made = [dataclasses.replace(m, value=_replaced(m.value, found, name)) for m in made]
        made.insert(0, ir.Assign((name.id,), found))
    return [
        (of, _with(formula, values[number], made) if number in values and made else formula)
        for number, (of, formula) in enumerate(gradients)
    ]


def _largest_repeated(
    values: Sequence[ir.Expr], is_array: Callable[[ir.Expr], bool]
) -> ir.Expr | None:
    counts = Counter(part for value in values for part in _computed(value))
    repeated = [part for part, count in counts.items() if count > 1 and is_array(part)]
    return max(repeated, key=lambda part: measure(part)[0], default=None)


def _computed(node: Any) -> Iterator[ir.Expr]:
    """The parts that are computed whatever the arguments are."""
    if isinstance(node, tuple):
        for each in node:
            yield from _computed(each)
        return
    if not isinstance(node, ir.Node) or isinstance(node, ir.Conditional):
        return
    if isinstance(node, ir.Call | ir.Binary | ir.Unary | ir.Compare):
        yield node
    for field in dataclasses.fields(node):
        yield from _computed(getattr(node, field.name))


def _replaced(node: Any, part: ir.Expr, name: ir.Name) -> Any:
    if node == part:
        return name
    if isinstance(node, ir.Conditional):
        return node
    return with_parts(node, lambda each: _replaced(each, part, name))


def _word(part: ir.Expr) -> str:
    return f"{part.function.strip('_')}_value" if isinstance(part, ir.Call) else "part"


def _with(formula: Formula, value: ir.Expr, made: Sequence[ir.Assign]) -> Formula:
    """The formula as a block that begins with the assignments that it reads."""
    read = {name.id for name in names(value)}
    needed: list[ir.Assign] = []
    for assignment in reversed(made):
        if read & set(assignment.targets):
            needed.insert(0, assignment)
            read |= {name.id for name in names(assignment.value)}
    block = ir.Block((*needed, ir.Return(value)), span=formula.block.span)
    return dataclasses.replace(formula, block=block)
