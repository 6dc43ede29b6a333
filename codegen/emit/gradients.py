"""The node of an op: its VJP on arrays and on tensors, rendered from one formula."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from ..ir import nodes as ir
from ..ir.parts import items_of
from ..ir.walk import free_names, walk
from ..render.context import ModuleContext
from ..render.formula import FormulaRenderer
from ..render.resolve import Kind, kinds_of_params
from ..render.to_numpy import NumpyRenderer
from ..render.to_tensor import TensorRenderer
from ..spec.model import Formula, NotImplementedYet, OpSpec
from ..spec.shared_locals import leading, shared_with
from .absent import without_absent
from .branches import with_safe_branches
from .record import differentiable_outputs, has_list_inputs, reduced_params
from .repeated import made_once
from .saves import OPTIONS, Saved, SavedFormulas, Source
from .scopes import as_written, slot
from .views import NodeView


def node_view(op: OpSpec, name: str, plan: SavedFormulas, context: ModuleContext) -> NodeView:
    """The class of one op's node."""
    several = has_several_outputs(op)
    plan = _for_absent(op, plan, context)
    return NodeView(
        name=name,
        op=op.name,
        saved_fields=tuple(_saved_fields(op, plan)),
        has_several_outputs=several,
        has_lists=has_list_inputs(op),
        output_nrs=tuple(_output_nrs(op, plan)),
        apply=tuple(_Body(op, plan, context, on_tensors=False).lines()),
        apply_differentiable=tuple(_Body(op, plan, context, on_tensors=True).lines()),
    )


_KINDS: dict[Source, str] = {
    "tensor": "tensors",
    "tensors": "tensors",
    "output": "results",
    "local": "computed",
    "value": OPTIONS,
    "attribute": OPTIONS,
}
"""The runtime's word for each source of a saved value: see `saves` in `core/node.py`."""


def _saved_fields(op: OpSpec, plan: SavedFormulas) -> Iterator[tuple[str, str]]:
    """List what the node saves: for each kind the names, in a row."""
    names: dict[str, list[str]] = {kind: [] for kind in _KINDS.values()}
    for saved in plan.saved:
        names[_KINDS[saved.source]].append(as_written(saved.name))
    names["shapes"] = list(map(as_written, reduced_params(op)))
    yield from ((kind, " ".join(found)) for kind, found in names.items() if found)


def _output_nrs(op: OpSpec, plan: SavedFormulas) -> Iterator[tuple[str, int | None]]:
    """Each slot with an output of an op that has several, and its number among those that carry
    a gradient."""
    names = differentiable_outputs(op)
    for saved in plan.saved:
        if saved.source == "output" and len(op.signature.outputs) > 1:
            yield saved.slot, names.index(saved.name) if saved.name in names else None


def _for_absent(op: OpSpec, plan: SavedFormulas, context: ModuleContext) -> SavedFormulas:
    """The formulas for any part of the gradients of several outputs."""
    if not has_several_outputs(op):
        return plan
    kinds, resolver = kinds_in_vjp(op), context.resolver
    is_list = op.signature.outputs[0].type.is_list
    grads = [f"grad_{name}" for name in differentiable_outputs(op)]
    formulas = []
    for names, formula in plan.formulas:
        if is_list:
            grads = [item for item, _ in items_of(formula.block, "grads") or ()]
        unsure = dict.fromkeys(grads)
        if unsure:
            formula = without_absent(
                formula, unsure, kinds, resolver, answers=len(names), one_is_there=not is_list
            )
        formulas.append((names, formula))
    return dataclasses.replace(plan, formulas=tuple(formulas))


def has_several_outputs(op: OpSpec) -> bool:
    """Return whether the node is handed a list of gradients."""
    return op.signature.outputs[0].type.is_list or len(differentiable_outputs(op)) > 1


def kinds_in_vjp(op: OpSpec) -> dict[str, Kind]:
    """The kinds of all names that a VJP formula may use."""
    kinds = kinds_of_params(op.signature) | {"grad": "tensor", "grads": "tensors"}
    kinds |= {f"grad_{output.name}": "tensor" for output in op.signature.outputs}
    derived: dict[str, Kind] = {}
    for param in op.signature.tensor_params:
        shape = "any" if param.type.is_list else "ints"
        for between in ("_", "__"):
            name = f"{param.name}{between}"
            derived |= {f"{name}shape": shape, f"{name}ndim": "int", f"{name}dtype": "dtype"}
    return derived | kinds


_LOADS = "= node.options"
"""Behind the names of options, one for each and `_` for those that are not read."""


def _load_options(names: list[str]) -> str:
    """The line that gets options back; empty where none is read."""
    read = [name for name in names if name != "_"]
    if len(read) > 1:
        return f"{', '.join(names)} = node.{OPTIONS}"
    return f"{read[0]} = node.{OPTIONS}[{names.index(read[0])}]" if read else ""


def _may_give_none(block: ir.Block) -> bool:
    """Return whether a formula gives None for a gradient: a derivative that is zero."""
    return any(_is_none(found.value) for found in walk(block) if isinstance(found, ir.Return))


