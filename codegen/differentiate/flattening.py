"""Joined dimensions of a value whose number of dimensions is known, as one view."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.nodes import Attribute, Call, Const, Expr, Sequence, Slice, Subscript, Unary


def flattened(args: Mapping[str, Expr], rank: int | None) -> Expr | None:
    """The view that `flatten` gives of a value; None where that is not known.

    `args` are the arguments of the call by name, `rank` is the number of dimensions of the value.
    """
    first, last = _number(args["start_dim"]), _number(args["end_dim"])
    if rank is None or first is None or last is None or rank == 0:
        return None
    first, last = (dim + rank if dim < 0 else dim for dim in (first, last))
    if not 0 <= first <= last < rank:
        return None
    if first == last:
        return args["self"]
    shape = Attribute(args["self"], "shape")
    joined: Expr = Unary("-", Const(1))
    if (first, last) != (0, rank - 1):  # with no elements, any number could stand for -1
        joined = Call("numel", (Subscript(shape, Slice(Const(first), Const(last + 1), None)),))
    sizes = [Subscript(shape, Const(dim)) for dim in range(rank)]
    items = (*sizes[:first], joined, *sizes[last + 1 :])
    return Call("view", (args["self"], Sequence(items)), (("copy", Const(True)),))


def _number(dim: Expr) -> int | None:
    match dim:
        case Const(int(number)):
            return number
        case Unary("-", Const(int(number))):
            return -number
    return None
