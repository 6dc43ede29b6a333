"""From a formula to a whole entry: VJPs by sympy, domain, kinks, broadcasting."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy
import yaml

from ..diagnostics import Diagnostic, Span, SpecError
from ..ir import nodes as ir
from ..ir.parse import FormulaError, parse
from ..ir.walk import calls, substitute, walk
from ..prove.report.derive import derive_vjp
from ..render.to_formula import OPS_OF_SYMPY, NoFormula, to_formula
from ..render.to_sympy import NotSymbolic, SympyReader
from ..render.to_text import formula_text
from ..spec.load import load_table
from ..spec.model import OpSpec, Table
from ..spec.vocabulary import CONSTANTS
from .smoothness import breakpoints, decimal, domain_of, zeros

TEXT = "EXPR"
"""The file that mistakes in the expression are said to be in."""

ENTRY = "the derived entry"
"""The file that mistakes in the entry are said to be in."""


@dataclass(frozen=True, slots=True)
class DerivedEntry:
    """The op, the text of its entry, and what the author has to look at."""

    op: OpSpec
    text: str
    remarks: tuple[str, ...]


def derive_entry(
    expression: str, table: Table, *, name: str = "my_op", scalars: Mapping[str, str] | None = None
) -> DerivedEntry:
    """An entry of the table for the elementwise op that `expression` defines.

    Every name in it is a tensor, except constants and the `scalars`, which have default values.
    Raises SpecError where the expression is no formula, or sympy has no derivative of it.
    """
    scalars = scalars or {}
    formula, tensors = _with_usual_names(expression, scalars, table)
    entry = _definition(name, formula, tensors, scalars)
    op = _loaded(_with_auto(entry, tensors), table)
    symbols = {p.name: sympy.Symbol(p.name, real=True) for p in op.signature.params}
    domain, forward = {}, _forward(op, table, symbols)
    remarks: list[str] = []
    if forward is not None:
        told = domain_of(forward, [symbols[tensor] for tensor in tensors])
        domain, remarks = told.conditions, told.remarks
    op = dataclasses.replace(op, domain=tuple(domain.items()))
    everything = Table((*table.ops, op))
    for tensor in tensors:
        entry[tensor] = _vjp(op, everything, tensor, expression)
    entry["result"] = "auto_element_wise"
    entry["promotes"] = ", ".join(tensors)
    if _needs_floats(formula, table):
        entry["int_to_float"] = True
    if domain:
        entry["domain"] = domain
    if forward is not None:
        kinks = _Kinks(everything, symbols, {tensor: entry[tensor] for tensor in tensors})
        kinks.look_at(forward)
        remarks += kinks.remarks
        if kinks.found:
            entry["kinks"] = kinks.found
    return DerivedEntry(_loaded(entry, table), entry_text(entry), tuple(remarks))


def entry_text(entry: Mapping[str, Any]) -> str:
    """An entry as YAML, as the table writes it."""
    return yaml.dump([dict(entry)], sort_keys=False, width=100, allow_unicode=True, Dumper=_Dumper)


class _Dumper(yaml.SafeDumper):
    """Inner mappings on one line."""

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        is_inner = "name" not in mapping
        return super().represent_mapping(tag, mapping, flow_style=is_inner)


def in_entry(error: SpecError) -> SpecError:
    """The mistakes, said to be in `ENTRY`: the file that the entry was loaded from is gone."""
    return SpecError(
        [
            dataclasses.replace(found, span=dataclasses.replace(found.span, path=ENTRY))
            for found in error.diagnostics
        ]
    )


def _vjp(op: OpSpec, table: Table, tensor: str, expression: str) -> str:
    try:
        return derive_vjp(op, table, tensor)
    except SpecError as error:
        found = error.diagnostics[0]
        help = "write the entry by hand: `gradspec new` prints a skeleton"
        raise _mistake(found.code, 1, len(expression), found.message, help) from None


def _definition(
    name: str, formula: str, tensors: Sequence[str], scalars: Mapping[str, str]
) -> dict[str, Any]:
    """Write the beginning of an entry."""
    words = [f"Tensor {tensor}" for tensor in tensors]
    words += [f"Scalar {scalar}={default}" for scalar, default in scalars.items()]
    signature = f"{name}({', '.join(words)}) -> Tensor"
    return {"name": signature, "doc": f"{formula}.", "forward": formula}


def _with_auto(entry: Mapping[str, Any], tensors: Sequence[str]) -> dict[str, Any]:
    """The entry with every derivative still to be found."""
    return {**entry, **dict.fromkeys(tensors, "auto"), "result": "auto_element_wise"}


def _with_usual_names(
    expression: str, scalars: Mapping[str, str], table: Table
) -> tuple[str, list[str]]:
    """The formula and its tensors; one is called `self`, two are `self` and `other`."""
    block = parsed(expression)
    names = dict.fromkeys(
        node.id
        for node in walk(block)
        if isinstance(node, ir.Name) and node.id not in (*CONSTANTS, *scalars)
    )
    tensors = list(names)
    if not tensors:
        raise _mistake("GS043", 1, len(expression), "there is no tensor in it to derive by")
    # Read as the author wrote it first, so that mistakes are shown in the author's words.
    _loaded_as_written(expression, tensors, scalars, table)
    usual = ["self", "other"][: len(tensors)]
    whole = block.expression
    if whole is None or len(tensors) > 2 or "self" in tensors:
        return expression.strip(), tensors
    renamed = substitute(whole, dict(zip(tensors, map(ir.Name, usual), strict=True)))
    return formula_text(renamed), usual


def parsed(expression: str) -> ir.Block:
    """The formula. Raises SpecError, with places in the file `EXPR`."""
    try:
        return parse(expression)
    except FormulaError as error:
        width = error.span.end - error.span.start
        raise _mistake(error.code, error.span.start + 1, width, error.message, error.help) from None


def _loaded_as_written(
    expression: str, tensors: Sequence[str], scalars: Mapping[str, str], table: Table
) -> None:
    entry = _definition("my_op", expression, tensors, scalars)
    try:
        _loaded(_with_auto(entry, tensors), table)
    except SpecError as error:
        first = error.diagnostics[0]
        column = max(1, first.span.column - len("  forward: "))
        raise _mistake(first.code, column, first.span.width, first.message, first.help) from None


def _mistake(code: str, column: int, width: int, message: str, help: str = "") -> SpecError:
    return SpecError([Diagnostic(code, Span(TEXT, 1, column, max(1, width)), message, help)])


def _loaded(entry: Mapping[str, Any], table: Table) -> OpSpec:
    """The entry as the loader reads it. Raises SpecError for its mistakes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "derived.yaml"
        path.write_text(entry_text(entry), encoding="utf-8")
        (op,) = load_table(path, base=table).ops
    return op


