"""The parts of complex numbers as steps with rules of their own, though they are composites."""

from __future__ import annotations

import dataclasses

from ..diagnostics import Span
from ..ir.nodes import Binary, Call, Conditional, Expr, If, Name
from ..ir.parse import parse
from ..ir.walk import calls, walk
from ..render.to_text import formula_text
from ..spec.model import Formula, OpSpec, Requirement

_NOWHERE = Span("", 0, 0)

_VJPS = {"real": "complex(grad, _zero(grad))", "imag": "complex(_zero(grad), grad)"}


def as_part(op: OpSpec) -> OpSpec | None:
    """The op that takes the part of a complex tensor, with rules; None if it is another op."""
    name = op.signature.name
    if name not in _VJPS or op.composite is None:
        return None
    return dataclasses.replace(
        op,
        forward=op.composite,
        composite=None,
        vjps=((("self",), _formula(_VJPS[name])),),
        jvps=(("result", _formula(f"{name}(self_t)")),),
    )


def root_of_square(call: Call) -> Expr | None:
    """The number `z` of a squared magnitude, `real(z * conj(z))`; None for other calls."""
    match call:
        case Call("real", (Binary("*", one, Call("conj", (other,))),)) if one == other:
            return one
        case Call("real", (Binary("*", Call("conj", (one,)), other),)) if one == other:
            return one
    return None


def squared_magnitude(real: OpSpec) -> OpSpec:
    """The op `real` of a number times its conjugate as one step, for real numbers as well."""
    return dataclasses.replace(
        real,
        forward=_formula("real(self * conj(self))"),
        composite=None,
        vjps=((("self",), _formula("2 * grad * self")),),
        jvps=(("result", _formula("2 * real(conj(self_p) * self_t)")),),
    )


def _formula(text: str, span: Span = _NOWHERE) -> Formula:
    return Formula(text, parse(text), (span,) * (len(text) + 1), is_derived=True)


def put_together(gradients: list[Expr]) -> list[Expr]:
    """Gradients of one value, with those of its real and of its imaginary part as one."""
    parts: dict[str, list[Expr]] = {"real": [], "imag": []}
    others = []
    for gradient in gradients:
        match gradient:
            case Call("complex", (real, Call("_zero", (same,)))) if same == real:
                parts["real"].append(real)
            case Call("complex", (Call("_zero", (same,)), imag)) if same == imag:
                parts["imag"].append(imag)
            case _:
                others.append(gradient)
    if len(parts["real"]) != 1 or len(parts["imag"]) != 1:
        return gradients
    return [*others, Call("complex", (*parts["real"], *parts["imag"]))]


def with_complex_required(op: OpSpec) -> OpSpec:
    """The op, with requirements for arguments whose imaginary parts are taken on every way.

    On arrays `imag` answers zeros for real numbers, which have no imaginary part to differentiate.
    """
    required = {formula_text(requirement.test) for requirement in op.requires}
    wanted = (f"is_complex({name})" for name in _with_imaginary_part(op))
    implied = tuple(
        Requirement(formula, formula.block.expression, "imag is only supported for complex tensors")
        for text in wanted
        if text not in required
        for formula in (_formula(text, op.span),)
        if formula.block.expression is not None
    )
    return dataclasses.replace(op, requires=(*op.requires, *implied)) if implied else op


def _with_imaginary_part(op: OpSpec) -> list[str]:
    """The arguments of which a definition takes the imaginary part before it asks anything."""
    found: dict[str, None] = {}
    for statement in () if op.forward is None else op.forward.block.statements:
        if any(isinstance(node, If | Conditional) for node in walk(statement)):
            break
        for call in calls(statement):
            if call.function in ("imag", "view_as_real") and isinstance(call.args[0], Name):
                found[call.args[0].id] = None
    tensors = {param.name for param in op.signature.tensor_params}
    return [name for name in found if name in tensors]
