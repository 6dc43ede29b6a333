"""Names of a spec beside those of generated code: they cannot collide.

An argument, an output or a local may be called like anything that generated code has a use for. An
op is rendered with all of its names marked first, `flags__0` for `flags`; where leaving a mark out
would make one name of two, it stays. No spec can write such a name, as it has two underscores.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from symtable import SymbolTable, symtable
from typing import Any, TypeVar

from ..ir.walk import assigned_names, renamed
from ..spec.model import Formula, OpSpec, Output, Param, Requirement, spelled
from ..spec.vocabulary import ROWS

_Named = TypeVar("_Named", Param, Output)

_MARK = re.compile(r"__\d+")
"""The suffix of a name that code of an op has instead of one of the spec's."""


def slot(kind: str, name: str) -> str:
    """Name the slot of a node for something that the spec calls `name`."""
    return f"{kind}_{as_written(name)}"


def as_written(name: str) -> str:
    """Return the spec's name for what generated code calls `name`."""
    return _MARK.sub("", name)


def scoped(op: OpSpec, code_of: Callable[[OpSpec], str]) -> tuple[OpSpec, OpSpec]:
    """The op twice, as its function is to be rendered and as everything else is: with other names
    in the place of those that its code has another use for.

    `code_of` renders an op, its function first.
    """
    marks = _marks(op)
    code = symtable(code_of(_with_names(op, marks)), op.name, "exec")
    function, *others = _functions(code)
    return _without_clashes(op, marks, [function]), _without_clashes(op, marks, others)


def _functions(code: SymbolTable) -> Iterator[set[str]]:
    """The names in the function of the op, and in the others, with those of their annotations."""
    around = _not_defined(code)
    for block in code.get_children():
        if block.get_type() == "class":
            inside = around | _not_defined(block)
            yield from (inside | _names_in(method) for method in block.get_children())
        else:
            yield around | _names_in(block)


def _not_defined(block: SymbolTable) -> set[str]:
    """The names of a module or class but those of its functions."""
    return {name.get_name() for name in block.get_symbols() if not name.is_namespace()}


def _names_in(function: SymbolTable) -> set[str]:
    """Every name that a function reads, assigns or takes as an argument."""
    inner = (_names_in(each) for each in function.get_children())
    return set(function.get_identifiers()).union(*inner)


def _without_clashes(op: OpSpec, marks: Mapping[str, str], functions: Iterable[set[str]]) -> OpSpec:
    clashing = {number for names in functions for number in _clashing(names)}
    names = {name: mark for name, mark in marks.items() if mark.rpartition("__")[2] in clashing}
    return _with_names(op, names) if names else op


def _clashing(found: set[str]) -> Iterator[str]:
    """The numbers of the marks without which two names would be the same."""
    meant: dict[str, set[str]] = {}
    for name in found:
        plain = as_written(name)
        for form in {plain, spelled(plain)}:
            meant.setdefault(form, set()).add(name)
    for names in meant.values():
        # Those without a mark come first; one of the others may be left without, if there are none.
        for name in sorted(names, key=_MARK.findall)[1:]:
            yield from (mark[2:] for mark in _MARK.findall(name))


def renamed_params(op: OpSpec) -> dict[str, str]:
    """The arguments of an op that its code calls otherwise, by the name in the spec."""
    return {p.written: p.name for p in op.signature.params if p.written}


def _marks(op: OpSpec) -> dict[str, str]:
    """Another name for each of the op's, but `self` and `result`, which code has for these."""
    locals_ = (name for f in _formulas(op) for name in sorted(assigned_names(f.block)))
    given = (thing.name for thing in op.signature.named)
    names = [name for name in dict.fromkeys((*given, *locals_)) if name not in ("self", "result")]
    return {name: f"{name}__{number}" for number, name in enumerate(names)}


def _formulas(op: OpSpec) -> Iterator[Formula]:
    rules: Iterable[object] = (*(rule for _, rule in op.vjps), *(rule for _, rule in op.jvps))
    definitions = (op.forward, op.kernel, op.composite, op.batch)
    yield from (f for f in (*definitions, *rules) if isinstance(f, Formula))


def _with_names(op: OpSpec, names: Mapping[str, str]) -> OpSpec:
    """The op with new names for some of its own, in its signature and in every formula."""
    signature = dataclasses.replace(
        op.signature,
        params=tuple(_renamed(param, names) for param in op.signature.params),
        outputs=tuple(_renamed(output, names) for output in op.signature.outputs),
    )
    everywhere: dict[str, str] = {}
    for thing in op.signature.named:
        new = names.get(thing.name, thing.name)
        forms = ("{}_p", "{}_t") if isinstance(thing, Param) else ("grad_{}",)
        everywhere |= {form.format(thing.name): form.format(new) for form in forms}
    everywhere |= names

    def in_formula(formula: Formula) -> Formula:
        return dataclasses.replace(formula, block=renamed(formula.block, everywhere))

    def in_rule(rule: Any) -> Any:
        return in_formula(rule) if isinstance(rule, Formula) else rule

    def in_requirement(requirement: Requirement) -> Requirement:
        formula, test = in_formula(requirement.formula), renamed(requirement.test, names)
        return dataclasses.replace(requirement, formula=formula, test=test)

    return dataclasses.replace(
        op,
        signature=signature,
        forward=op.forward and in_formula(op.forward),
        kernel=op.kernel and in_formula(op.kernel),
        composite=op.composite and in_formula(op.composite),
        batch=op.batch and in_formula(op.batch),
        vjps=tuple((tuple(names.get(n, n) for n in of), in_rule(rule)) for of, rule in op.vjps),
        jvps=tuple((names.get(of, of), in_rule(rule)) for of, rule in op.jvps),
        requires=tuple(map(in_requirement, op.requires)),
        promotes=tuple(names.get(name, name) for name in op.promotes),
        same_dtype=tuple(names.get(name, name) for name in op.same_dtype),
        layout=tuple(word if word == ROWS else names.get(word, word) for word in op.layout),
    )


def _renamed(thing: _Named, names: Mapping[str, str]) -> _Named:
    if thing.name not in names:
        return thing
    return dataclasses.replace(thing, name=names[thing.name], written=thing.name)
