"""Common subexpressions of the gradients, each computed once under a name.

Derived formulas say everything where it stands: `tanh(x / width)` may be in both gradients, and
twice in one. Arrays are not compiled, so each would be an array of its own.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from ..ir import nodes as ir
from ..ir.walk import assigned_names, calls, measure, names, with_parts
from ..render.module_names import is_taken
from ..render.resolve import Kind, Resolver
from ..spec.model import Formula

Gradients = Sequence[tuple[tuple[str, ...], Formula]]


def made_once(
    gradients: Gradients,
    kinds: Mapping[str, Kind],
    resolver: Resolver,
    linear: Set[str] = frozenset(),
) -> list[tuple[tuple[str, ...], Formula]]:
    """The gradients, with names for what they compute several times of the arguments.

    What reads a name that they are `linear` in is left where it is.
    """
    known = dict(kinds)
    blocks = [formula.block for _, formula in gradients]
    taken = {*kinds, *linear, *(call.function for block in blocks for call in calls(block))}
    taken |= set().union(*map(assigned_names, blocks))

    def is_array(part: ir.Expr) -> bool:
        if isinstance(part, ir.Unary) and isinstance(part.operand, ir.Name):
            return False
        read = {name.id for name in names(part)}
        of_arguments = bool(read & known.keys()) and not read & linear  # `sqrt(pi)` is a number
        return of_arguments and resolver.kind(part, known) == "tensor"

    def free(word: str) -> str:
        words = (word if number == 1 else f"{word}{number}" for number in itertools.count(1))
        found = next(each for each in words if each not in taken and not is_taken(each))
        taken.add(found)
        known[found] = "tensor"
        return found

    return without_repeated(gradients, is_array, free)


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
    counts = Counter(part for value in values for part in computed(value))
    repeated = [part for part, count in counts.items() if count > 1 and is_array(part)]
    return max(repeated, key=lambda part: measure(part)[0], default=None)


def computed(node: Any) -> Iterator[ir.Expr]:
    """The parts that are computed whatever the arguments are."""
    if isinstance(node, tuple):
        for each in node:
            yield from computed(each)
        return
    if not isinstance(node, ir.Node) or isinstance(node, ir.Conditional):
        return
    if isinstance(node, ir.Call | ir.Binary | ir.Unary | ir.Compare):
        yield node
    for field in dataclasses.fields(node):
        yield from computed(getattr(node, field.name))


def _replaced(node: Any, part: ir.Expr, name: ir.Name) -> Any:
    if node == part:
        return name
    if isinstance(node, ir.Conditional):
        return node
    return with_parts(node, lambda each: _replaced(each, part, name))


_OPERATIONS = {"+": "total", "-": "difference", "*": "product", "/": "quotient", "**": "raised"}


def _word(part: ir.Expr) -> str:
    match part:
        case ir.Call("where", (_, ir.Name(name), ir.Const())):  # a branch that is not taken
            return f"safe_{name}"
        case ir.Call(function):
            return f"{function.strip('_')}_value"
        case ir.Binary("**", _, ir.Const(2)):
            return "square"
        case ir.Binary("**", _, ir.Const(3)):
            return "cube"
        case ir.Binary(op) if op in _OPERATIONS:
            return _OPERATIONS[op]
        case ir.Unary("-"):
            return "negative"
    return "condition"


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
