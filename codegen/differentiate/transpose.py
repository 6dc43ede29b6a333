"""JVPs from VJPs, and VJPs from JVPs: what is linear is transposed.

A VJP is a linear function of `grad`, and the JVP is its transpose: the gradient of the VJP by
`grad`, with the tangent for what comes back. In the same way a VJP is the gradient of the JVPs by
the tangent. So one half of the rules gives the other where the definition itself cannot be
differentiated, as that by a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..emit.record import reduced_params
from ..ir.nodes import (
    Attribute,
    Binary,
    Block,
    Call,
    Const,
    Expr,
    Name,
    Return,
    Sequence,
    Stmt,
    Subscript,
)
from ..ir.walk import assigned_names
from ..render.masked import with_slopes
from ..render.resolve import Resolver, kind_of_type
from ..spec.model import AutoElementwise, AutoLinear, Formula, NotImplementedYet, OpSpec, Table
from ..spec.scope import gradient_names
from .derivation import Derivation, pulled_back
from .linear import with_shapes_of
from .program import Flattener, kinds_of
from .terms import ABSENT, NoDerivative, negative
from .ways import absent, every_way


def jvp_from_vjps(op: OpSpec, table: Table, output: str) -> Block:
    """The JVP of an output from the VJPs of all arguments that have one. Raises NoDerivative."""
    block, _ = every_way({}, lambda ways: _jvp(op, table, output, ways))
    reason = f"its VJPs are not linear in `{_gradient(op, output)}`"
    return with_shapes_of(block, _shapes_of_gradients(op), table, reason)


def vjp_from_jvps(op: OpSpec, table: Table, param: str) -> Block | None:
    """The VJP of an argument from the JVPs of all outputs; None if none reads its tangent.

    Raises NoDerivative.
    """
    for output in op.differentiable_outputs:
        _tangent_formula(op, output.name)
    assumed = {f"{param} is None": False}
    block, depends = every_way(assumed, lambda ways: _vjp(op, table, param, ways))
    if not depends:
        return None
    alike = {f"{name}_t": name for name in op.differentiable_params}
    reason = f"its JVPs are not linear in `{param}_t`"
    return with_shapes_of(block, alike, table, reason)


def _jvp(
    op: OpSpec, table: Table, output: str, assumed: Mapping[str, bool]
) -> tuple[tuple[Stmt, ...], bool]:
    moving = op.differentiable_params
    grads = gradient_names(op)
    gradient = _gradient(op, output)
    kinds = _kinds(op, grads)
    kinds |= {f"{name}_{end}": kinds[name] for name in moving for end in "pt"}
    alike = {f"{name}_t": f"{name}_p" for name in moving} | _shapes_of_gradients(op)
    none = absent(assumed)
    values: dict[str, Expr] = {name: Name(f"{name}_p") for name in moving} | none
    flattener = Flattener(Resolver(table), kinds, {*grads}, assumed, op, alike)
    own: set[str] = set()
    seeds: list[tuple[Name, Expr]] = []
    for names, rule in op.vjps:
        if not isinstance(rule, Formula) or {*names} <= none.keys():
            continue
        own |= assigned_names(rule.block)
        found = flattener.run(_with_slopes(op, rule.block, grads, table), values)
        if len(found) != len(names):
            raise NoDerivative(f"the gradients of `{', '.join(names)}` cannot be told apart")
        for name, value in zip(names, found, strict=True):
            if name not in none:
                tangent = _as_large(op, flattener, name, value, output)
                seeds += _seeds(value, tangent, name, flattener, {*grads})
    derivation = Derivation(flattener, own)
    gradients = pulled_back(derivation, seeds, {gradient})
    answer, _ = gradients.of(Name(gradient), may_be_larger=False)
    if answer == ABSENT:
        return (Return(Call("_zero", (Name(output),))),), False
    return derivation.block(answer, {}), True


def _vjp(
    op: OpSpec, table: Table, param: str, assumed: Mapping[str, bool]
) -> tuple[tuple[Stmt, ...], bool]:
    moving = op.differentiable_params
    tangents = {f"{name}_t" for name in moving}
    grads = gradient_names(op)
    kinds = _kinds(op, grads)
    kinds |= {f"{name}_t": kinds[name] for name in moving}
    alike = {f"{name}_t": name for name in moving} | _shapes_of_gradients(op)
    values: dict[str, Expr] = {f"{name}_p": Name(name) for name in moving}
    none = absent(assumed)
    values |= none | {f"{name}_p": value for name, value in none.items()}
    flattener = Flattener(Resolver(table), kinds, tangents, assumed, op, alike)
    own: set[str] = set()
    seeds: list[tuple[Name, Expr]] = []
    for output in op.differentiable_outputs:
        block = _tangent_formula(op, output.name)
        own |= assigned_names(block)
        found = flattener.run(_with_slopes(op, block, tangents, table), values)
        value: Expr = found[0] if len(found) == 1 else Sequence(found)
        gradient = Name(_gradient(op, output.name))
        seeds += _seeds(value, gradient, output.name, flattener, tangents)
    derivation = Derivation(flattener, own)
    by = f"{param}_t"
    gradients = pulled_back(derivation, seeds, {by})
    answer, _ = gradients.of(Name(by), may_be_larger=param in reduced_params(op))
    if answer == ABSENT:
        return (Return(Call("_zero", (Name(param),))),), False
    return derivation.block(answer, {}), True


def _gradient(op: OpSpec, output: str) -> str:
    """The name of an output's gradient; that of a list is a list."""
    return f"grad_{output}" if len(op.differentiable_outputs) > 1 else gradient_names(op)[-1]


