"""The numbers of dimensions that arguments must have, as the ops of a definition take no others."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.nodes import Assign, Call, Conditional, Const, Expr, If, Name, Node, Subscript, Unary
from ..ir.walk import children, substitute
from ..spec.model import OpSpec

_MANY = 64
"""The most dimensions that an array can have."""

_MATRICES = (2, _MANY)

_TAKES: dict[str, tuple[tuple[int, int], ...]] = {
    "mm": ((2, 2), (2, 2)),
    "bmm": ((3, 3), (3, 3)),
    "mv": ((2, 2), (1, 1)),
    **dict.fromkeys(("dot", "vdot"), ((1, 1), (1, 1))),
    "trace": ((2, 2),),
    "t": ((0, 2),),
    "diag": ((1, 2),),
    "linalg_solve_triangular": (_MATRICES, _MATRICES),
    **dict.fromkeys(("linalg_solve", "linalg_inv", "linalg_cholesky", "linalg_det"), (_MATRICES,)),
    **dict.fromkeys(("linalg_slogdet", "logdet", "det", "inverse"), (_MATRICES,)),
}
"""The fewest and the most dimensions that ops take, by argument; they refuse all others."""

_MORE = {
    **dict.fromkeys(("t", "transpose", "_one", "_zero", "exp", "log", "sqrt", "abs"), 0),
    "unsqueeze": 1,
    "select": -1,
}
"""The number of dimensions that results have beyond those of the first argument."""


def implied_ranks(op: OpSpec) -> dict[str, int]:
    """The numbers of dimensions that calls on every way through a definition fix."""
    bounds = {
        p.name: (0, _MANY)
        for p in op.signature.tensor_params
        if not p.type.is_optional and not p.type.is_list
    }
    for call in _always_called(op):
        for given, (low, high) in zip(call.args, _TAKES.get(call.function, ()), strict=False):
            name, more = _of_argument(given)
            if name in bounds:
                fewest, most = bounds[name]
                bounds[name] = max(fewest, low - more), min(most, high - more)
    return {name: low for name, (low, high) in bounds.items() if low == high}


def _always_called(op: OpSpec) -> Iterator[Call]:
    """The calls that a definition makes before it decides anything, by what they are given."""
    values: dict[str, Expr] = {}
    for statement in () if op.definition is None else op.definition.block.statements:
        if isinstance(statement, If):
            return
        value = substitute(statement.value, values)
        yield from _calls(value)
        if isinstance(statement, Assign) and len(statement.targets) == 1:
            values[statement.targets[0]] = value


def _calls(node: Node) -> Iterator[Call]:
    if isinstance(node, Conditional):
        return
    if isinstance(node, Call):
        yield node
    for part in children(node):
        yield from _calls(part)


def _of_argument(expr: Expr) -> tuple[str, int]:
    """The argument that a value is made of, and how many dimensions more than that it has."""
    match expr:
        case Name(name):
            return name, 0
        case Unary("-", operand):
            return _of_argument(operand)
        case Subscript(value, Const(int())):
            name, more = _of_argument(value)
            return name, more - 1
        case Call(function, (first, *_)) if function in _MORE:
            name, more = _of_argument(first)
            return name, more + _MORE[function]
    return "", 0
