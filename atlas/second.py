"""Derivatives of elementwise ops as formulas; of others what gives the second ones."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from gradspec_codegen.ir.walk import calls, free_names
from gradspec_codegen.lint.definitions import definition
from gradspec_codegen.lint.subjects import Subject, subjects
from gradspec_codegen.prove.deadline import TimeUp, time_limit
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

    firsts: tuple[tuple[str, str], ...] = ()
    """`(of what, TeX)` of the first derivatives, where there are formulas of them."""
    formulas: tuple[tuple[str, str], ...] = ()
    """`(of what, TeX)`"""
    given: str = ""
    """The numbers that the formulas are of, where sympy does not read them as letters."""
    is_zero: bool = False
    made_of: tuple[str, ...] = ()
    """The ops that the gradients call, whose rules give the second derivatives."""


def second_derivatives(op: OpSpec, table: Table) -> Second:
    """Describe the second derivatives of an op by its tensors."""
    rules = [rule for _, rule in op.vjps if isinstance(rule, Formula)]
    is_zero = bool(rules) and all(_is_independent(op, rule) for rule in rules)
    subject = next(iter(subjects(Table((op,)), table)), None)
    firsts: tuple[tuple[str, str], ...] = ()
    if subject is not None:
        firsts = _within_time(subject, table, order=1)
        seconds = () if is_zero else _within_time(subject, table, order=2)
        if seconds:
            return Second(firsts, seconds, _given(subject, table))
    if is_zero:
        return Second(firsts, is_zero=True)
    if op.composite is not None:
        rules = [op.composite]
    named = (call.function for rule in rules for call in calls(rule.block))
    known = (name for name in named if table.overloads(name))
    return Second(firsts, made_of=tuple(dict.fromkeys(known)))


def _is_independent(op: OpSpec, rule: Formula) -> bool:
    """Return whether a gradient reads the values of no argument, and of no result."""
    values = {p.name for p in op.signature.tensor_params} | {o.name for o in op.signature.outputs}
    return not free_names(rule.block) & values


def _within_time(subject: Subject, table: Table, order: int) -> tuple[tuple[str, str], ...]:
    """The derivatives of an order; none where sympy has no short form of them in time."""
    try:
        with time_limit(SECONDS):
            return tuple(_formulas(subject, table, order))
    except (TimeUp, NotSymbolic, NotImplementedError, TypeError, ValueError, RecursionError):
        return ()


def _formulas(subject: Subject, table: Table, order: int) -> Iterator[tuple[str, str]]:
    symbols = {n: sympy.Symbol(n, real=True) for n in subject.tensors}
    forward = _definition(subject, table, symbols)
    names = {s: rf"\mathit{{{s.name}}}" for s in forward.free_symbols}
    names |= {s: _letter(n) for n, s in symbols.items()}
    differentiable = {*subject.op.differentiable_params} or {*subject.tensors}
    tensors = [symbols[name] for name in subject.tensors if name in differentiable]
    for by in itertools.combinations_with_replacement(tensors, order):
        found = _tidy(sympy.diff(forward, *by))
        text = sympy.latex(found, symbol_names=names, mul_symbol=r" \, ")
        yield ", ".join(s.name for s in by), f"{_quotient([names[s] for s in by])} = {text}"


def _letter(name: str) -> str:
    return _LETTERS.get(name, name if len(name) == 1 else rf"\mathit{{{name}}}")


def _quotient(by: Sequence[str]) -> str:
    """The sign of a derivative."""
    if len(by) == 1:
        return rf"\frac{{\partial y}}{{\partial {by[0]}}}"
    below = (
        rf"\partial {by[0]}^{{2}}" if by[0] == by[1] else rf"\partial {by[0]} \, \partial {by[1]}"
    )
    return rf"\frac{{\partial^{{2}} y}}{{{below}}}"


def _definition(subject: Subject, table: Table, symbols: Mapping[str, Any]) -> Any:
    """The definition with its numbers as letters, or as numbers where they decide branches.

    Where it calls what has no reading of sympy's, it is the function that the sweeps compare with.
    """
    op = subject.op
    assert op.definition is not None
    numbers = {n: v for n, v in subject.arguments().items() if isinstance(v, int | float)}
    letters = {n: sympy.Symbol(n, real=True) for n in numbers}
    values = {n: sympy.nsimplify(v, rational=True) for n, v in numbers.items()}
    for known in (letters, values):
        with contextlib.suppress(NotSymbolic):
            return SympyReader(table).block(op.definition.block, {**known, **symbols})
    return definition(subject, table)


def _given(subject: Subject, table: Table) -> str:
    """The numbers and words of a subject, as in `n = 1`; empty where they stay letters."""
    given = {n: v for n, v in subject.arguments().items() if isinstance(v, int | float | str)}
    op = subject.op
    assert op.definition is not None
    letters = {n: sympy.Symbol(n, real=True) for n in (*given, *subject.tensors)}
    try:
        SympyReader(table).block(op.definition.block, letters)
    except NotSymbolic:
        return ", ".join(f"{name} = {value}" for name, value in given.items())
    return ""


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