def _forward(op: OpSpec, table: Table, symbols: Mapping[str, sympy.Symbol]) -> sympy.Expr | None:
    assert op.forward is not None
    try:
        return SympyReader(table).block(op.forward.block, symbols)
    except NotSymbolic:
        return None


def _needs_floats(formula: str, table: Table) -> bool:
    """Return whether integers would have to become floats: a division, or an op that does that."""
    block = parse(formula)
    floating = {op.signature.name for op in table.ops if op.int_to_float}
    divides = any(isinstance(node, ir.Binary) and node.op == "/" for node in walk(block))
    return divides or any(call.function in floating for call in calls(block))


def kinks_of(op: OpSpec, table: Table, vjps: Mapping[str, str]) -> dict[str, int | float | str]:
    """The breakpoints of an elementwise definition, with what its VJPs take there.

    None where sympy does not see them: the proof asks for those that are missing.
    """
    params = [p for p in op.signature.params if p.type.base in ("Tensor", "Scalar", "float", "int")]
    symbols = {p.name: sympy.Symbol(p.name, real=True) for p in params}
    is_one_number = not any(p.type.is_list or p.type.is_optional for p in params)
    forward = _forward(op, table, symbols) if is_one_number else None
    if forward is None:
        return {}
    kinks = _Kinks(table, symbols, vjps)
    kinks.look_at(forward)
    return kinks.found


_STEP = sympy.Rational(1, 10**40)
_DIGITS = 60
_CLOSE = sympy.Rational(1, 10**30)
_ELSEWHERE = sympy.Rational(3, 5)
"""The value of arguments that a breakpoint does not name."""


