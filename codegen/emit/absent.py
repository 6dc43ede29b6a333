"""Leave absent tangents and cotangents out of formulas: no zeros stand for an absent one.

A JVP is linear in the tangents, a VJP in the cotangents of the outputs. Where there are several of
them some may be absent, and then `inf * 0` must not make `nan` of a derivative that exists. So a
formula is rewritten: a part that is made of absent things only is absent itself, and a sum is what
is left of it.

    self_t * other + other_t * self

    add_present(
        None if self_t is None else self_t * other,
        None if other_t is None else other_t * self,
    )

A call in which several of them stand, as in `scatter(self_t, dim, index, src_t)`, gets zeros for an
absent one. It must be an op that only puts elements in their places: one that is its own JVP.
Anything else is refused, as it has no meaning where a part is absent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from ..diagnostics import Diagnostic, SpecError
from ..ir import nodes as ir
from ..ir.parts import is_linear_at, parts_of, with_parts
from ..ir.walk import names
from ..render.resolve import HELPERS, Kind, Resolver, Target
from ..spec.model import AutoLinear, Formula, OpSpec

_Node = TypeVar("_Node", bound=ir.Node)

_NONE = ir.Const(None)
_HELP = (
    "write the formula as a sum of products and calls with one tangent (or gradient) each; only "
    "an op that is its own JVP may take several"
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a formula, rewritten; `absent` is None if it depends on nothing that may be."""

    expr: ir.Expr
    absent: ir.Expr | None = None
    """The test whether it is absent."""
    needs: frozenset[str] = frozenset()
    """Names of which any one makes it present."""
    is_safe: bool = True
    """True if `expr` is None where the part is absent; otherwise it must not be computed then."""
    is_asked: bool = False
    """True if it asks for the shape or the dtype alone of what may be absent: `grad.dtype`."""


def without_absent(
    formula: Formula,
    unsure: Mapping[str, ir.Expr | None],
    kinds: Mapping[str, Kind],
    resolver: Resolver,
    *,
    answers: int = 1,
    one_is_there: bool = True,
) -> Formula:
    """The formula for any part of its linear arguments.

    `unsure` maps each of these to what it is a tangent of, for zeros of that shape; None where
    that is not known. A list of which one item is used is called `grads[0]`; a whole list is filled
    with zeros. What comes out, `answers` values, is None if it depends on absent ones only.
    SpecError if the formula cannot be taken apart.
    """
    if len(unsure) == 1 and one_is_there:
        return formula
    primals = {name: primal for name, primal in unsure.items() if primal is not None}
    block = _asking_primals(formula.block, primals)
    rewriting = _Rewriting(formula, unsure, kinds, resolver, answers, one_is_there)
    statements = rewriting.suite(block.statements)
    return dataclasses.replace(formula, block=ir.Block(statements, span=formula.block.span))


