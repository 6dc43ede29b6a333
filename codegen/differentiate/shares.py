"""Shares of exponentials, `exp(x) / sum(exp(x), dim, True)`, read as a softmax."""

from __future__ import annotations

from ..ir.nodes import Binary, Call, Const, Expr, Name, Sequence
from .steps import Program, Step


def softmax_of(left: Expr, right: Expr, program: Program) -> Call | None:
    """The softmax that a quotient is; None for any other quotient.

    The largest element that may be taken off before has no part in its derivative.
    """
    power, total = _call(left, "exp", program), _call(right, "sum", program)
    if power is None or total is None:
        return None
    dim = _single(total.args.get("dim"))
    is_sum = total.args["self"] == left and total.args.get("dtype", Const(None)) == Const(None)
    if dim is None or not is_sum or total.args.get("keepdim") != Const(True):
        return None
    return Call("_softmax", (_unshifted(power.args["self"], dim, program), dim))


def _unshifted(exponent: Expr, dim: Expr, program: Program) -> Expr:
    """An exponent without the largest element along a dimension that is taken off."""
    step = _step(exponent, program)
    match None if step is None else step.value:
        case Binary("-", whole, shift):
            largest = _call(shift, "amax", program)
            args = {} if largest is None else largest.args
            is_kept = args.get("keepdim") == Const(True)
            if is_kept and args["self"] == whole and _single(args.get("dim")) == dim:
                return whole
    return exponent


def _step(value: Expr, program: Program) -> Step | None:
    if not isinstance(value, Name):
        return None
    return next((step for step in program.steps if step.targets == (value.id,)), None)


def _call(value: Expr, name: str, program: Program) -> Step | None:
    """The step that computes a value, if it calls an op of this name."""
    step = _step(value, program)
    is_call = step is not None and step.op is not None and step.op.signature.name == name
    return step if is_call else None


def _single(dim: Expr | None) -> Expr | None:
    """The one dimension of a sum."""
    match dim:
        case Sequence((one,)):
            return one
        case Sequence() | Const(None) | None:
            return None
    return dim
