"""The rules of one step: gradients and tangents of what an operator or an op computes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any

from ..emit.absent import is_placement
from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Conditional,
    Const,
    Expr,
    If,
    Name,
    Return,
    Sequence,
    Stmt,
    Subscript,
    Unary,
)
from ..ir.simplify import simplify
from ..ir.walk import names, substitute, with_parts
from ..spec.model import (
    AutoElementwise,
    AutoLinear,
    Formula,
    NotImplementedYet,
    OpSpec,
)
from ..spec.scope import gradient_names
from .program import Flattener
from .steps import Step, depends
from .terms import (
    ABSENT,
    NoDerivative,
    added,
    conjugated,
    negative,
    of_reals,
    pruned,
    times,
)


class Rules:
    """Gradients and tangents of steps; what they compute on the way becomes a local."""

    def __init__(
        self,
        flattener: Flattener,
        moving: set[str],
        bind: Callable[[str, Expr], Expr],
    ) -> None:
        """`moving` are the values that depend on what is differentiated by."""
        self._flattener = flattener
        self._program = flattener.program
        self._moving = moving
        """The values that depend on what is differentiated by."""
        self._is_complex = flattener.conditions.has_complex
        self._bind = bind
        """Give a value a name, and return what stands for it."""

    # ---- gradients

    def pull(self, step: Step, grads: Mapping[str, Expr]) -> Iterator[tuple[Name, Expr]]:
        """Yield each name that a step reads, with the gradient that it gets from the step.

        That of an elementwise step has the shape of the gradient of its result.
        """
        if step.op is None:
            yield from self._pull_operator(step, grads[step.targets[0]])
        else:
            yield from self._pull_op(step, step.op, grads)

    def _pull_operator(self, step: Step, grad: Expr) -> Iterator[tuple[Name, Expr]]:
        for operand, gradient in self._of_operands(step, grad):
            if isinstance(operand, Name) and operand.id in self._moving:
                yield operand, pruned(gradient, self._flattener.is_optional)

    def _of_operands(self, step: Step, grad: Expr) -> list[tuple[Expr, Expr]]:
        """Each operand of an operator with its gradient."""
        match step.value:
            case Unary("-", operand):
                return [(operand, negative(grad))]
            case Binary("+", left, right):
                return [(left, grad), (right, grad)]
            case Binary("-", left, right):
                return [(left, grad), (right, negative(grad))]
            case Binary("*", left, right) if left == right:
                return [(left, Binary("*", times(2, grad), self._conj(left)))]
            case Binary("*", left, right):
                gradients = (Binary("*", grad, self._conj(side)) for side in (right, left))
                return list(zip((left, right), gradients, strict=True))
            case Binary("/", left, right):
                share = Binary("/", grad, self._conj(right))
                quotient = self._conj(Name(step.targets[0]))
                return [(left, share), (right, negative(Binary("*", share, quotient)))]
            case Binary("@", left, right):
                return [
                    (left, Call("_matmul_left", (grad, left, right))),
                    (right, Call("_matmul_right", (grad, left, right))),
                ]
        raise NoDerivative("an operator has no rule")

    def _conj(self, expr: Expr) -> Expr:
        return expr if self._is_real(expr) else conjugated(expr)

    def _is_real(self, expr: Expr) -> bool:
        return not self._is_complex or self._flattener.conditions.is_complex(expr) is False

    def in_field_of(self, value: Expr, gradient: Expr) -> Expr:
        """A gradient of a value, which is real if that is."""
        if gradient == ABSENT or self._is_real(gradient) or not self._is_real(value):
            return gradient
        return Call("real", (gradient,))

    def _pull_op(
        self, step: Step, op: OpSpec, grads: Mapping[str, Expr]
    ) -> Iterator[tuple[Name, Expr]]:
        names = {
            name: grads.get(target, ABSENT) for name, target in self._gradients(op, step).items()
        }
        for params, rule in op.vjps:
            wanted = [p for p in params if depends(step.args[p], self._moving)]
            if not wanted:
                continue
            if isinstance(rule, NotImplementedYet):
                raise NoDerivative(f"`{op.name}` has no derivative by `{wanted[0]}`")
            if not isinstance(rule, Formula):
                raise NoDerivative(f"`{op.name}` depends on `{wanted[0]}`, but has no gradient")
            found = self._inlined(rule.block, self._values(step, op) | names)
            gradients = (found,) if len(params) == 1 else _items(found, len(params))
            for param, gradient in zip(params, gradients, strict=True):
                if param in wanted and gradient != ABSENT:
                    yield from self._to_names(step, op, param, gradient)

    def _gradients(self, op: OpSpec, step: Step) -> dict[str, str]:
        """The value that each gradient in the rules of an op is one of."""
        outputs = [o.name for o in op.signature.outputs]
        places = {f"grad_{name}": step.targets[k] for k, name in enumerate(outputs)}
        first = op.differentiable_outputs[0].name
        for name in {"grad", "grads"} & {*gradient_names(op)}:
            places[name] = step.targets[outputs.index(first)]
        return places

    def _to_names(
        self, step: Step, op: OpSpec, param: str, gradient: Expr
    ) -> Iterator[tuple[Name, Expr]]:
        """A gradient of an argument, which may be a list of names, for each of them."""
        given = step.args[param]
        if isinstance(given, Name):
            yield given, gradient
            return
        if not isinstance(given, Sequence):
            raise NoDerivative(f"`{op.name}` is given an expression for `{param}`")
        parts = gradient if isinstance(gradient, Sequence) else self._bind("parts", gradient)
        for number, item in enumerate(given.items):
            if isinstance(item, Name) and item.id in self._moving:
                part = (
                    parts.items[number]
                    if isinstance(parts, Sequence)
                    else Subscript(parts, Const(number))
                )
                yield item, part

    def _values(self, step: Step, op: OpSpec) -> dict[str, Expr]:
        """The values of the names that the rules of an op read, but for gradients and tangents."""
        outputs = [o.name for o in op.signature.outputs]
        bounded = self._program.bounded
        targets = [bounded.get(target, target) for target in step.targets]
        results = {name: Name(targets[k]) for k, name in enumerate(outputs)}
        return {**step.args, **results}

    # ---- tangents

    def push(self, step: Step, tangents: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """The tangents of what a step computes."""
        if step.op is None:
            return (self._push_operator(step, tangents),)
        return tuple(self._push_op(step, step.op, tangents, k) for k in range(len(step.targets)))

    def _push_operator(self, step: Step, tangents: Mapping[str, Expr]) -> Expr:
        def of(operand: Expr) -> Expr:
            return tangents.get(operand.id, ABSENT) if isinstance(operand, Name) else ABSENT

        result = Name(step.targets[0])
        match step.value:
            case Unary("-", operand):
                found: Expr = negative(of(operand))
            case Binary("+" | "-" as op, left, right):
                moved = [of(left), of(right) if op == "+" else negative(of(right))]
                found = added(
                    [
                        self._as_large(t, o, result)
                        for t, o in zip(moved, (left, right), strict=True)
                    ]
                )
            case Binary("*", left, right) if left == right:
                found = ABSENT if of(left) == ABSENT else Binary("*", times(2, left), of(left))
            case Binary("*" | "@" as op, left, right):
                found = added(
                    [
                        Binary(op, one, other)
                        for one, other in ((of(left), right), (left, of(right)))
                        if ABSENT not in (one, other)
                    ]
                )
            case Binary("/", left, right):
                moved_by = of(right)
                less = ABSENT if moved_by == ABSENT else negative(Binary("*", result, moved_by))
                top = added([of(left), less])
                found = ABSENT if top == ABSENT else Binary("/", top, right)
            case _:
                raise NoDerivative("an operator has no rule")
        return pruned(found, self._flattener.is_optional)

    def _as_large(self, tangent: Expr, operand: Expr, result: Name) -> Expr:
        """A tangent of one operand alone, which may be smaller than the result."""
        shapes = self._program.shapes
        if tangent == ABSENT or shapes.of(operand) == shapes.of(result):
            return tangent
        return Call("expand", (tangent, Attribute(shapes.first(result), "shape")))

    def _push_op(self, step: Step, op: OpSpec, tangents: Mapping[str, Expr], number: int) -> Expr:
        output = op.signature.outputs[number]
        rule = next((rule for name, rule in op.jvps if name == output.name), None)
        if rule is None:
            return ABSENT
        moving = {p.name: _moved(step.args[p.name], tangents) for p in op.signature.tensor_params}
        match rule:
            case Formula() if _places_several(op):
                return self._pushed_alike(step, op, moving)
            case Formula():
                values = self._values(step, op)
                values |= {f"{name}_p": step.args[name] for name in moving}
                values |= {f"{name}_t": tangent for name, tangent in moving.items()}
                there = {f"{name}_t" for name, tangent in moving.items() if tangent != ABSENT}
                block = _with_zeros(
                    _asking_primals(rule.block, moving.keys()), there, moving.keys()
                )
                return self._inlined(block, values)
            case AutoLinear():
                return self._pushed_alike(step, op, moving)
            case AutoElementwise():
                return self._pushed_by_vjp(step, op, moving)
        raise NoDerivative(f"`{op.name}` has no JVP")

    def _pushed_alike(self, step: Step, op: OpSpec, moving: Mapping[str, Expr]) -> Expr:
        """The op of each tangent, with zeros for the others: any of them may be absent."""
        linear = {name for names, rule in op.vjps if isinstance(rule, Formula) for name in names}
        zeros = {name: _zero(step.args[name]) for name in linear}
        found = []
        for name in moving:
            for tangent in (
                self._one_by_one(moving[name], step.args[name]) if name in linear else ()
            ):
                found.append(_with_args(step, op, {**step.args, **zeros, name: tangent}))
        return added(found)

    def _one_by_one(self, tangent: Expr, given: Expr) -> Iterator[Expr]:
        """A tangent; of a list, the list with each of its tangents alone.

        They are there together, if all of them are made of every tangent that there is.
        """
        if not (isinstance(tangent, Sequence) and isinstance(given, Sequence)):
            if tangent != ABSENT:
                yield tangent
            return
        zeros = tuple(map(_zero, given.items))
        moved = [item for item in tangent.items if item != ABSENT]
        every = {f"{name}_t" for name in self._flattener.op.differentiable_params}
        if all(self._sources(item) == every for item in moved):
            pairs = zip(tangent.items, zeros, strict=True)
            yield Sequence(tuple(zero if item == ABSENT else item for item, zero in pairs))
            return
        for place, item in enumerate(tangent.items):
            if item != ABSENT:
                yield Sequence((*zeros[:place], item, *zeros[place + 1 :]))

    def _sources(self, tangent: Expr) -> frozenset[str]:
        """The tangents of arguments that a tangent is made of."""
        bound = self._flattener.conditions.bound
        found: set[str] = set()
        for name in names(tangent):
            made = bound.get(name.id)
            found |= {name.id} if made is None else self._sources(made)
        return frozenset(each for each in found if each.endswith("_t"))

    def _pushed_by_vjp(self, step: Step, op: OpSpec, moving: Mapping[str, Expr]) -> Expr:
        """The VJP of each argument, with its tangent for the gradient."""
        terms = []
        for params, rule in op.vjps:
            tangent = moving[params[0]]
            if tangent == ABSENT or not isinstance(rule, Formula) or len(params) > 1:
                continue
            given = self._conj(tangent)
            values = self._values(step, op) | {"grad": given}
            term = self._inlined(rule.block, values)
            if term != ABSENT:
                term = self._conj(term)
                terms.append(self._as_large(term, step.args[params[0]], Name(step.targets[0])))
        return added(terms)

    # ---- inlining

    def _inlined(self, block: Block, values: Mapping[str, Expr]) -> Expr:
        """The value of a rule, with the values of its names."""
        found = self._run(block.statements, dict(values))
        if found is None:
            raise NoDerivative("a rule does not return")
        return found

    def _run(self, statements: tuple[Stmt, ...], known: dict[str, Expr]) -> Expr | None:
        for statement in statements:
            match statement:
                case Assign((target,), value):
                    made = self._value(value, known)
                    known[target] = made if _is_short(made) else self._bind(target, made)
                case Assign(targets, value):
                    made = self._value(value, known)
                    items = _items(made, len(targets))
                    known |= dict(zip(targets, items, strict=True))
                case If(test, then, otherwise):
                    chosen = self._flattener.conditions.decided(self._test(test, known))
                    found = self._run(then if chosen else otherwise, known)
                    if found is not None:
                        return found
                case Return(value):
                    found = self._value(value, known)
                    is_zero = isinstance(found, Call) and found.function == "_zero"
                    return ABSENT if is_zero else found
        return None

    def _test(self, test: Expr, known: Mapping[str, Expr]) -> Expr:
        return simplify(self._shaped(substitute(test, known)))

    def _value(self, expr: Expr, known: Mapping[str, Expr]) -> Expr:
        value = self._decided(expr, known)
        value = substitute(value, known)
        value = of_reals(value, self._flattener.conditions.is_complex)
        return pruned(simplify(self._shaped(value)), self._flattener.is_optional)

    def _decided(self, expr: Expr, known: Mapping[str, Expr]) -> Expr:
        """An expression with its conditions on structure decided, where that is known."""
        if isinstance(expr, Conditional):
            test = self._test(expr.test, known)
            goes = self._flattener.conditions.known(test)
            if goes is not None:
                return self._decided(expr.then if goes else expr.otherwise, known)
        decided: Expr = with_parts(expr, lambda part: self._decided(part, known))
        return decided

    def _shaped(self, expr: Expr) -> Expr:
        """An expression with the shapes of values said by those of arguments."""
        if isinstance(expr, Attribute):
            return self._flattener.attribute(expr)
        if isinstance(expr, Call):
            expr = self._without_layouts(expr)
        shaped: Expr = with_parts(expr, self._shaped)
        return shaped

    def _without_layouts(self, call: Call) -> Call:
        """A call without the strides of what is no argument: only given arrays have any."""
        kwargs = tuple(
            (name, value)
            for name, value in call.kwargs
            if not isinstance(value, Attribute)
            or value.name != "strides"
            or self._flattener.is_argument(value.value)
        )
        return call if kwargs == call.kwargs else dataclasses.replace(call, kwargs=kwargs)


def _asking_primals(block: Block, params: Iterable[str]) -> Block:
    """A JVP that asks primals for shapes and dtypes: a tangent may be absent."""
    primals = {f"{name}_t": Name(name) for name in params}

    def asked(node: Any) -> Any:
        match node:
            case Attribute(Name(name), word) if name in primals and word != "meta":
                return Attribute(primals[name], word)
        return with_parts(node, asked)

    found: Block = asked(block)
    return found


def _places_several(op: OpSpec) -> bool:
    """Return whether an op puts elements of several arguments in places: tangents as they are."""
    moving = op.differentiable_params
    return len(moving) > 1 and op.signature.name != "where" and is_placement(op, moving)


def _with_zeros(block: Block, there: Set[str], params: Iterable[str]) -> Block:
    """A JVP whose calls of several tangents get zeros for those that are absent.

    Such an op puts elements in places. A choice by `where` needs no zeros: a number will do.
    """
    zeros = {f"{name}_t": Call("_zero", (Name(name),)) for name in params}

    def filled(node: Any) -> Any:
        node = with_parts(node, filled)
        if isinstance(node, Call) and node.function != "where":
            given = [*node.args, *(value for _, value in node.kwargs)]
            if any(Name(name) in given for name in there):
                absent = {name: zero for name, zero in zeros.items() if name not in there}
                args = tuple(absent.get(a.id, a) if isinstance(a, Name) else a for a in node.args)
                return dataclasses.replace(node, args=args)
        return node

    found: Block = filled(block)
    return found


def _moved(given: Expr, tangents: Mapping[str, Expr]) -> Expr:
    """The tangent of an argument; of a list, that of each item."""
    if isinstance(given, Name):
        return tangents.get(given.id, ABSENT)
    if isinstance(given, Sequence):
        items = tuple(_moved(item, tangents) for item in given.items)
        return ABSENT if all(item == ABSENT for item in items) else Sequence(items)
    return ABSENT


def _zero(given: Expr) -> Expr:
    if isinstance(given, Sequence):
        return Sequence(tuple(map(_zero, given.items)))
    return Call("_zero", (given,))


def _with_args(step: Step, op: OpSpec, values: Mapping[str, Expr]) -> Expr:
    """The call of a step with other arguments."""
    call = step.value
    if not isinstance(call, Call):
        raise NoDerivative("an operator has no rule")
    positional = [p.name for p in op.signature.params if not p.keyword_only]
    args = tuple(values[name] for name, _ in zip(positional, call.args, strict=False))
    return Call(call.function, args, tuple((name, values[name]) for name, _ in call.kwargs))


def _is_short(expr: Expr) -> bool:
    return isinstance(expr, Name | Const) or (
        isinstance(expr, Attribute) and isinstance(expr.value, Name)
    )


def _items(expr: Expr, count: int) -> tuple[Expr, ...]:
    if isinstance(expr, Sequence) and len(expr.items) == count:
        return expr.items
    return tuple(Subscript(expr, Const(number)) for number in range(count))