def _kinds(op: OpSpec, grads: Iterable[str]) -> dict[str, str]:
    outputs = {output.name: kind_of_type(output.type) for output in op.signature.outputs}
    several = "tensors" if "grads" in grads else "tensor"
    return kinds_of(op) | outputs | dict.fromkeys(grads, several)


def _shapes_of_gradients(op: OpSpec) -> dict[str, str]:
    """The output that each gradient is as large as."""
    outputs = op.differentiable_outputs
    if len(outputs) == 1:
        return dict.fromkeys(gradient_names(op), outputs[0].name)
    return {f"grad_{output.name}": output.name for output in outputs}


def _with_slopes(op: OpSpec, block: Block, linear: Iterable[str], table: Table) -> Block:
    """A rule with every branch of a `where` kept where it has a slope; `linear` are left alone."""
    read = {p.name for p in op.signature.tensor_params} | {o.name for o in op.signature.outputs}
    read |= {f"{name}_p" for name in read} | assigned_names(block)
    found: Block = with_slopes(block, read - {*linear}, table)
    return found


def _seeds(
    value: Expr, gradient: Expr, of: str, flattener: Flattener, linear: set[str]
) -> list[tuple[Name, Expr]]:
    """The gradients of the terms of a rule's value, or of the values of a list.

    Terms with gradients or tangents of their own are each as large as the whole: others may be
    absent.
    """
    match value:
        case Name(name):
            step = next((s for s in flattener.program.steps if s.targets == (name,)), None)
            match None if step is None else step.value:
                case Binary("+" | "-" as sign, Name(left), Name(right)) if not any(
                    {left, right} <= flattener.program.moving({each}) for each in linear
                ):
                    other = gradient if sign == "+" else negative(gradient)
                    return [
                        *_seeds(Name(left), gradient, of, flattener, linear),
                        *_seeds(Name(right), other, of, flattener, linear),
                    ]
            return [(value, gradient)]
        case Const():
            return []
        case Sequence(items):
            parts = [(item, Subscript(gradient, Const(place))) for place, item in enumerate(items)]
            return [s for item, part in parts for s in _seeds(item, part, of, flattener, linear)]
    raise NoDerivative(f"the rule of `{of}` does not end in an op")


def _as_large(op: OpSpec, flattener: Flattener, param: str, value: Expr, output: str) -> Expr:
    """The tangent of an argument, as large as its gradient: that is summed where it is larger."""
    tangent = Name(f"{param}_t")
    shapes = flattener.program.shapes
    if param not in reduced_params(op) or shapes.of(value) == shapes.of(tangent):
        return tangent
    return Call("expand", (tangent, Attribute(Name(output), "shape")))


def _tangent_formula(op: OpSpec, output: str) -> Block:
    match dict(op.jvps).get(output):
        case Formula(block=block):
            return block
        case AutoLinear():
            raise NoDerivative(
                f"the JVP of `{output}` is the op itself, which has no definition by ops"
            )
        case AutoElementwise():
            raise NoDerivative(f"the JVP of `{output}` is taken from the VJP")
        case NotImplementedYet():
            raise NoDerivative(f"`{output}` has no JVP")
    raise NoDerivative(f"`{output}` has no JVP to derive it from")
