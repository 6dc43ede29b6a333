"""The node of an op: its VJP on arrays and on tensors, rendered from one formula; and its JVP."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from itertools import groupby, takewhile
from operator import itemgetter

from ..ir import nodes as ir
from ..ir.walk import free_names, substitute
from ..render.context import ModuleContext, function_name
from ..render.formula import FormulaRenderer
from ..render.resolve import Kind, kinds_of_params
from ..render.to_numpy import NumpyRenderer
from ..render.to_tensor import TensorRenderer
from ..render.to_threads import PointwiseRenderer, is_pointwise
from ..spec.model import AutoElementwise, AutoLinear, Formula, NotImplementedYet, OpSpec
from ..spec.shared_locals import leading, shared_with
from .record import differentiable_outputs, reduced_params
from .saves import Saved, SavedFormulas, beside
from .views import JvpView, NodeView


def node_view(op: OpSpec, name: str, plan: SavedFormulas, context: ModuleContext) -> NodeView:
    """The class of one op's node."""
    slots = [saved.slot for saved in plan.saved]
    slots += [f"_version_{s.name}" for s in plan.saved if s.source in ("tensor", "tensors")]
    several = has_several_outputs(op)
    on_arrays = _Body(op, plan, context, on_tensors=False)
    apply = tuple(on_arrays.lines())
    if several:
        slots += ["_outputs", "output_count"]
    slots += [f"_like_{name}" for name in reduced_params(op)]
    held = ("tensor", "tensors", "output", "local", "beside")
    released = [f"node.{s.slot}" for s in plan.saved if s.source in held]
    return NodeView(
        name=name,
        op=op.name,
        slots=tuple(sorted(slots)),
        release=" = ".join([*released, "FREED"]) if released else "",
        is_pointwise=on_arrays.is_pointwise,
        has_several_outputs=several,
        output_nrs=tuple(_output_nrs(op, plan)),
        apply=apply,
        apply_differentiable=tuple(_Body(op, plan, context, on_tensors=True).lines()),
    )


def _output_nrs(op: OpSpec, plan: SavedFormulas) -> Iterator[tuple[str, int | None]]:
    """Each slot with an output of an op that has several, and its number among those that carry
    a gradient."""
    names = differentiable_outputs(op)
    for saved in plan.saved:
        if saved.source == "output" and len(op.signature.outputs) > 1:
            yield saved.slot, names.index(saved.name) if saved.name in names else None


def has_several_outputs(op: OpSpec) -> bool:
    """Whether the node is handed a list of gradients."""
    return op.signature.outputs[0].type.is_list or len(differentiable_outputs(op)) > 1


def kinds_in_vjp(op: OpSpec) -> dict[str, Kind]:
    """The kinds of all names that a VJP formula may use."""
    kinds = kinds_of_params(op.signature) | {"grad": "tensor", "grads": "tensors"}
    kinds |= {f"grad_{output.name}": "tensor" for output in op.signature.outputs}
    for param in op.signature.tensor_params:
        shape = "any" if param.type.is_list else "ints"
        kinds |= {
            f"{param.name}_shape": shape,
            f"{param.name}_ndim": "int",
            f"{param.name}_dtype": "dtype",
        }
    return kinds


