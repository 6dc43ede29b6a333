"""The forward-mode rule of an op: the tangents of its outputs, of primals and tangents by name."""

from __future__ import annotations

import ast
import dataclasses
import functools
import textwrap
from collections.abc import Callable, Iterable

from ..ir import nodes as ir
from ..ir.parts import items_of
from ..ir.walk import calls, free_names, substitute
from ..render.context import ModuleContext, function_name, is_constant
from ..render.module_names import MODULE_NAMES
from ..render.resolve import Resolver, kinds_of_params
from ..render.to_tensor import TensorRenderer
from ..spec.model import (
    AutoElementwise,
    AutoLinear,
    Constant,
    Formula,
    NotImplementedYet,
    OpSpec,
    Param,
    TangentRule,
    spelled,
)
from .absent import without_absent
from .branches import with_safe_branches
from .repeated import made_once
from .views import BodyView, JvpView


def jvp_view(op: OpSpec, context: ModuleContext) -> JvpView | None:
    """The rule of an op; None where it has none, or nothing to differentiate by."""
    if op.composite is not None or not op.jvps or not op.differentiable_params or linear_in(op):
        return None
    rule = _Body(op, context)
    lines = rule.lines()
    parameters = dict(_parameters(op, lines, rule.free))
    name = f"{function_name(op, context.resolver)}_jvp"
    body = None
    if any(inner != handed for inner, handed in parameters.items()):
        body = BodyView(f"{name}__body", _typed(parameters), ", ".join(parameters.values()))
    return JvpView(name, op.name, _typed(parameters.values()), body, tuple(lines))


def linear_in(op: OpSpec) -> tuple[str, ...]:
    """The arguments of an op whose JVP is the op itself, of their tangents: no rule is emitted."""
    is_linear = all(isinstance(rule, AutoLinear) for _, rule in op.jvps)
    is_linear = is_linear and not any(isinstance(rule, Constant) for _, rule in op.vjps)
    if not is_linear or len(op.jvps) < len(op.signature.outputs) or _is_taken_apart(op):
        return ()
    return op.differentiable_params


def _parameters(op: OpSpec, lines: list[str], free: set[str]) -> Iterable[tuple[str, str]]:
    """Return the arguments, tangents and results that the lines read, and the runtime's names of
    them, by which it hands them over.

    A function of the runtime that the lines call may be called like an argument that no formula
    reads; `free` are the names that these read.
    """
    tree = ast.parse(textwrap.dedent("\n".join(["def rule():", *("    " + x for x in lines)])))
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    read -= {p.name for p in op.signature.params if p.name not in free} & MODULE_NAMES
    params = op.signature.params
    candidates = [
        *((_in_rule(p.name), _handed(p)) for p in params),
        *((f"{p.name}_t", f"{_handed(p)}_t") for p in params),
        ("result", "result"),
    ]
    return (pair for pair in candidates if pair[0] in read)


def _in_rule(param: str) -> str:
    """Return what the rule calls an argument: its name without the mark of reserved words."""
    return param if param == "self" else spelled(param)


def _handed(param: Param) -> str:
    """Return the runtime's name of an argument."""
    return "self" if param.name == "self" else param.public


def _typed(names: Iterable[str]) -> str:
    return ", ".join(f"{name}: Any" for name in names)