class _Rewriting:
    """One formula, statement by statement."""

    def __init__(
        self,
        formula: Formula,
        unsure: Mapping[str, ir.Expr | None],
        kinds: Mapping[str, Kind],
        resolver: Resolver,
        answers: int,
        one_is_there: bool,
    ) -> None:
        self._formula = formula
        self._answers = answers
        self._unsure = unsure
        self._all = frozenset(unsure) | (frozenset() if one_is_there else {""})
        """One of these is there: that which has no name is none of the formula's."""
        self._kinds = dict(kinds)
        self._resolver = resolver
        self._locals: dict[str, frozenset[str]] = {}
        """The locals that may be absent, and what is enough for each to be there."""
        self._answered: set[str] = set()
        """Those of them that are shapes and dtypes."""

    # ---- statements

    def suite(self, statements: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """The statements, in which locals may be None."""
        made: list[ir.Stmt] = []
        for statement in statements:
            match statement:
                case ir.Assign():
                    made.append(self._assign(statement))
                case ir.Return(value):
                    part = self._part(value)
                    returned = self._settled(part)
                    if self._answers > 1 and not isinstance(value, ir.Sequence):
                        returned = self._unpackable(part, self._answers)
                    made.append(dataclasses.replace(statement, value=returned))
                case ir.If(test, then, otherwise):
                    self._refuse_if_unsure(test)
                    made.append(self._branches(statement, then, otherwise))
        return tuple(made)

    def _assign(self, statement: ir.Assign) -> ir.Assign:
        targets, value = statement.targets, statement.value
        if len(targets) == 1:
            parts = [self._part(value)]
            new = self._settled(parts[0])
        elif isinstance(value, ir.Sequence) and len(value.items) == len(targets):
            parts = [self._part(item) for item in value.items]
            new = dataclasses.replace(value, items=tuple(map(self._settled, parts)))
        else:
            parts = [self._part(value)] * len(targets)
            new = self._unpackable(parts[0], len(targets))
        kinds = self._resolver.kinds(value, len(targets), self._kinds)
        self._kinds |= dict(zip(targets, kinds, strict=True))
        for target, part in zip(targets, parts, strict=True):
            self._locals.pop(target, None)
            self._answered.discard(target)
            if not self._is_there(part):
                self._locals[target] = part.needs
                self._answered |= {target} if part.is_asked else set()
            elif part.absent is not None:
                self._locals[target] = self._all
        return dataclasses.replace(statement, value=new)

    def _branches(
        self, statement: ir.If, then: tuple[ir.Stmt, ...], otherwise: tuple[ir.Stmt, ...]
    ) -> ir.If:
        before, kinds = dict(self._locals), dict(self._kinds)
        then = self.suite(then)
        after_then, self._locals = self._locals, before
        self._kinds = kinds | self._kinds
        otherwise = self.suite(otherwise)
        for name in after_then.keys() | self._locals.keys():
            sides = (after_then.get(name, self._all), self._locals.get(name, self._all))
            self._locals[name] = sides[0] & sides[1]
        return dataclasses.replace(statement, then=then, otherwise=otherwise)

    # ---- expressions

    def _part(self, expr: ir.Expr) -> _Part:
        match expr:
            case ir.Name(name) if name in self._unsure or name in self._locals:
                return self._named(expr)
            case ir.Subscript(ir.Name(name), ir.Const(position)) if f"{name}[{position}]" in (
                self._unsure
            ):
                needs = frozenset({f"{name}[{position}]"})
                return _Part(expr, ir.Compare("is", expr, _NONE), needs)
            case ir.Binary("+" | "-", left, right):
                return self._sum(expr, self._part(left), self._part(right))
            case ir.Conditional():
                return self._conditional(expr)
            case ir.Sequence(items):
                return self._sequence(expr, items)
        is_call = isinstance(expr, ir.Call)
        parts = {
            place: self._listed(child) if is_call else self._part(child)
            for place, child in parts_of(expr).items()
        }
        unsure = {place: part for place, part in parts.items() if _is_unsure(part)}
        if not unsure:
            return _Part(expr)
        if _is_question(expr) and len(unsure) == 1:
            ((place, part),) = unsure.items()
            asked = with_parts(expr, {place: part.expr})
            return dataclasses.replace(part, expr=asked, is_safe=False, is_asked=True)
        if all(part.is_asked for part in unsure.values()):
            return self._of_answers(expr, tuple(unsure.values()))
        unsure = _without_answers(unsure)
        if isinstance(expr, ir.Call) and expr.function not in HELPERS:
            return self._call(expr, unsure)
        if len(unsure) > 1 or not is_linear_at(expr, *unsure):
            self._refuse(expr)
        ((place, part),) = unsure.items()
        return self._around(expr, {place: part.expr}, part)

    def _named(self, name: ir.Name) -> _Part:
        needs = self._locals.get(name.id, frozenset({name.id}))
        test = ir.Compare("is", name, _NONE)
        primal = self._unsure.get(name.id)
        if primal is not None and self._kinds.get(name.id) == "tensors":
            return _Part(ir.Call("?fill", (name, primal)), test, needs, is_safe=False)
        return _Part(name, test, needs, is_asked=name.id in self._answered)

    def _of_answers(self, expr: ir.Expr, parts: tuple[_Part, ...]) -> _Part:
        """Combine parts of which only shapes and dtypes are read; all must be present together."""
        first, *others = parts
        if any(part.needs != first.needs for part in others):
            self._refuse(expr)
        return dataclasses.replace(first, expr=expr, is_safe=False)

    def _around(self, expr: ir.Expr, values: dict[str, ir.Expr], part: _Part) -> _Part:
        """Something linear of one part: absent where that is."""
        return _Part(with_parts(expr, values), part.absent, part.needs, is_safe=False)

    def _sum(self, expr: ir.Binary, left: _Part, right: _Part) -> _Part:
        if not _is_unsure(left) and not _is_unsure(right):
            return _Part(expr)
        asked = tuple(part for part in (left, right) if part.is_asked)
        if asked and all(part.is_asked or not _is_unsure(part) for part in (left, right)):
            return self._of_answers(expr, asked)
        if not (_is_unsure(left) and _is_unsure(right)):
            self._refuse(expr)
        operands = (self._settled(left), self._settled(right))
        if self._is_there(left) and self._is_there(right):
            made: ir.Expr = dataclasses.replace(expr, left=operands[0], right=operands[1])
        else:
            made = ir.Call("?add" if expr.op == "+" else "?subtract", operands, span=expr.span)
        return _Part(made, _both((left, right)), left.needs | right.needs)

    def _conditional(self, expr: ir.Conditional) -> _Part:
        self._refuse_if_unsure(expr.test)
        then, otherwise = self._part(expr.then), self._part(expr.otherwise)
        if not _is_unsure(then) and not _is_unsure(otherwise):
            return _Part(expr)
        made = dataclasses.replace(
            expr, then=self._settled(then), otherwise=self._settled(otherwise)
        )
        sides = (then, otherwise)
        tests = [ir.Const(p.expr == _NONE) if p.absent is None else p.absent for p in sides]
        sure = [frozenset() if p.expr == _NONE else self._all for p in sides]
        needs = [p.needs if _is_unsure(p) else there for p, there in zip(sides, sure, strict=True)]
        test = tests[0] if tests[0] == tests[1] else ir.Conditional(expr.test, *tests)
        return _Part(made, test, needs[0] & needs[1])

    def _sequence(self, expr: ir.Sequence, items: tuple[ir.Expr, ...]) -> _Part:
        """A tuple that is returned: each of its items may be absent by itself."""
        parts = [self._part(item) for item in items]
        if not any(map(_is_unsure, parts)):
            return _Part(expr)
        made = dataclasses.replace(expr, items=tuple(map(self._settled, parts)))
        tests = [p for p in parts if _is_unsure(p)]
        return _Part(made, _both(tests), self._all, is_safe=True)

    def _listed(self, arg: ir.Expr) -> _Part:
        """An argument; a list is absent as a whole, or refused."""
        if not isinstance(arg, ir.Sequence):
            return self._part(arg)
        parts = [self._part(item) for item in arg.items]
        unsure = [part for part in parts if _is_unsure(part)]
        if not unsure:
            return _Part(arg)
        made = dataclasses.replace(arg, items=tuple(part.expr for part in parts))
        if all(map(self._is_there, unsure)):
            return _Part(made, _both(unsure), self._all, is_safe=False)
        if any(part.absent != unsure[0].absent for part in unsure):
            self._refuse(arg)
        is_asked = all(part.is_asked for part in unsure)
        return _Part(made, unsure[0].absent, unsure[0].needs, is_safe=False, is_asked=is_asked)

    def _call(self, call: ir.Call, unsure: dict[str, _Part]) -> _Part:
        """Rewrite a call: linear in one part, as the proof shows; a placement of several."""
        first, *others = unsure.values()
        if not others:
            return self._around(call, {place: part.expr for place, part in unsure.items()}, first)
        places = tuple(unsure.values())
        whole = _Part(call, _both(places), frozenset().union(*(p.needs for p in places)))
        target = self._resolver.target(call, self._kinds, self._formula.locate(call.span))
        if all(part.absent == first.absent for part in others):
            values = {place: part.expr for place, part in unsure.items()}
        elif not is_placement(target.op, self._given(target, unsure, call)):
            self._refuse(call)
        else:
            values = {place: self._or_zeros(target, part, call) for place, part in unsure.items()}
        return self._around(call, values, whole)

    def _given(self, target: Target, unsure: dict[str, _Part], call: ir.Call) -> set[str]:
        """The parameters that unsure arguments are given for."""
        children = parts_of(call)
        return {
            name
            for name, arg in target.args.items()
            if any(arg is children[place] for place in unsure)
        }

    def _or_zeros(self, target: Target, part: _Part, call: ir.Call) -> ir.Expr:
        """A part that is put in its places; what is absent leaves zeros there."""
        if self._is_there(part):
            return part.expr
        if target.op.signature.name == "where":
            if part.is_safe:
                return ir.Call("?or_zero", (part.expr,))
            assert part.absent is not None
            return ir.Conditional(_negated(part.absent), part.expr, ir.Const(0))
        primal = self._unsure.get(part.expr.id) if isinstance(part.expr, ir.Name) else None
        if primal is None:
            self._refuse(call)
        return ir.Call("?fill", (part.expr, primal))

    # ---- what is there, and what is not

    def _is_there(self, part: _Part) -> bool:
        return part.absent is None or part.needs == self._all

    def _settled(self, part: _Part) -> ir.Expr:
        """The part as a value: None where it is absent."""
        if part.is_safe or self._is_there(part):
            return part.expr
        return _if_absent(part, _NONE)

    def _unpackable(self, part: _Part, count: int) -> ir.Expr:
        """The part as a number of values: each None where it is absent."""
        if self._is_there(part):
            return part.expr
        return _if_absent(part, ir.Sequence((_NONE,) * count))

    def _refuse_if_unsure(self, test: ir.Expr) -> None:
        if any(n.id in self._unsure or n.id in self._locals for n in names(test)):
            self._refuse(test)

    def _refuse(self, expr: ir.Expr) -> NoReturn:
        where = self._formula.locate(expr.span)
        message = "this has no meaning where one of several tangents or gradients is absent"
        raise SpecError([Diagnostic("GS073", where, message, _HELP)])


def _asking_primals(node: _Node, primals: Mapping[str, ir.Expr]) -> _Node:
    """A copy that asks the primals for shapes and dtypes, which are those of the tangents."""
    match node:
        case ir.Attribute(ir.Name(name)) if name in primals:
            return dataclasses.replace(node, value=primals[name])
        case ir.Call(function, (ir.Name(name),)) if function in HELPERS and name in primals:
            return dataclasses.replace(node, args=(primals[name],))

    def copied(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(copied, value))
        return _asking_primals(value, primals) if isinstance(value, ir.Node) else value

    fields = [field.name for field in dataclasses.fields(node) if field.name != "span"]
    return dataclasses.replace(node, **{name: copied(getattr(node, name)) for name in fields})


def is_placement(op: OpSpec, given: Iterable[str]) -> bool:
    """Return whether an op only places elements of these arguments: it is its own JVP in them."""
    if len(op.jvps) != 1 or not set(op.differentiable_params) <= set(given):
        return False
    rule = op.jvps[0][1]
    if isinstance(rule, AutoLinear):
        return True
    call = rule.block.expression if isinstance(rule, Formula) else None
    if not isinstance(call, ir.Call) or call.function != op.signature.name:
        return False
    return {ir.Name(f"{name}_t") for name in op.differentiable_params} <= set(call.args)


def _is_unsure(part: _Part) -> bool:
    return part.absent is not None


def _is_question(expr: ir.Expr) -> bool:
    """Return whether an expression asks something of a tensor that its elements do not decide."""
    return isinstance(expr, ir.Attribute) or (
        isinstance(expr, ir.Call) and expr.function in HELPERS
    )


def _without_answers(unsure: dict[str, _Part]) -> dict[str, _Part]:
    """Parts without those that ask for the shape or the dtype of another: both are absent then."""
    others = [part.needs for part in unsure.values() if not part.is_asked]
    return {
        place: part
        for place, part in unsure.items()
        if not part.is_asked or not any(needs <= part.needs for needs in others)
    }


def _if_absent(part: _Part, nothing: ir.Expr) -> ir.Expr:
    assert part.absent is not None
    return ir.Conditional(part.absent, nothing, part.expr)


def _both(parts: Iterable[_Part]) -> ir.Expr:
    """The test whether all parts are absent."""
    tests: list[ir.Expr] = []
    for part in parts:
        test = ir.Const(False) if part.absent is None else part.absent
        more = test.operands if isinstance(test, ir.Logic) and test.op == "and" else (test,)
        tests += [each for each in more if each not in tests]
    return tests[0] if len(tests) == 1 else ir.Logic("and", tuple(tests))


def _negated(test: ir.Expr) -> ir.Expr:
    if isinstance(test, ir.Compare) and test.op == "is":
        return dataclasses.replace(test, op="is not")
    return ir.Unary("not", test)
