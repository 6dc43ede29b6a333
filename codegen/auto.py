"""Rules that the generator derives, put where an author would have written them.

A rule that an entry leaves out, or calls `auto`, is derived from the definition: that of an
elementwise op by sympy, that of any other by the rules of the ops that the definition calls. A
derivation is remembered in the lock, with a digest of what it was made of, so that an unchanged
table derives nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from .diagnostics import Diagnostic, Span, SpecError
from .differentiate.complex_parts import with_complex_required
from .differentiate.outcome import ELEMENTWISE, KERNEL, NO_GRADIENT
from .ir.parse import parse
from .ir.walk import calls
from .spec.elementwise import is_elementwise_definition
from .spec.model import (
    Auto,
    AutoElementwise,
    Formula,
    NonDifferentiable,
    OpSpec,
    Rule,
    Table,
    TangentRule,
)

Derivations: TypeAlias = Mapping[tuple[str, str], str]
"""The rule derived for `(op, argument or output)`."""


Derived: TypeAlias = tuple[tuple[str, str], ...]
"""`(argument or output, rule)` for each `auto` of one op."""

KINKS = "kinks"
"""The key of what derived rules take where pieces meet, as JSON, of an entry without any rule."""


def fill_in(table: Table, everything: Table, known: Derivations) -> Table:
    """The table with every `auto` replaced by a rule.

    Raises SpecError with all for which none can be derived.
    """
    if not any(map(automatic_rules, table.ops)):
        return table
    filling = _Filling(everything, known)
    filled = []
    mistakes: dict[Diagnostic, None] = {}
    for op in table.ops:
        try:
            filled.append(filling.filled(op))
        except SpecError as error:
            mistakes |= dict.fromkeys(error.diagnostics)
    if mistakes:
        raise SpecError(list(mistakes))
    return Table(tuple(filled))


def automatic_rules(op: OpSpec) -> tuple[str, ...]:
    """The arguments whose VJP, and the outputs whose JVP is `auto`."""
    vjps = (name for names, rule in op.vjps if isinstance(rule, Auto) for name in names)
    return (*vjps, *(name for name, rule in op.jvps if isinstance(rule, Auto)))


def derived_rules(op: OpSpec, filled: OpSpec) -> Derived:
    """The rules that were derived for an op, as text."""
    vjps = {name: rule for names, rule in filled.vjps for name in names}
    rules: dict[str, Rule | TangentRule] = {**vjps, **dict(filled.jvps)}
    found = [(name, _word(rules[name])) for name in automatic_rules(op) if name in rules]
    if op.kernel is None and filled.kernel is not None:
        found.append((KERNEL, filled.kernel.text))
    if _finds_kinks(op):
        found.append((KINKS, json.dumps(filled.kinks)))
    return tuple(found)


def _word(rule: Rule | TangentRule) -> str:
    if isinstance(rule, Formula):
        return rule.text
    return NO_GRADIENT if isinstance(rule, NonDifferentiable) else ELEMENTWISE


def derivation_digest(op: OpSpec, everything: Table, derived: Derived) -> str:
    """Digest rules and all that they were derived from: what the op and those it calls say."""
    read: dict[str, str] = {}
    stack = [op, *(o for name in _called_by_rules(op) for o in everything.overloads(name))]
    while stack:
        each = stack.pop()
        definition = each.definition
        if definition is not None and each.name not in read:
            rules = [rule.text for _, rule in (*each.vjps, *each.jvps) if isinstance(rule, Formula)]
            read[each.name] = repr((each.signature, each.domain, definition.text, rules))
            called = {call.function for call in calls(definition.block)}
            stack += (other for name in called for other in everything.overloads(name))
    digest = hashlib.sha256(repr((sorted(read.values()), derived)).encode())
    return f"sha256:{digest.hexdigest()[:32]}"


def _called_by_rules(op: OpSpec) -> Iterator[str]:
    """The ops that the rules of an entry call: others may be derived by differentiating these."""
    for _, rule in (*op.vjps, *op.jvps):
        if isinstance(rule, Formula):
            yield from (call.function for call in calls(rule.block))


class _Filling:
    """Derives the rules of ops, those of the ops that they call first."""

    def __init__(self, everything: Table, known: Derivations) -> None:
        self._everything = everything
        self._known = known
        self._filled: dict[str, OpSpec] = {}
        self._refused: dict[str, SpecError] = {}

    def filled(self, op: OpSpec) -> OpSpec:
        """The op with every rule."""
        if not automatic_rules(op) and op.composite is None:
            return op
        if op.name in self._refused:
            raise self._refused[op.name]
        if op.name not in self._filled:
            self._filled[op.name] = op  # ops do not call themselves; overloads may look so
            definition = op.definition
            called = () if definition is None else calls(definition.block)
            try:
                for name in (*(call.function for call in called), *_called_by_rules(op)):
                    for other in self._everything.overloads(name):
                        self.filled(other)
                if automatic_rules(op):
                    self._filled[op.name] = self._derived(self._completed(op))
            except SpecError as error:
                self._refused[op.name] = error
                raise
        return self._filled[op.name]

    def _completed(self, op: OpSpec) -> OpSpec:
        """An elementwise op without any rule promotes its arguments, and has usual examples."""
        tensors = tuple(p.name for p in op.signature.tensor_params)
        if _has_no_rule(op):
            promoting = dataclasses.replace(op, promotes=op.promotes or tensors)
            if is_elementwise_definition(promoting, self._everything):
                return promoting
        return op

    def _derived(self, op: OpSpec) -> OpSpec:
        op = with_complex_required(op)
        keys = (*automatic_rules(op), KERNEL, KINKS)
        texts = {n: t for n in keys if (t := self._known.get((op.name, n)))}
        if not texts.keys() >= {*automatic_rules(op)}:
            from .differentiate.choose import derive  # sympy: only when something is to be derived

            texts = derive(op, self._table())
        vjps: list[tuple[tuple[str, ...], Rule]] = []
        for names, rule in op.vjps:
            if isinstance(rule, Auto):
                vjps += [((name,), _vjp(texts[name], rule)) for name in names]
            else:
                vjps.append((names, rule))
        jvps = [
            (name, _jvp(texts[name], rule) if isinstance(rule, Auto) else rule)
            for name, rule in op.jvps
            if not isinstance(rule, Auto) or name in texts
        ]
        kernel = op.kernel
        if KERNEL in texts and op.forward is not None:
            kernel = _formula(texts[KERNEL], op.forward.spans[0])
        found = dataclasses.replace(op, vjps=tuple(vjps), jvps=tuple(jvps), kernel=kernel)
        if not _finds_kinks(op):
            return found
        if KINKS in texts:
            kinks = tuple((condition, factor) for condition, factor in json.loads(texts[KINKS]))
            return dataclasses.replace(found, kinks=kinks)
        return self._with_kinks(found)

    def _with_kinks(self, op: OpSpec) -> OpSpec:
        """The op with what its derived rules take where pieces of the definition meet."""
        from .authoring.derived import kinks_of

        rules = {
            n: rule.text for names, rule in op.vjps if isinstance(rule, Formula) for n in names
        }
        kinks = kinks_of(op, Table((*self._table().ops, op)), rules)
        return dataclasses.replace(op, kinks=tuple(kinks.items()))

    def _table(self) -> Table:
        """The table, with the rules that were derived so far."""
        ops = self._everything.ops
        return Table(tuple(self._filled.get(op.name, op) for op in ops))


def _has_no_rule(op: OpSpec) -> bool:
    """Return whether an entry leaves all rules to the generator."""
    rules = [rule for _, rule in (*op.vjps, *op.jvps)]
    return all(isinstance(rule, Auto) and not rule.is_given for rule in rules)


def _finds_kinks(op: OpSpec) -> bool:
    """Return whether the kinks of an entry are what its derived rules take."""
    return bool(automatic_rules(op)) and _has_no_rule(op) and not op.kinks


def _vjp(text: str, rule: Auto) -> Rule:
    is_zero = text == NO_GRADIENT
    return NonDifferentiable(rule.span, is_derived=True) if is_zero else _formula(text, rule.span)


def _jvp(text: str, rule: Auto) -> TangentRule:
    return AutoElementwise(rule.span) if text == ELEMENTWISE else _formula(text, rule.span)


def _formula(text: str, span: Span) -> Formula:
    """A formula of which every character stands where the author wrote `auto`, or nothing."""
    return Formula(text, parse(text), (span,) * (len(text) + 1), is_derived=True)