class _Body:
    """The lines of one rule."""

    def __init__(self, op: OpSpec, context: ModuleContext) -> None:
        self._op = op
        self._context = context
        self._formulas = {name: tangent_terms(op, rule, context.resolver) for name, rule in op.jvps}
        every = [formula for found in self._formulas.values() for _, formula in found]
        self.free = set().union(*(free_names(formula.block) for formula in every))
        """The names that the formulas read."""
        self._tangents = {
            f"{p.name}_t": p for p in op.signature.tensor_params if f"{p.name}_t" in self.free
        }
        """The tangents that are read, and the arguments they belong to."""
        self._kinds = kinds_of_params(op.signature)
        self._kinds |= {t: self._kinds[p.name] for t, p in self._tangents.items()}

    def lines(self) -> list[str]:
        """Return all lines."""
        op = self._op
        lines = [*self._refusals(), *self._outputs(), *self._lists()]
        answers: list[str] = []
        rules = dict(op.jvps)
        for output in op.signature.outputs:
            match rules.get(output.name):
                case None:
                    answers.append("None")
                case NotImplementedYet(reason):
                    return [*lines, f"raise no_forward_mode({_public(op)!r}, {reason!r})"]
                case _:
                    lines += self._sum(output.name)
                    answers.append(f"{output.name}_t")
        answer = answers[0] if len(answers) == 1 else f"({', '.join(answers)})"
        if lines and lines[-1].startswith(f"{answer} = "):
            return [*lines[:-1], f"return {lines[-1].partition(' = ')[2]}"]
        return [*lines, f"return {answer}"]

    def _refusals(self) -> Iterable[str]:
        """Raise where a derivative is needed that has no formula, or no meaning."""
        for param in self._op.signature.tensor_params:
            rule = self._op.rule(param.name)
            if isinstance(rule, Constant):
                words = (self._op.signature.name.lstrip("_"), param.public, rule.reason)
                yield f"if {param.name}_t is not None:"
                yield f"    raise must_be_constant({', '.join(map(repr, words))})"
            if isinstance(rule, NotImplementedYet) and f"{param.name}_t" not in self._tangents:
                reason = f"by {param.public!r}: {rule.reason}"
                yield f"if {param.name}_t is not None:"
                yield f"    raise no_forward_mode({_public(self._op)!r}, {reason!r})"

    def _outputs(self) -> Iterable[str]:
        """The outputs that are read, by name."""
        outputs = [output.name for output in self._op.signature.outputs]
        if self.free & set(outputs) and outputs != ["result"]:
            names = [name if name in self.free else "_" for name in outputs]
            yield f"{', '.join(names)} = result"

    def _lists(self) -> Iterable[str]:
        """Make absent lists of tangents, of which items are read, lists of absent ones."""
        if len(self._tangents) < 2:
            return
        formulas = [formula for found in self._formulas.values() for _, formula in found]
        for name, param in self._tangents.items():
            if param.type.is_list and any(items_of(f.block, name) for f in formulas):
                yield f"{name} = {name} or [None] * len({_in_rule(param.name)})"

    def _sum(self, output: str) -> list[str]:
        """The tangent of one output."""
        target = f"{output}_t"
        formulas = self._formulas[output]
        if len(formulas) == 1:
            return self._rendered(formulas[0][1], f"{target} = {{}}", list(self._tangents))
        lines = [f"{target} = None"]
        for tangent, formula in formulas:
            result = f"{target} = add_present({target}, {{}})"
            made = self._rendered(formula, result, [tangent])
            lines += [f"if {tangent} is not None:", *("    " + line for line in made)]
        return lines

    def _rendered(self, formula: Formula, result: str, tangents: list[str]) -> list[str]:
        """One formula, in which any of these tangents may be absent, but not all."""
        resolver = self._context.resolver
        unsure: dict[str, ir.Expr] = {}
        has_list = False
        for name in tangents:
            param = self._tangents[name]
            items = items_of(formula.block, name) if param.type.is_list else None
            for item, position in items or ():
                unsure[item] = ir.Subscript(ir.Name(param.name), ir.Const(position))
            if items is None:
                unsure[name] = ir.Name(param.name)
            has_list |= param.type.is_list
        formula = with_safe_branches(formula, self._kinds, self._tangents, resolver)
        formula = without_absent(formula, unsure, self._kinds, resolver, one_is_there=not has_list)
        spelling = {p.name: _in_rule(p.name) for p in self._op.signature.params}
        renderer = TensorRenderer(self._context, formula, self._kinds, spelling)
        return renderer.statements(formula.block, result)


def _public(op: OpSpec) -> str:
    return op.signature.name.lstrip("_")


def tangent_terms(op: OpSpec, rule: TangentRule, resolver: Resolver) -> list[tuple[str, Formula]]:
    """Return the terms of the tangent of an output; if several, each with the tangent it is of.

    Primals go by the names of the arguments.
    """
    if isinstance(rule, AutoElementwise):
        return _elementwise(op, resolver)
    if isinstance(rule, AutoLinear) and _is_taken_apart(op):
        assert op.forward is not None
        tangents: dict[str, ir.Expr] = {n: ir.Name(f"{n}_t") for n in op.differentiable_params}
        return [("", _with(op.forward, tangents))]
    if not isinstance(rule, Formula):
        return []
    primals: dict[str, ir.Expr] = {f"{p.name}_p": ir.Name(p.name) for p in op.signature.params}
    return [("", _with(rule, primals))]