class _Body:
    """The lines of `apply` or of `apply_differentiable`."""

    def __init__(
        self, op: OpSpec, plan: SavedFormulas, context: ModuleContext, *, on_tensors: bool
    ) -> None:
        self.op = op
        self.plan = plan
        self.context = context
        self.on_tensors = on_tensors
        self.wanted = op.differentiable_params
        self.is_pointwise = is_pointwise(op) and all(s.source != "attribute" for s in plan.saved)
        """Whether all lines so far treat every element by itself."""

    def lines(self) -> list[str]:
        """All of them."""
        return self._without_idle_loads(self._all_lines())

    def _without_idle_loads(self, lines: list[str]) -> list[str]:
        """Less what one of the two paths only loads: kernels take fewer arguments than ops do."""
        for saved in self.plan.saved:
            load = f"{saved.name} = node.{saved.slot}"
            word = re.compile(rf"\b{saved.name}\b")
            others = [line for line in lines if line.strip() != load]
            if saved.source == "value" and not any(map(word.search, others)):
                lines = others
        return lines

    def _all_lines(self) -> list[str]:
        op, wanted = self.op, self.wanted
        lines = list(self._open())
        for saved in self.plan.saved:
            if set(wanted) <= set(saved.wanted_by):
                lines += self._load(saved)
        is_list = any(p.type.is_list for p in op.signature.params if p.name in wanted)
        if is_list:
            return lines + self._render(*self.plan.formulas[0], "return tuple({})")
        if len(wanted) == 1 and not reduced_params(op):
            return lines + self._render(*self.plan.formulas[0], "return ({},)")
        lines.append(" = ".join(f"grad_{name}" for name in wanted) + " = None")
        for names, formula in self.plan.formulas:
            lines += self._gradient(names, formula)
        answer = ", ".join(f"grad_{name}" for name in wanted)
        return [*lines, f"return ({answer}{',' if len(wanted) == 1 else ''})"]

    def _open(self) -> Iterator[str]:
        """Zeros for the gradients of outputs that nobody used."""
        if has_several_outputs(self.op):
            fill = "materialize_tensors" if self.on_tensors else "materialize"
            outputs = self.op.signature.outputs
            if outputs[0].type.is_list:
                yield f"grads = {fill}(grad, node._outputs)"
            else:
                read = set().union(*(free_names(rule.block) for _, rule in self.plan.formulas))
                named = [f"grad_{name}" for name in differentiable_outputs(self.op)]
                names = ", ".join(name if name in read else f"_{name}" for name in named)
                yield f"{names} = {fill}(grad, node._outputs)"

    def _gradient(self, names: tuple[str, ...], formula: Formula) -> Iterator[str]:
        """One formula, under the condition that somebody asked for what it gives."""
        needs = " or ".join(f"needs[{self.wanted.index(name)}]" for name in names)
        body: list[str] = []
        for saved in self.plan.saved:
            partial = not set(self.wanted) <= set(saved.wanted_by)
            if partial and set(names) & set(saved.wanted_by):
                body += self._load(saved)
        body += self._render(names, formula, ", ".join(f"grad_{name}" for name in names) + " = {}")
        for name in names:
            body += self._reduce(name)
        if set(names) == set(self.wanted):
            yield from body
        else:
            yield f"if {needs}:"
            yield from ("    " + line for line in body)

    def _reduce(self, name: str) -> Iterator[str]:
        if name in reduced_params(self.op):
            reduce = "reduce_to_differentiable" if self.on_tensors else "reduce_to"
            yield f"if node._like_{name} is not None:"
            yield f"    grad_{name} = {reduce}(grad_{name}, node._like_{name})"

    def _render(self, names: tuple[str, ...], formula: Formula, result: str) -> list[str]:
        kinds = kinds_in_vjp(self.op)
        if self.on_tensors:
            on_tensors = TensorRenderer(self.context, formula, kinds)
            return self._statements(names, formula, on_tensors, {}, result)
        kept = {s.name for s in self.plan.saved if s.source == "local" and names[0] in s.wanted_by}
        reading = PointwiseRenderer if is_pointwise(self.op) else NumpyRenderer
        renderer = reading(self.context, formula, kinds | dict.fromkeys(kept, "tensor"))
        found = beside(self.op)
        if found is not None:
            renderer.beside, argument = found
            renderer.beside_call = f"np_{renderer.beside.name}({argument})"
        first = leading(formula.block)
        known = list(takewhile(lambda made: kept.issuperset(made.targets), first))
        unless = {made.targets: f"{made.targets[0]} is None" for made in known}
        lines = self._statements(names, formula, renderer, unless, result)
        self.is_pointwise &= isinstance(renderer, PointwiseRenderer) and renderer.is_pointwise
        return lines

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

    def _load(self, saved: Saved) -> list[str]:
        """The lines that get one saved thing back, or raise if it is gone or was changed."""
        name, slot = saved.name, f"node.{saved.slot}"
        match saved.source:
            case "tensor":
                check = f'check_version(node, "{name}", {name}, node._version_{name})'
                if saved.is_optional:
                    lines = [f"if {name} is not None:", f"    {check}"]
                    if not self.on_tensors:
                        lines.append(f"    {name} = {name}.array")
                    return [f"{name} = {slot}", *lines]
                lines = [f"{name} = {slot}", f"if {name}.alias is not None:", f"    {check}"]
                return lines if self.on_tensors else [*lines, f"{name} = {name}.array"]
            case "tensors":
                check = f'check_versions(node, "{name}", {name}, node._version_{name})'
                lines = [f"{name} = {slot}", check]
                return lines if self.on_tensors else [*lines, f"{name} = arrays_of({name})"]
            case "local" | "beside" if self.on_tensors:
                return []  # computed anew, to be differentiated
            case "output" if self.on_tensors:
                return [f"{name} = output_of({self._edge_of(name)}, {slot})"]
            case "output" | "local":
                return [f"{name} = {slot}", f"if {name} is FREED:", "    raise freed_graph()"]
            case _:
                return [f"{name} = {slot}"]

    def _edge_of(self, output: str) -> str:
        """The vertex of a saved output; None for one that carries no gradient."""
        names = differentiable_outputs(self.op)
        if output not in names:
            return "None"
        if not has_several_outputs(self.op):
            return "node"
        return f"OutputEdge(node, {names.index(output)})"


