"""Every single-point mutant of an op's formulas, each as an op of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, TypeVar

from ..ir import nodes as ir
from ..ir.walk import assigned_names
from ..render.to_text import block_text, formula_text
from ..spec.model import Formula, OpSpec, Table
from .edits import Edit, Scope, edits

_N = TypeVar("_N", bound=ir.Node)

VALUE = "value"
_COMPARED = ("forward", "kernel")
"""The formulas of which one is proved to be the other."""

Editor: TypeAlias = Callable[[ir.Expr, Scope], Iterator[Edit]]
"""A function that yields the edits of one node."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """An op with one formula made wrong in one place."""

    op: OpSpec
    """The mutant itself, under a name of its own."""
    original: str
    key: str
    """The formula: an argument, several, an output, `forward` or `kernel`."""
    mode: str
    """`VJP`, `JVP`, or `value` for a formula of what the op computes."""
    kind: str
    before: str
    after: str
    """The part that was edited, as text."""
    text: str
    """The whole mutated formula."""
    place: ir.TextSpan
    """The place of the part in the formula."""

    def __str__(self) -> str:
        what = self.key if self.mode == VALUE else f"{self.mode} of {self.key}"
        return f"{self.original}, {what}: `{self.before}` became `{self.after}` ({self.kind})"


def mutants_of(op: OpSpec, table: Table) -> list[Mutant]:
    """All mutants of an op, VJPs first; `acceptable.those_generated` leaves out others.

    Those of its definition and of the call of its kernel too, where it has both to be compared.
    """
    found = _Found(op, table)
    for position, (names, rule) in enumerate(op.vjps):
        if isinstance(rule, Formula):
            found.add_vjp(position, names, rule, edits)
    for position, (name, tangent) in enumerate(op.jvps):
        if isinstance(tangent, Formula):
            found.add_jvp(position, name, tangent, edits)
    for key in _COMPARED if op.kernel is not None else ():
        found.add_value(key, edits)
    return found.mutants


def variants_of_formula(op: OpSpec, table: Table, key: str, editor: Editor) -> list[Mutant]:
    """One formula, that of an argument or an output, edited in every way of `editor`."""
    found = _Found(op, table)
    for position, (names, rule) in enumerate(op.vjps):
        if key in names and isinstance(rule, Formula):
            found.add_vjp(position, names, rule, editor)
    for position, (name, tangent) in enumerate(op.jvps):
        if key == name and isinstance(tangent, Formula):
            found.add_jvp(position, name, tangent, editor)
    if key in _COMPARED and op.kernel is not None:
        found.add_value(key, editor)
    return found.mutants


def renamed(op: OpSpec, suffix: str) -> OpSpec:
    """The same op under another name, private if its own is, and without any other names.

    A name that ends in `_backward` goes on doing so: the prover makes something of that.
    """
    name = f"{'_' * op.is_private}mutant_{suffix}_{op.name.replace('.', '_').strip('_')}"
    signature = dataclasses.replace(op.signature, name=name, overload="")
    return dataclasses.replace(
        op,
        signature=signature,
        variants=("function",),
        python_module="",
        operators=(),
        aliases=(),
        inplace=False,
        node="",
    )


class _Found:
    """The mutants of one op so far."""

    def __init__(self, op: OpSpec, table: Table) -> None:
        self._op = op
        self._functions = {each.signature.name for each in table.ops}
        self._seen: set[tuple[str, ir.Block]] = set()
        self.mutants: list[Mutant] = []

    def add_vjp(self, position: int, names: tuple[str, ...], rule: Formula, editor: Editor) -> None:
        """The variants of one VJP."""
        outputs = [output.name for output in self._op.signature.outputs]
        directions = ("grad",) if len(outputs) == 1 else tuple(f"grad_{name}" for name in outputs)
        tensors = tuple(p.name for p in self._op.signature.tensor_params if not p.type.is_list)
        scope = self._scope((*tensors, *outputs, *self._scalars()), directions, rule)
        for edit, block in _variants(rule.block, scope, editor):
            vjps = list(self._op.vjps)
            vjps[position] = (names, dataclasses.replace(rule, block=block))
            self._add(", ".join(names), edit, block, {"vjps": tuple(vjps)})

    def add_jvp(self, position: int, name: str, rule: Formula, editor: Editor) -> None:
        """The variants of one JVP."""
        tensors = [p.name for p in self._op.signature.tensor_params if not p.type.is_list]
        primals = tuple(f"{tensor}_p" for tensor in tensors)
        directions = tuple(f"{n}_t" for n in tensors if n in self._op.differentiable_params)
        outputs = tuple(output.name for output in self._op.signature.outputs)
        scope = self._scope((*primals, *outputs, *self._scalars()), directions, rule)
        for edit, block in _variants(rule.block, scope, editor):
            jvps = list(self._op.jvps)
            jvps[position] = (name, dataclasses.replace(rule, block=block))
            self._add(name, edit, block, {"jvps": tuple(jvps)})

    def add_value(self, key: str, editor: Editor) -> None:
        """The variants of what the op computes: of its definition, or of its kernel's call."""
        rule = getattr(self._op, key)
        tensors = (p.name for p in self._op.signature.tensor_params if not p.type.is_list)
        scope = self._scope((*tensors, *self._scalars()), (), rule)
        for edit, block in _variants(rule.block, scope, editor):
            text = block_text(block)
            self._add(key, edit, block, {key: dataclasses.replace(rule, text=text, block=block)})

    def _scalars(self) -> Iterator[str]:
        return (p.name for p in self._op.signature.params if p.type.base in ("Scalar", "float"))

    def _scope(self, values: tuple[str, ...], directions: tuple[str, ...], rule: Formula) -> Scope:
        params = self._op.signature.params
        return Scope(
            values=(*values, *sorted(assigned_names(rule.block))),
            directions=directions,
            integers={p.name for p in params if p.type.base == "int" and not p.type.is_list},
            flags={p.name for p in params if p.type.base == "bool"},
            optional={p.name for p in params if p.type.is_list and p.type.is_optional},
            functions=self._functions,
        )

    def _add(self, key: str, edit: Edit, block: ir.Block, changes: dict[str, Any]) -> None:
        if (key, block) in self._seen:
            return
        self._seen.add((key, block))
        mutated = dataclasses.replace(self._op, **changes)
        self.mutants.append(
            Mutant(
                op=renamed(mutated, str(len(self.mutants) + 1)),
                original=self._op.name,
                key=key,
                mode={"vjps": "VJP", "jvps": "JVP"}.get(next(iter(changes)), VALUE),
                kind=edit.kind,
                before=formula_text(edit.before),
                after=formula_text(edit.after),
                text=block_text(block),
                place=edit.before.span,
            )
        )