def _is_taken_apart(op: OpSpec) -> bool:
    """Return whether the forward of an op linear in several tensors is a formula of other ops.

    Then its JVP is that formula of the tangents, without those that are absent. A primitive is
    handed zeros for them.
    """
    wanted = [p for p in op.signature.tensor_params if p.name in op.differentiable_params]
    if len(wanted) < 2 or op.forward is None or any(p.type.is_list for p in wanted):
        return False
    return not any("." in call.function for call in calls(op.forward.block))


def _elementwise(op: OpSpec, resolver: Resolver) -> list[tuple[str, Formula]]:
    """The VJP of each argument, with its tangent for `grad`."""
    found = []
    for params, rule in op.vjps:
        if not isinstance(rule, Formula) or rule.block.expression == ir.Const(None):
            continue
        for position, name in enumerate(params):
            tangent: ir.Expr = ir.Name(f"{name}_t")
            if op.complex:
                # The VJP of z -> f(z) is the product with conj(f'), the JVP that with f'.
                tangent = ir.Call("conj", (tangent,))
            of_one = rule if len(params) == 1 else _item(rule, position)
            formula = _with(of_one, {"grad": tangent})
            found.append((f"{name}_t", _conjugated(formula, resolver) if op.complex else formula))
    terms = [f.block.expression for _, f in found if f.block.expression is not None]
    if len(terms) < len(found) or not found:
        return found
    total = functools.reduce(lambda a, b: ir.Binary("+", a, b), terms)
    formula = dataclasses.replace(found[0][1], block=ir.Block((ir.Return(total),)))
    return [("", _made_once(op, formula, resolver))]


def _made_once(op: OpSpec, formula: Formula, resolver: Resolver) -> Formula:
    """The JVP, with names for what its terms compute several times of the arguments alone.

    A branch that is not taken is made safe first: what is named stands in no branch any more.
    """
    kinds = kinds_of_params(op.signature) | {o.name: "tensor" for o in op.signature.outputs}
    tangents = {f"{p.name}_t" for p in op.signature.tensor_params}
    formula = with_safe_branches(formula, kinds, tangents, resolver)
    ((_, made),) = made_once([((), formula)], kinds, resolver, tangents)
    return made


def _with(formula: Formula, values: dict[str, ir.Expr]) -> Formula:
    block = substitute(formula.block, values)
    assert isinstance(block, ir.Block)
    return dataclasses.replace(formula, block=block)


def _item(formula: Formula, position: int) -> Formula:
    """A joint rule, for one of its arguments."""

    def item(value: ir.Expr) -> ir.Expr:
        if isinstance(value, ir.Sequence):
            return value.items[position]
        return ir.Subscript(value, ir.Const(position), span=value.span)

    return returning(formula, item)


def _conjugated(formula: Formula, resolver: Resolver) -> Formula:
    """The formula with the conjugate of what it returns, in which those of factors cancel."""

    def conjugate(value: ir.Expr) -> ir.Expr:
        around = ir.Call("conj", (value,), span=value.span)
        return min(around, inside(value), key=_count_conjugates)

    def inside(value: ir.Expr) -> ir.Expr:
        match value:
            case ir.Call("conj", (operand,)):
                return operand
            case ir.Binary("+" | "-" | "*" | "/", left, right):
                return dataclasses.replace(value, left=inside(left), right=inside(right))
            case ir.Unary("-", operand):
                return dataclasses.replace(value, operand=inside(operand))
            case ir.Conditional(_, then, otherwise):
                then, otherwise = inside(then), inside(otherwise)
                return dataclasses.replace(value, then=then, otherwise=otherwise)
        is_real = is_constant(value, resolver) or value == ir.Const(None)
        return value if is_real else ir.Call("conj", (value,), span=value.span)

    return returning(formula, conjugate)


def _count_conjugates(value: ir.Expr) -> int:
    return sum(call.function == "conj" for call in calls(value))


def returning(formula: Formula, change: Callable[[ir.Expr], ir.Expr]) -> Formula:
    """The formula with something else made of what it returns."""

    def suite(statements: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        return tuple(map(changed, statements))

    def changed(statement: ir.Stmt) -> ir.Stmt:
        if isinstance(statement, ir.If):
            then, otherwise = suite(statement.then), suite(statement.otherwise)
            return dataclasses.replace(statement, then=then, otherwise=otherwise)
        if isinstance(statement, ir.Return):
            return dataclasses.replace(statement, value=change(statement.value))
        return statement

    block = ir.Block(suite(formula.block.statements), span=formula.block.span)
    return dataclasses.replace(formula, block=block)