def _is_none(value: ir.Expr) -> bool:
    match value:
        case ir.Const(value=None):
            return True
        case ir.Sequence(items=items):
            return any(map(_is_none, items))
        case ir.Conditional(then=then, otherwise=otherwise):
            return _is_none(then) or _is_none(otherwise)
        case _:
            return False


class _Body:
    """The lines of `apply` or of `apply_differentiable`."""

    def __init__(
        self,
        op: OpSpec,
        plan: SavedFormulas,
        context: ModuleContext,
        *,
        on_tensors: bool,
    ) -> None:
        self.op = op
        self.context = context
        self.on_tensors = on_tensors
        self.wanted = op.recorded_params
        self.plan = dataclasses.replace(plan, formulas=self._ready(plan))

    def lines(self) -> list[str]:
        """Return all lines."""
        return self._without_idle_loads(self._all_lines())

    def _without_idle_loads(self, lines: list[str]) -> list[str]:
        """Less what one of the two paths only loads: kernels take fewer arguments than ops do."""
        read = set(re.findall(r"\w+", "\n".join(x for x in lines if not x.endswith(_LOADS))))
        kept = []
        for line in lines:
            if line.endswith(_LOADS):
                start, names = len(line) - len(line.lstrip()), line.strip().split(", ")[:-1]
                line = " " * start + _load_options([n if n in read else "_" for n in names])
            if line.strip():
                kept.append(line)
        return kept

    def _all_lines(self) -> list[str]:
        op, wanted = self.op, self.wanted
        has_lists = has_list_inputs(op)
        lines = ["needs = by_argument(needs, node.input_counts)"] if has_lists else []
        lines += [*self._unimplemented(), *self._open()]
        lines += self._load_all(s for s in self.plan.saved if set(wanted) <= set(s.wanted_by))
        is_list = any(p.type.is_list for p in op.signature.params if p.name in wanted)
        if is_list and not has_lists:
            return lines + self._render(*self.plan.formulas[0], "return tuple({})")
        if len(wanted) == 1 and self.plan.formulas and not reduced_params(op):
            return lines + self._render(*self.plan.formulas[0], "return ({},)")
        lines.append(" = ".join(f"grad_{name}" for name in wanted) + " = None")
        for names, formula in self.plan.formulas:
            lines += self._gradient(names, formula)
        answer = ", ".join(f"grad_{name}" for name in wanted)
        answer = f"({answer}{',' if len(wanted) == 1 else ''})"
        return [
            *lines,
            f"return spread({answer}, node.input_counts)" if has_lists else f"return {answer}",
        ]

    def _ready(self, plan: SavedFormulas) -> tuple[tuple[tuple[str, ...], Formula], ...]:
        """The formulas, in which what derived ones say several times has a name."""
        op, resolver = self.op, self.context.resolver
        kinds = kinds_in_vjp(op)
        formulas = plan.formulas
        if self.on_tensors:
            grads = {"grad", *(f"grad_{output.name}" for output in op.signature.outputs)}
            formulas = tuple(
                (names, with_safe_branches(formula, kinds, grads, resolver))
                for names, formula in formulas
            )
        if has_several_outputs(op) or not all(f.is_derived for _, f in formulas):
            return formulas
        return tuple(made_once(formulas, kinds, resolver))

    def _unimplemented(self) -> Iterator[str]:
        """Raise where a gradient is needed that the table has no formula for."""
        for position, name in enumerate(self.wanted):
            rule = self.op.rule(name)
            if isinstance(rule, NotImplementedYet):
                of = next(p.public for p in self.op.signature.params if p.name == name)
                words = (self.op.signature.name.lstrip("_"), of, rule.reason)
                yield f"if needs[{position}]:"
                yield f"    raise no_derivative({', '.join(map(repr, words))})"

    def _open(self) -> Iterator[str]:
        """The gradients of several outputs, by name; None for unused ones."""
        if not has_several_outputs(self.op) or not self.plan.formulas:
            return
        read = set().union(*(free_names(rule.block) for _, rule in self.plan.formulas))
        if not self.op.signature.outputs[0].type.is_list:
            named = [f"grad_{name}" for name in differentiable_outputs(self.op)]
            yield f"{', '.join(name if name in read else f'_{name}' for name in named)} = grad"
        elif any(items_of(rule.block, "grads") is None for _, rule in self.plan.formulas):
            # Whole lists are put together, and not multiplied.
            fill = "materialize_tensors" if self.on_tensors else "materialize"
            yield f"grads = {fill}(grad, node.output_shapes)"
        else:
            yield "grads = grad"

    def _gradient(self, names: tuple[str, ...], formula: Formula) -> Iterator[str]:
        """One formula, under the condition that its gradient is needed."""
        needs = " or ".join(f"needs[{self.wanted.index(name)}]" for name in names)
        partial = (s for s in self.plan.saved if not set(self.wanted) <= set(s.wanted_by))
        body = self._load_all(s for s in partial if set(names) & set(s.wanted_by))
        body += self._render(names, formula, ", ".join(f"grad_{name}" for name in names) + " = {}")
        may_be_none = _may_give_none(formula.block)
        for name in names:
            body += self._reduce(name, is_joint=len(names) > 1, may_be_none=may_be_none)
        if set(names) == set(self.wanted):
            yield from body
        else:
            yield f"if {needs}:"
            yield from ("    " + line for line in body)

    def _reduce(self, name: str, *, is_joint: bool, may_be_none: bool) -> Iterator[str]:
        """Bring a gradient to its argument's shape and dtype, if it was asked for and is there."""
        if name not in reduced_params(self.op):
            return
        shape = f"node.{slot('shape', name)}"
        test = shape
        if may_be_none or has_several_outputs(self.op):
            test = f"grad_{name} is not None and {shape}"
        if is_joint:  # computed also where it is not needed, and so nothing was saved
            yield f"if not needs[{self.wanted.index(name)}]:"
            yield f"    grad_{name} = None"
        reduce = "reduce_to_differentiable" if self.on_tensors else "reduce_to"
        yield f"{'elif' if is_joint else 'if'} {test}:"
        yield f"    grad_{name} = {reduce}(grad_{name}, {shape})"

    def _render(self, names: tuple[str, ...], formula: Formula, result: str) -> list[str]:
        kinds = kinds_in_vjp(self.op)
        if self.on_tensors:
            on_tensors = TensorRenderer(self.context, formula, kinds)
            return self._statements(names, formula, on_tensors, {}, result)
        kept = {s.name for s in self.plan.saved if s.source == "local" and names[0] in s.wanted_by}
        renderer = NumpyRenderer(self.context, formula, kinds | dict.fromkeys(kept, "tensor"))
        first = leading(formula.block)
        unless = {
            made.targets: f"{made.targets[0]} is None"
            for made in first
            if kept.issuperset(made.targets)
        }
        return self._statements(names, formula, renderer, unless, result)

    def _statements(
        self,
        names: tuple[str, ...],
        formula: Formula,
        renderer: FormulaRenderer,
        unless: dict[tuple[str, ...], str],
        result: str,
    ) -> list[str]:
        """A formula, less what is there already: kept by the forward, or from a formula before."""
        lines: list[str] = []
        first = leading(formula.block)
        conditions = (unless.get(a.targets) or self._unasked(names, a) for a in first)
        for condition, group in groupby(zip(conditions, first, strict=True), itemgetter(0)):
            anew = renderer.statements(ir.Block(tuple(made for _, made in group)), "")
            lines += [f"if {condition}:", *("    " + line for line in anew)] if condition else anew
        rest = ir.Block(formula.block.statements[len(first) :], span=formula.block.span)
        return lines + renderer.statements(rest, result)

    def _unasked(self, names: tuple[str, ...], made: ir.Assign) -> str:
        """The condition under which no formula before has made an assignment; "" if none does."""
        before = shared_with(self.plan.formulas, names, made)
        return " and ".join(f"not needs[{self.wanted.index(name)}]" for name in before)

    def _load_all(self, wanted: Iterable[Saved]) -> list[str]:
        """The lines that get saved things back."""
        wanted = list(wanted)
        lines = [line for saved in wanted if not saved.is_option for line in self._load(saved)]
        options = [s.name if s in wanted else "_" for s in self.plan.options]
        return [*lines, ", ".join([*options, _LOADS])] if set(options) - {"_"} else lines

    def _load(self, saved: Saved) -> list[str]:
        """The lines that get one saved thing back, or raise if it is gone or was changed."""
        name, kept = saved.name, f"node.{saved.slot}"
        shown, version = as_written(name), slot("version", name)
        match saved.source:
            case "tensor":
                check = f'check_version(node, "{shown}", {name}, node.{version})'
                if saved.is_optional:
                    lines = [f"if {name} is not None:", f"    {check}"]
                    if not self.on_tensors:
                        lines.append(f"    {name} = {name}.array")
                    return [f"{name} = {kept}", *lines]
                lines = [f"{name} = {kept}", f"if {name}.alias is not None:", f"    {check}"]
                return lines if self.on_tensors else [*lines, f"{name} = {name}.array"]
            case "tensors":
                check = f'check_versions(node, "{shown}", {name}, node.{version})'
                lines = [f"{name} = {kept}", check]
                return lines if self.on_tensors else [*lines, f"{name} = arrays_of({name})"]
            case "local" if self.on_tensors:
                return []  # computed anew, to be differentiated
            case "output" if self.on_tensors:
                return [f"{name} = output_of({self._grad_node_of(name)}, {kept})"]
            case _:
                return [f"{name} = {kept}"]

    def _grad_node_of(self, output: str) -> str:
        """The node of a saved output; None for one that carries no gradient."""
        names = differentiable_outputs(self.op)
        if output not in names:
            return "None"
        if not has_several_outputs(self.op):
            return "node"
        return f"OutputNode(node, {names.index(output)})"
