"""Locals that several formulas of an op share.

A gradient formula, or a kernel's call, may read locals of the forward, and is completed by their
definitions:

    forward: |
      share = sigmoid(self)
      return self * share
    self: grad * (share + self * share * (1 - share))

The formula of `self` is read as if it began with `share = sigmoid(self)`, so that it can be proved,
explained and differentiated by itself. Only the generated VJP on arrays does not compute it anew:
there the node keeps what the forward computed.

And where two gradient formulas begin with the same assignment, the generated VJP computes it once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from ..diagnostics import Span
from ..ir.nodes import Assign, Block
from ..ir.parse import parse
from ..ir.walk import assigned_names, assignments, free_names, names
from .model import Formula

_BEFORE_CODE = re.compile(r"(?:\s|#.*)*")
"""Blank lines and comments."""


def completed(formula: Formula, forward: Formula | None) -> Formula:
    """`formula` behind the assignments of `forward` that it needs; as it is if it needs none."""
    if forward is None:
        return formula
    assignments = _needed(free_names(formula.block), forward.block)
    if not assignments:
        return formula
    text = ""
    spans: list[Span] = []
    for assignment in assignments:
        start, end = assignment.span.start, assignment.span.end
        text += forward.text[start:end] + "\n"
        spans += forward.spans[start : end + 1]
    begin = _BEFORE_CODE.match(formula.text).end()  # type: ignore[union-attr]
    text += formula.text[:begin]
    spans += formula.spans[:begin]
    is_expression = formula.block.expression is not None
    if is_expression and not re.match(r"return\b", formula.text[begin:]):
        text += "return "
        spans += [formula.spans[begin]] * len("return ")
    text += formula.text[begin:]
    spans += formula.spans[begin:]
    return Formula(text, parse(text), tuple(spans))


def shared_assignments(block: Block, forward: Formula | None) -> tuple[Assign, ...]:
    """The assignments at the beginning of a formula that stand in the forward as well.

    What they make and read must mean the same in both, also at the end of the forward, where it
    is kept.
    """
    if forward is None:
        return ()
    known = leading(forward.block)
    blocks = (block, forward.block)
    changing = set().union(*map(_assigned_again, blocks))
    locals_ = set().union(*map(assigned_names, blocks))
    found: list[Assign] = []
    same: set[str] = set()
    for made in leading(block):
        read = {name.id for name in names(made.value)}
        if made in known and not changing & {*made.targets} and read & locals_ <= same:
            found.append(made)
            same |= {*made.targets}
    return tuple(found)


def _assigned_again(block: Block) -> set[str]:
    """The locals that are assigned more than once."""
    times = Counter(target for each in assignments(block) for target in each.targets)
    return {target for target, count in times.items() if count > 1}


def _needed(free: set[str], forward: Block) -> list[Assign]:
    """The assignments of `free` names, and those that these need, in their order."""
    wanted, found = set(free), []
    for assignment in reversed(leading(forward)):
        if wanted & set(assignment.targets):
            found.append(assignment)
            wanted |= {name.id for name in names(assignment.value)}
    return found[::-1]


def leading(block: Block) -> list[Assign]:
    """The assignments that are made whichever way the block goes."""
    found = []
    for statement in block.statements:
        if not isinstance(statement, Assign):
            break
        found.append(statement)
    return found


def shared_with(
    formulas: Sequence[tuple[tuple[str, ...], Formula]], params: tuple[str, ...], made: Assign
) -> tuple[str, ...]:
    """The arguments whose formulas, before that of `params`, begin with this assignment too.

    None of them where a name that it makes or reads may mean something else in another formula.
    """
    before = takewhile(lambda entry: entry[0] != params, formulas)
    earlier = tuple(name for given, f in before if made in leading(f.block) for name in given)
    mentioned = {*made.targets, *(name.id for name in names(made.value))}
    if not earlier or mentioned & ambiguous([formula.block for _, formula in formulas]):
        return ()
    return earlier


def ambiguous(blocks: Sequence[Block]) -> set[str]:
    """The locals that do not mean the same wherever they are read."""
    made = [each for block in blocks for each in assignments(block)]
    given = set().union(*map(free_names, blocks))
    found = {target for each in made for target in each.targets if target in given}
    for block in blocks:
        found |= _assigned_again(block)
    for each in made:
        found |= {t for t in each.targets if any(t in o.targets and o != each for o in made)}
    while True:
        reached = {
            target
            for each in made
            if found & {name.id for name in names(each.value)}
            for target in each.targets
        }
        if reached <= found:
            return found
        found |= reached
