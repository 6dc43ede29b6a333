"""Second derivatives of elementwise ops as formulas; of others what they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from gradspec_codegen.ir.walk import calls, free_names
from gradspec_codegen.lint.subjects import Subject, subjects
from gradspec_codegen.prove.deadline import TimeUp, time_limit
from gradspec_codegen.render.to_latex import latex
from gradspec_codegen.render.to_sympy import NotSymbolic, SympyReader
from gradspec_codegen.spec.model import Formula, OpSpec, Table

SECONDS = 3.0
"""An op whose second derivatives take longer is described by the ops that give them."""

MOST_PARTS = 90
"""Operations of an expression: a longer one tells a reader nothing."""

_LETTERS = {"self": "x"}


@dataclass(frozen=True, slots=True)
class Second:
    """The second derivatives of an op: formulas, or that they vanish, or who computes them."""

    formulas: tuple[tuple[str, str], ...] = ()
    """`(of what, TeX)`"""
    is_zero: bool = False
    made_of: tuple[str, ...] = ()
    """The ops that the gradients call, whose rules give the second derivatives."""


def second_derivatives(op: OpSpec, table: Table) -> Second:
    """What there is to say of the second derivatives of an op by its tensors."""
    rules = [rule for _, rule in op.vjps if isinstance(rule, Formula)]
    if rules and all(_is_independent(op, rule) for rule in rules):
        return Second(is_zero=True)
    subject = next(iter(subjects(Table((op,)), table)), None)
    if subject is not None:
        try:
            with time_limit(SECONDS):
                found = tuple(_formulas(subject, table))
        except (TimeUp, NotSymbolic, NotImplementedError, TypeError, ValueError, RecursionError):
            found = ()
        if found:
            return Second(found)
    if op.composite is not None:
        rules = [op.composite]
    named = (call.function for rule in rules for call in calls(rule.block))
    known = (name for name in named if table.overloads(name))
    return Second(made_of=tuple(dict.fromkeys(known)))


def _is_independent(op: OpSpec, rule: Formula) -> bool:
    """Return whether a gradient reads the values of no argument, and of no result."""
    values = {p.name for p in op.signature.tensor_params} | {o.name for o in op.signature.outputs}
    return not free_names(rule.block) & values


def _formulas(subject: Subject, table: Table) -> Iterator[tuple[str, str]]:
    symbols = {n: sympy.Symbol(n, real=True) for n in subject.tensors}
    forward = _definition(subject, table, symbols)
    names = {s: _LETTERS.get(n, n if len(n) == 1 else rf"\mathit{{{n}}}") for n, s in symbols.items()}
    names |= {
        s: rf"\mathit{{{s.name}}}" for s in forward.free_symbols - set(symbols.values())
    }
    tensors = [symbols[name] for name in subject.tensors]
    differentiable = {*subject.op.differentiable_params} or {*subject.tensors}
    tensors = [s for s in tensors if s.name in differentiable]
    for place, first in enumerate(tensors):
        for second in tensors[place:]:
            found = _tidy(sympy.diff(forward, first, second))
            a, b = names[first], names[second]
            below = rf"\partial {a}^{{2}}" if a == b else rf"\partial {a} \, \partial {b}"
            text = rf"\frac{{\partial^{{2}} y}}{{{below}}} = {sympy.latex(found, symbol_names=names)}"
            yield f"{first.name}, {second.name}", text


def _definition(subject: Subject, table: Table, symbols: Mapping[str, Any]) -> Any:
    """The definition with its numbers as letters, or as numbers where they decide branches."""
    op = subject.op
    assert op.definition is not None
    numbers = {n: v for n, v in subject.arguments().items() if isinstance(v, int | float)}
    letters = {n: sympy.Symbol(n, real=True) for n in numbers}
    values = {n: sympy.nsimplify(v, rational=True) for n, v in numbers.items()}
    try:
        return SympyReader(table).block(op.definition.block, {**letters, **symbols})
    except NotSymbolic:
        return SympyReader(table).block(op.definition.block, {**values, **symbols})


def _tidy(expression: Any) -> Any:
    """A shorter form, between breakpoints; raises NotSymbolic for one that is long."""
    found = expression.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero).doit()
    if found.has(sympy.Derivative, sympy.Subs):
        raise NotSymbolic("sympy has no closed form")
    shorter = sympy.simplify(found) if sympy.count_ops(found) < MOST_PARTS else found
    best = min(found, shorter, key=sympy.count_ops)
    if sympy.count_ops(best) > MOST_PARTS:
        raise NotSymbolic("it is long")
    return best


