"""`auto`: VJPs that sympy derives, put where an author would have written them.

A derivation is remembered in the lock under the text of the forward, so that an unchanged table
costs no sympy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

from .ir.parse import parse
from .spec.model import Auto, Formula, OpSpec, Rule, Table

Derivations: TypeAlias = Mapping[tuple[str, str], str]
"""The formula derived for `(op, argument)`."""


def fill_in(table: Table, everything: Table, known: Derivations) -> Table:
    """The table with every `auto` replaced by a formula.

    Raises SpecError where sympy has no derivative to offer.
    """
    return Table(tuple(_fill_in(op, everything, known) for op in table.ops))


def automatic_params(op: OpSpec) -> tuple[str, ...]:
    """The arguments whose VJP is `auto`."""
    return tuple(name for names, rule in op.vjps if isinstance(rule, Auto) for name in names)


def _fill_in(op: OpSpec, everything: Table, known: Derivations) -> OpSpec:
    if not automatic_params(op):
        return op
    vjps: list[tuple[tuple[str, ...], Rule]] = []
    for names, rule in op.vjps:
        if isinstance(rule, Auto):
            vjps += [((name,), _derived(op, name, rule, everything, known)) for name in names]
        else:
            vjps.append((names, rule))
    return dataclasses.replace(op, vjps=tuple(vjps))


def _derived(op: OpSpec, param: str, rule: Auto, everything: Table, known: Derivations) -> Formula:
    text = known.get((op.name, param))
    if text is None:
        from .prove.report.derive import derive_vjp  # sympy: only when there is something to derive

        text = derive_vjp(op, everything, param)
    # Every character of the formula stands where the author wrote `auto`.
    return Formula(text, parse(text), (rule.span,) * (len(text) + 1))