def jvp_view(op: OpSpec, context: ModuleContext) -> JvpView | None:
    """The forward-mode rule: tangents of the outputs from primals and tangents of the inputs."""
    if op.composite is not None or not op.jvps or not op.differentiable_params:
        return None
    rules = dict(op.jvps)
    lines: list[str] = []
    answers: list[str] = []
    for output in op.signature.outputs:
        rule = rules.get(output.name)
        match rule:
            case None:
                answers.append("None")
            case AutoLinear():
                answers.append(_linear(op, context))
            case AutoElementwise() | Formula():
                formulas = [rule] if isinstance(rule, Formula) else _elementwise(op)
                target = f"{output.name}_t"
                for position, formula in enumerate(formulas):
                    result = f"{target} = {target} + {{}}" if position else f"{target} = {{}}"
                    found, body = _tangent(op, formula, context, result)
                    lines += [line for line in found if line not in lines] + body
                answers.append(target)
            case NotImplementedYet(reason):
                message = f"forward mode of {op.name} is not implemented: {reason}"
                lines.append(f"raise RuntimeError({message!r})")
    answer = answers[0] if len(answers) == 1 else f"({', '.join(answers)})"
    if lines and lines[-1] == f"{answer} = {lines[-1].partition(' = ')[2]}":
        lines[-1] = f"return {lines[-1].partition(' = ')[2]}"
    elif not (lines and lines[-1].startswith("raise")):
        lines.append(f"return {answer}")
    return JvpView(f"{function_name(op, context.resolver)}_jvp", op.name, tuple(lines))


def _linear(op: OpSpec, context: ModuleContext) -> str:
    """The op itself, of the tangents."""
    words = []
    for param in op.signature.params:
        source = "tangents" if param.name in op.differentiable_params else "primals"
        text = f'{source}["{param.name}"]'
        words.append(f"{param.name}={text}" if param.keyword_only else text)
    return f"{context.function(op)}({', '.join(words)})"


def _elementwise(op: OpSpec) -> list[Formula]:
    """The VJP formulas, each with the tangent of its argument for `grad`: the JVP is their sum."""
    formulas = []
    for names, rule in op.vjps:
        if isinstance(rule, Formula):
            tangent: ir.Expr = ir.Name(f"{names[0]}_t")
            if (
                op.complex
            ):  # the VJP of z -> f(z) is the product with conj(f'), the JVP that with f'
                tangent = ir.Call("conj", (tangent,))
            block = substitute(rule.block, {"grad": tangent})
            assert isinstance(block, ir.Block)
            formulas.append(dataclasses.replace(rule, block=block))
    terms = [f.block.expression for f in formulas if f.block.expression is not None]
    if len(terms) == len(formulas):
        total = functools.reduce(lambda a, b: ir.Binary("+", a, b), terms)
        formulas = [dataclasses.replace(formulas[0], block=ir.Block((ir.Return(total),)))]
    if not op.complex:
        return formulas
    return [
        dataclasses.replace(
            formula, block=ir.Block(_conjugated(formula.block.statements), span=formula.block.span)
        )
        for formula in formulas
    ]


def _conjugated(statements: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """The conjugate of what the statements return."""
    return tuple(
        dataclasses.replace(
            statement,
            then=_conjugated(statement.then),
            otherwise=_conjugated(statement.otherwise),
        )
        if isinstance(statement, ir.If)
        else dataclasses.replace(statement, value=ir.Call("conj", (statement.value,)))
        if isinstance(statement, ir.Return)
        else statement
        for statement in statements
    )


def _tangent(
    op: OpSpec, formula: Formula, context: ModuleContext, result: str
) -> tuple[list[str], list[str]]:
    """The lines that look names up, and those that compute a tangent."""
    kinds = kinds_of_params(op.signature)
    outputs = [o.name for o in op.signature.outputs]
    lookups = []
    free = free_names(formula.block)
    for param in op.signature.params:
        name = param.name
        kinds |= {f"{name}_p": kinds[name], f"{name}_t": kinds[name]}
        if name in free:
            lookups.append(f'{name} = primals["{name}"]')
        if f"{name}_p" in free:
            lookups.append(f'{name}_p = primals["{name}"]')
        if f"{name}_t" in free:
            lookups.append(f'{name}_t = tangents["{name}"]')
    if len(outputs) > 1 and free & set(outputs):
        lookups.append(f"{', '.join(n if n in free else '_' for n in outputs)} = result")
    elif len(outputs) == 1 and outputs[0] in free and outputs[0] != "result":
        lookups.append(f"{outputs[0]} = result")
    renderer = TensorRenderer(context, formula, kinds)
    return lookups, renderer.statements(formula.block, result)
