"""Gradients of the slices that a dimension falls into, as their gradients joined again."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.nodes import Attribute, Binary, Call, Compare, Const, Expr, Sequence, Subscript
from ..ir.simplify import simplify
from ..spec.model import OpSpec
from .conditions import is_size
from .shapes import multiple
from .unpacking import required


def rejoined(gradients: list[Expr], op: OpSpec, written_out: Callable[[Expr], Expr]) -> list[Expr]:
    """Gradients of one value, with those of all slices of a dimension as one.

    Each of them fills the other slices with zeros. `written_out` answers a size in terms of
    arguments, and the requirements of `op` tell of what these are multiples.
    """
    slices: dict[tuple[Attribute, Expr], list[tuple[Expr, Expr, Expr]]] = {}
    others = []
    for gradient in gradients:
        match gradient:
            case Call("slice_backward", (of, Attribute() as shape, dim, start, end, Const(1))):
                slices.setdefault((shape, dim), []).append((start, end, of))
            case _:
                others.append(gradient)
    for (shape, dim), parts in slices.items():
        ordered = _in_order(parts)
        if len(ordered) > 1 and _make_up(ordered, Subscript(shape, dim), op, written_out):
            others.append(Call("cat", (Sequence(tuple(of for _, _, of in ordered)), dim)))
            continue
        for start, end, of in parts:
            others.append(Call("slice_backward", (of, shape, dim, start, end, Const(1))))
    return others


def _in_order(parts: list[tuple[Expr, Expr, Expr]]) -> list[tuple[Expr, Expr, Expr]]:
    """Slices of which each starts where the one before it ends, from zero on; none otherwise."""
    by_start = {start: (start, end, of) for start, end, of in parts}
    if len(by_start) < len(parts):
        return []
    ordered = []
    start: Expr = Const(0) if Const(0) in by_start else Const(None)
    while start in by_start:
        ordered.append(by_start.pop(start))
        start = ordered[-1][1]
    return [] if by_start else ordered


def _make_up(
    parts: list[tuple[Expr, Expr, Expr]],
    size: Expr,
    op: OpSpec,
    written_out: Callable[[Expr], Expr],
) -> bool:
    """Return whether slices in their order are all that there is of a dimension."""
    multiples = [multiple(simplify(written_out(end))) for _, end, _ in parts[:-1]]
    size = simplify(written_out(size))
    last = simplify(written_out(parts[-1][1]))
    is_open = last in (Const(None), size)
    if is_open and len(parts) == 2:  # `x[:n]` and `x[n:]`, whatever `n` is
        return True
    count, base = multiple(last) if not is_open else (len(parts), multiples[0][1])
    if [(number, base) for number in range(1, len(parts))] != multiples or count != len(parts):
        return False
    if is_open and is_size(base):  # no part begins before the one in front of it ends
        return True
    match base:
        case Binary("//", whole, Const(int(divisor))) if whole == size and divisor == count:
            return _is_multiple(size, count, op, written_out)
    return False


def _is_multiple(size: Expr, count: int, op: OpSpec, written_out: Callable[[Expr], Expr]) -> bool:
    return any(
        isinstance(condition, Compare)
        and condition.op == "=="
        and simplify(written_out(condition.left)) == Binary("%", size, Const(count))
        and condition.right == Const(0)
        for condition in required(op)
    )