class _Kinks:
    """The factor of `grad` that the derived formulas give at each breakpoint."""

    def __init__(
        self, table: Table, symbols: Mapping[str, sympy.Symbol], vjps: Mapping[str, str]
    ) -> None:
        self._reader = SympyReader(table)
        self._ops = {*OPS_OF_SYMPY.values(), "sigmoid", "sqrt"}
        """Functions that a condition and a factor may call."""
        self._symbols = symbols
        self._vjps = vjps
        self.found: dict[str, int | float | str] = {}
        self.remarks: list[str] = []

    def look_at(self, forward: sympy.Expr) -> None:
        """Find the breakpoints of a definition, and what is taken there."""
        for border in breakpoints(forward):
            if not any(symbol.name in self._vjps for symbol in border.free_symbols):
                continue  # nothing that moves meets it
            places = self._places(border)
            if not places:
                self.remarks.append(f"its pieces meet where {border} = 0: state that in `kinks`")
            for condition, values in places:
                if not forward.subs(values).is_finite or self._is_smooth(values):
                    continue
                factor = self._factor(forward, values)
                if factor is None:
                    self.remarks.append(f"state the derivative at {condition} in `kinks`")
                else:
                    self.found[condition] = factor

    def _places(self, border: sympy.Expr) -> list[tuple[str, dict[sympy.Symbol, sympy.Expr]]]:
        """Conditions a spec can state, with what they make of the symbols."""
        symbols = sorted(border.free_symbols, key=lambda s: list(self._symbols.values()).index(s))
        if len(symbols) == 1:
            roots = zeros(border, symbols[0]) or []
            return [
                (f"{symbols[0].name} == {text}", {symbols[0]: root})
                for root in roots
                if (text := decimal(root)) is not None
            ]
        tensors = [symbol for symbol in symbols if symbol.name in self._vjps]
        if len(tensors) == 1:
            return self._places_by_numbers(border, tensors[0])
        a, b = symbols[:2]
        if len(symbols) == 2 and sympy.expand(border) in (a - b, b - a):
            return [(f"{a.name} == {b.name}", {b: a})]
        return []

    def _places_by_numbers(
        self, border: sympy.Expr, tensor: sympy.Symbol
    ) -> list[tuple[str, dict[sympy.Symbol, sympy.Expr]]]:
        """The points where a tensor meets a border that positive numbers among arguments set."""
        numbers = {s: sympy.Dummy(s.name, positive=True) for s in border.free_symbols - {tensor}}
        names = {dummy: symbol for symbol, dummy in numbers.items()}
        try:
            roots = sympy.solve(border.subs(numbers), tensor)
            found = [root.subs(names) for root in roots]
            return [
                (f"{tensor.name} == {to_formula(root, self._ops)}", {tensor: root})
                for root in found
            ]
        except (NotImplementedError, NoFormula, AttributeError):
            return []

    def _is_smooth(self, values: dict[sympy.Symbol, sympy.Expr]) -> bool:
        """Return whether both sides have the same derivatives, so that nothing has to be stated."""
        ((moved, border),) = values.items()
        others = {s: sympy.Rational(7, 10 + place) for place, s in enumerate(border.free_symbols)}
        sides = []
        for step in (_STEP, -_STEP):
            at = {moved: border.subs(others) + step, **others}
            names = {name: at.get(s, _ELSEWHERE) for name, s in self._symbols.items()}
            try:
                sides.append([self._value(text, names) for text in self._vjps.values()])
            except (NotSymbolic, TypeError, ValueError):
                return False
        return all(abs(a - b) < _CLOSE * (1 + abs(a)) for a, b in zip(*sides, strict=True))

    def _value(self, text: str, names: Mapping[str, sympy.Expr]) -> sympy.Float:
        """A VJP at numbers; one that reads `result` is not asked for."""
        value = self._reader.block(parse(text), {**names, "grad": sympy.S.One})
        return sympy.Float(sympy.sympify(value).evalf(_DIGITS), _DIGITS)

    def _numbers_for(self, names: dict[str, Any], border: sympy.Expr) -> list[dict[str, Any]]:
        """The names with some numbers for those among the arguments that set the border."""
        read = [symbol for symbol in border.free_symbols if symbol.name not in self._vjps]
        if not read:
            return [names]
        chosen = ({s: value + place for place, s in enumerate(read)} for value in (_ELSEWHERE, 2))
        return [{n: sympy.sympify(v).subs(at) for n, v in names.items()} for at in chosen]

    def _factor(
        self, forward: sympy.Expr, values: dict[sympy.Symbol, sympy.Expr]
    ) -> int | float | str | None:
        """The derivative there, if all formulas agree on one."""
        names: dict[str, Any] = {name: s.subs(values) for name, s in self._symbols.items()}
        names |= {"grad": sympy.S.One, "result": forward.subs(values)}
        ((moved, border),) = values.items()
        is_shared = any(symbol.name in self._vjps for symbol in border.free_symbols)
        texts = self._vjps.values() if is_shared else [self._vjps[moved.name]]
        try:
            factors = {
                sympy.sympify(self._reader.block(parse(text), at))
                for text in texts
                for at in self._numbers_for(names, border)
            }
            (factor,) = factors
            if factor.is_finite is False:  # a slope without end is no kink
                return None
            text = decimal(factor)
            if text is None:
                return to_formula(factor, self._ops)
        except (NotSymbolic, NoFormula, ValueError):
            return None
        return float(text) if "." in text else int(text)
