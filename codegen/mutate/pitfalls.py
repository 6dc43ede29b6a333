"""Mistakes that come from what an op of the table does, and what helps against them."""

from __future__ import annotations

import re

from ..ir.nodes import Call, Compare, Name
from ..ir.walk import calls
from ..prove.report.verdict import Counterexample
from ..render.to_text import formula_text
from ..spec.model import OpSpec

_ROUNDS_AWAY = 1e-7
"""An upper bound of what `softplus` leaves out above its threshold, relative to its slope."""

_SINGLE = 1e-6
"""The rounding of float32 in a sum of a few terms, relative to that."""

_COUNTING = frozenset({"sum", "np.sum", "cumsum", "np.cumsum", "count_nonzero"})
_DOUBLE = re.compile(r"is (float64|complex128)\S* for (float32|complex64)")


def pitfall(op: OpSpec, found: Counterexample) -> str:
    """Say what probably went wrong; empty if that is none of the usual things."""
    called = [] if op.definition is None else calls(op.definition.block)
    if found.label.endswith("with create_graph") and _is_close(found, _SINGLE):
        return (
            "a number times whole numbers or flags is float32 among tensors, as in PyTorch: give "
            f"them the dtype of an argument, `_to_copy(hot, dtype={_first_float(op)}.dtype)`"
        )
    for call in called:
        if call.function == "softplus" and len(call.args) < 3 and _is_close(found, _ROUNDS_AWAY):
            return (
                "`softplus(x)` is `x` itself above its `threshold=20`, as in PyTorch: "
                "`-log_sigmoid(-x)` is smooth"
            )
        if _counts(op, call) and _DOUBLE.search(found.message):
            example = f"{formula_text(call)[:-1]}, dtype={_first_float(op)}.dtype)"
            return f"counts of int64 make float32 double in NumPy: write `{example}`"
    return ""


def _is_close(found: Counterexample, tolerance: float) -> bool:
    """Return whether the values differ, but by no more than what something rounds away."""
    try:
        got, expected = float(found.got_value), float(found.expected_value)
    except ValueError:
        return False
    return 0 < abs(got - expected) < tolerance * abs(expected)


def _counts(op: OpSpec, call: Call) -> bool:
    """Return whether a call adds up flags, or whole numbers."""
    if call.function not in _COUNTING or "dtype" in dict(call.kwargs):
        return False
    data = {p.name for p in op.signature.tensor_params} - {*op.differentiable_params}
    match call.args:
        case (Name(name), *_):
            return name in data
        case (Compare(), *_):
            return True
    return False


def _first_float(op: OpSpec) -> str:
    return next(iter(op.differentiable_params), "x")
