"""Values that are read within bounds alone, as the root in `clamp_min(sqrt(x), eps)`.

Where a bound holds, nothing of a gradient comes back to the value. Elsewhere the bounded value is
the value, so rules may read that instead, and divide by no zero: the root of zero has no slope.
The root of a sum of squares is a norm, which has slopes of every order behind such a bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..ir.nodes import Binary, Call, Const, Expr, Name
from ..ir.walk import names, substitute
from .conditions import Conditions
from .steps import Program, Step

_UNBOUNDED = frozenset({"sqrt", "rsqrt", "reciprocal", "exp", "exp2"})
"""Ops whose rules read a result that makes gradients of zero nan: it may be zero, or infinite."""

BOUNDS = frozenset({"clamp", "clamp_min", "clamp_max", "maximum", "minimum", "where"})


def with_norms(call: Call, program: Program, conditions: Conditions) -> Call:
    """A call that bounds values, with norms for roots of sums of squares among them."""
    norms = {
        name.id: norm
        for name in names(call)
        if (norm := _norm(name, program)) and conditions.is_complex(norm.args[0]) is False
    }
    found = substitute(call, norms)
    assert isinstance(found, Call)
    return found


def _norm(value: Name, program: Program) -> Call | None:
    """The norm that a root is; None for any other value."""
    root = _step(value, "sqrt", program)
    total = None if root is None else _step(root.args["self"], "sum", program)
    if total is None or total.args.get("dtype", Const(None)) != Const(None):
        return None
    squares = next((s for s in program.steps if Name(s.targets[0]) == total.args["self"]), None)
    match None if squares is None else squares.value:
        case Binary("*", Name(x), Name(same)) if x == same:
            dim, keepdim = total.args.get("dim", Const(None)), total.args.get("keepdim")
            args = (Name(x), Const(2), dim)
            return Call("linalg_vector_norm", args if keepdim is None else (*args, keepdim))
    return None


def _step(value: Expr, op: str, program: Program) -> Step | None:
    """The step of an op whose value has a name."""
    return next(
        (
            step
            for step in program.steps
            if Name(step.targets[0]) == value
            and step.op is not None
            and step.op.signature.name == op
        ),
        None,
    )


def bounded(program: Program, outputs: Iterable[Expr]) -> dict[str, str]:
    """The values that are read by one step alone, which bounds them, with the name of its value."""
    read = [step.value for step in program.steps]
    reads = Counter(each for expr in (*read, *outputs) for each in {n.id for n in names(expr)})
    found: dict[str, str] = {}
    for bound in program.steps:
        if bound.op is None or bound.op.signature.name not in BOUNDS:
            continue
        for step in program.steps:
            name = step.targets[0]
            if _is_unbounded(step) and reads[name] == 1 and _passes_on(bound, name):
                found[name] = bound.targets[0]
    return found


def _is_unbounded(step: Step) -> bool:
    return step.op is not None and step.op.signature.name in _UNBOUNDED


def _passes_on(bound: Step, name: str) -> bool:
    """Return whether a step answers elements of a value, or others."""
    return Name(name) in (bound.args.get("self"), bound.args.get("other"))