def is_expression(node: ir.Node) -> TypeGuard[ir.Expr]:
    """Neither a statement nor a part of a subscript."""
    return not isinstance(node, ir.Block | ir.Assign | ir.If | ir.Return | ir.Slice)


_OTHER_NUMBERS = ("sign", "grad doubled", "grad lost")
"""Edits that change no shape and no dtype; of `strides`, no edit changes more than a layout."""


def _variants(node: _N, scope: Scope, editor: Editor) -> Iterator[tuple[Edit, _N]]:
    """The tree with one node edited, in every way; nodes further up come first."""
    if is_expression(node):
        for edit in editor(node, scope):
            yield edit, edit.after  # type: ignore[misc]
    name: str
    for name in node.__match_args__:
        for edit, value in _variants_of_field(getattr(node, name), scope, editor):
            if isinstance(node, ir.Attribute) and (
                edit.kind in _OTHER_NUMBERS or node.name == "strides"
            ):
                continue
            yield edit, dataclasses.replace(node, **{name: value})


def _variants_of_field(value: Any, scope: Scope, editor: Editor) -> Iterator[tuple[Edit, Any]]:
    if isinstance(value, ir.Node):
        yield from _variants(value, scope, editor)
    elif isinstance(value, tuple):
        for position, item in enumerate(value):
            for edit, changed in _variants_of_field(item, scope, editor):
                yield edit, (*value[:position], changed, *value[position + 1 :])
