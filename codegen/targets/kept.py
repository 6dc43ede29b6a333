"""Values inside of a definition that a node keeps for its gradients, besides arguments and results.

A gradient often reads a sum or a mean that the definition has made already, or what follows from
it: the scale of a norm, the maximum of a softmax. Such a value is smaller than the arguments, so to
keep it costs no memory that counts, and saves a pass over them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..emit.repeated import Gradients, computed
from ..ir import nodes as ir
from ..ir.walk import assigned_names, free_names, names, substitute, with_parts
from ..render.resolve import Kind, Resolver
from ..spec.elementwise import is_elementwise_call
from ..spec.model import Formula, OpSpec
from ..spec.primitives import derivation_facts
from .fused import in_one_pass

_EXPRESSIONS = (ir.Name, ir.Call, ir.Binary, ir.Unary)


@dataclass(frozen=True, slots=True)
class Kept:
    """The formulas of an op whose gradients read locals of the definition, by `names`."""

    forward: Formula
    gradients: Gradients
    names: tuple[str, ...]


def with_kept(
    op: OpSpec,
    gradients: Gradients,
    kinds: Mapping[str, Kind],
    resolver: Resolver,
    free: Callable[[str], str],
    once: Sequence[ir.Expr] = (),
) -> Kept | None:
    """Name what the gradients need not compute again; `free` makes a name of a proposal.

    Gradients are spelled by the patterns `once`, too, whose functions nobody can differentiate.
    None if there is nothing of either kind, or if the definition has branches.
    """
    forward = op.forward
    if forward is None or not _is_straight(forward.block):
        return None
    sizes = _Sizes(kinds, resolver)
    made = {
        value
        for statement, known in _steps(forward.block)
        for part in computed(statement.value)
        if sizes.is_small(value := _inlined(part, known))
    }
    local = _locals(op, [forward, *(formula for _, formula in gradients)])
    chosen: dict[ir.Expr, str] = {}

    def name_of(value: ir.Expr) -> str | None:
        if value in made and value not in chosen:
            chosen[value] = local.get(value) or free("kept")
        return chosen.get(value)

    rules = [
        (of, _with_names(formula, name_of) if _is_straight(formula.block) else formula)
        for of, formula in gradients
    ]
    read: set[str] = set().union(*(free_names(formula.block) for _, formula in rules))
    kept = {value: name for value, name in chosen.items() if name in read}
    faster = [
        (of, _by_patterns(formula, once, lambda value: resolver.kind(value, kinds) == "tensor"))
        for of, formula in rules
    ]
    if not kept and faster == rules:
        return None
    return Kept(_defining(forward, kept), faster, tuple(kept.values()))


def _by_patterns(
    formula: Formula, once: Sequence[ir.Expr], is_tensor: Callable[[ir.Expr], bool]
) -> Formula:
    """A gradient with calls in the place of patterns; the same if there are none in it."""
    value = in_one_pass(formula.block, once, is_tensor) if _is_straight(formula.block) else None
    if value is None:
        return formula
    block = ir.Block((ir.Return(value),), span=formula.block.span)
    return dataclasses.replace(formula, block=block)


class _Sizes:
    """Tells values that are smaller than what they are made of."""

    def __init__(self, kinds: Mapping[str, Kind], resolver: Resolver) -> None:
        self._kinds = kinds
        self._resolver = resolver

    def is_small(self, value: ir.Expr) -> bool:
        """Return whether a value is a sum, a mean or the like, or is made of such alone."""
        match value:
            case ir.Call(function) if function in derivation_facts().reducing:
                return self._is_tensor(value)
            case ir.Call(function, args, kwargs):
                parts = (*args, *(argument for _, argument in kwargs))
                table = self._resolver.table
                if not is_elementwise_call(function, len(args), table):
                    return False
            case ir.Binary(operator, left, right) if operator != "@":
                parts = (left, right)
            case ir.Unary(_, operand):
                parts = (operand,)
            case _:
                return False
        arrays = [part for part in parts if self._is_tensor(part)]
        return bool(arrays) and all(map(self.is_small, arrays))

    def _is_tensor(self, value: ir.Expr) -> bool:
        return self._resolver.kind(value, self._kinds) in ("tensor", "any")


def _is_straight(block: ir.Block) -> bool:
    *before, last = block.statements
    return isinstance(last, ir.Return) and all(isinstance(s, ir.Assign) for s in before)


def _steps(block: ir.Block) -> Iterator[tuple[ir.Assign | ir.Return, dict[str, ir.Expr]]]:
    """The statements of a straight block, each with what its locals are made of arguments."""
    known: dict[str, ir.Expr] = {}
    for statement in block.statements:
        assert isinstance(statement, ir.Assign | ir.Return)
        yield statement, dict(known)
        if isinstance(statement, ir.Assign):
            value = _inlined(statement.value, known)
            single = len(statement.targets) == 1
            known |= {t: value if single else ir.Name(f"?{t}") for t in statement.targets}


def _inlined(value: ir.Expr, known: Mapping[str, ir.Expr]) -> Any:
    return substitute(value, known)


def _locals(op: OpSpec, formulas: list[Formula]) -> dict[ir.Expr, str]:
    """The values that locals of the definition have, which mean nothing else in any formula."""
    meanings: dict[str, set[ir.Expr | None]] = {}
    for formula in formulas:
        if not _is_straight(formula.block):
            meanings |= {name: {None} for name in assigned_names(formula.block)}
            continue
        for statement, known in _steps(formula.block):
            for target in statement.targets if isinstance(statement, ir.Assign) else ():
                value = _inlined(statement.value, known)
                meanings.setdefault(target, set()).add(value)
    taken = {thing.name for thing in op.signature.named}
    found: dict[ir.Expr, str] = {}
    for statement, known in _steps(formulas[0].block):
        if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            (target,) = statement.targets
            if len(meanings[target]) == 1 and target not in taken:
                found.setdefault(_inlined(statement.value, known), target)
    return found


def _with_names(formula: Formula, name_of: Callable[[ir.Expr], str | None]) -> Formula:
    """The formula that reads values by name, without the assignments that nothing reads then."""
    statements: list[ir.Assign | ir.Return] = []
    for statement, known in _steps(formula.block):

        def read(node: Any, known: Mapping[str, ir.Expr] = known) -> Any:
            if isinstance(node, _EXPRESSIONS) and (name := name_of(_inlined(node, known))):
                return ir.Name(name, span=node.span)
            return with_parts(node, read)

        value = read(statement.value)
        if not _is_itself(statement, value):
            statements.append(dataclasses.replace(statement, value=value))
    wanted: set[str] = set()
    needed: list[ir.Assign | ir.Return] = []
    for statement in reversed(statements):
        if isinstance(statement, ir.Return) or wanted & {*statement.targets}:
            needed.insert(0, statement)
            wanted |= {name.id for name in names(statement.value)}
    block = ir.Block(tuple(needed), span=formula.block.span)
    return dataclasses.replace(formula, block=block)


def _defining(forward: Formula, kept: Mapping[ir.Expr, str]) -> Formula:
    """The definition that makes what is kept in assignments of its own."""
    statements: list[ir.Assign | ir.Return] = []
    defined: set[str] = set()
    for statement, known in _steps(forward.block):

        def read(node: Any, known: Mapping[str, ir.Expr] = known) -> Any:
            if not isinstance(node, _EXPRESSIONS):
                return with_parts(node, read)
            name = kept.get(_inlined(node, known))
            if name is None:
                return with_parts(node, read)
            if name not in defined:
                defined.add(name)
                statements.append(ir.Assign((name,), with_parts(node, read)))
            return ir.Name(name, span=node.span)

        value = read(statement.value)
        if not _is_itself(statement, value):
            statements.append(dataclasses.replace(statement, value=value))
    block = ir.Block(tuple(statements), span=forward.block.span)
    return dataclasses.replace(forward, block=block)


def _is_itself(statement: ir.Assign | ir.Return, value: ir.Expr) -> bool:
    """Return whether a local would be given the value that it has."""
    return isinstance(statement, ir.Assign) and [ir.Name(t) for t in statement.targets] == [value]
