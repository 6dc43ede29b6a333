"""Functions of PyTorch that are no ops of the table, as the calls that they stand for.

Tensors from nothing have the dtype of a tensor: `eye(n, dtype=x.dtype)` is
`diag_embed(expand(_number_like(x, 1), [n]))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .contraction import einsum
from .nodes import (
    NOWHERE,
    Attribute,
    Binary,
    Call,
    Const,
    Expr,
    Node,
    Sequence,
    Slice,
    Star,
    Subscript,
    TextSpan,
    number,
    whole_number,
)
from .walk import with_parts

__all__ = ["SHORTHANDS", "NotShort", "written_out"]


class NotShort(Exception):
    """A call of such a function that stands for nothing, and what to write instead."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


def written_out(call: Call) -> Expr:
    """The calls that a call stands for; itself if it is no shorthand. Raises NotShort."""
    meaning = SHORTHANDS.get(call.function)
    return call if meaning is None else _placed(meaning(call), call.span)


def _placed(node: Any, span: TextSpan) -> Any:
    """The nodes that a call stands for, at its place; its arguments stay at theirs."""
    if not isinstance(node, Node | tuple) or getattr(node, "span", NOWHERE) != NOWHERE:
        return node
    placed = with_parts(node, lambda part: _placed(part, span))
    return replace(placed, span=span) if isinstance(placed, Node) else placed


def _filled(fill: int | None) -> Callable[[Call], Expr]:
    """Tensors of one number: `ones(2, n, dtype=x.dtype)`, `full([n], number, dtype=x.dtype)`."""

    def meaning(call: Call) -> Expr:
        given = _Given(call, ("dtype",))
        args = list(call.args)
        value: Expr = Const(fill)
        if fill is None:
            if len(args) != 2 or not isinstance(args[0], Sequence):
                raise given.refused("takes a list of sizes and a number")
            value = args.pop()
        shape = args[0] if len(args) == 1 and isinstance(args[0], Sequence) else Sequence((*args,))
        return Call("expand", (Call("_number_like", (given.tensor(), value)), shape))

    return meaning


def _eye(call: Call) -> Expr:
    given = _Given(call, ("dtype",))
    if len(call.args) != 1:
        raise given.refused("takes one number of rows", "take a part of it: `eye(n, …)[:, :m]`")
    return Call("diag_embed", (_ones(given.tensor(), call.args[0]),))


def _arange(call: Call) -> Expr:
    """Positions, which are counted in whole numbers: small floats cannot count far."""
    given = _Given(call, ("dtype",))
    if len(call.args) != 1:
        help = "scale and shift it: `start + step * arange(n, …)`"
        raise given.refused("takes one number of positions", help)
    ones = Call("_to_copy", (_ones(given.tensor(), call.args[0]),), (("dtype", Const("int64")),))
    positions = Binary("-", Call("cumsum", (ones, Const(0))), Const(1))
    return Call("_to_copy", (positions,), call.kwargs)


def _full_like(call: Call) -> Expr:
    if len(call.args) != 2 or call.kwargs:
        raise _Given(call, ()).refused(
            "takes a tensor and a number",
            "convert the tensor: `full_like(_to_copy(x, dtype=…), number)`",
        )
    return Call("fill", call.args)


def _take_along_dim(call: Call) -> Expr:
    """Elements along a dimension, at places of which the other sizes may be one."""
    given = _Given(call, ("dim",))
    args = (*call.args, *(value for _, value in call.kwargs))
    dim = whole_number(args[2]) if len(args) == 3 else None
    if dim is None:
        help = "write `gather(x, dim, index)`, where `index` has the other sizes of `x`"
        raise given.refused("takes a tensor, places and a number for `dim`", help)
    value, index = args[:2]
    shape = Attribute(value, "shape")
    behind = [] if dim == -1 else [Star(Subscript(shape, Slice(number(dim + 1), None, None)))]
    before = [] if dim == 0 else [Star(Subscript(shape, Slice(None, number(dim), None)))]
    count = Subscript(Attribute(index, "shape"), number(dim))
    places = Call("expand", (index, Sequence((*before, count, *behind))))
    return Call("gather", (value, number(dim), places))


def _einsum(call: Call) -> Expr:
    given = _Given(call, ())
    match call.args:
        case [Const(str() as equation), *operands]:
            try:
                return einsum(equation, operands)
            except ValueError as error:
                raise given.refused(f"cannot be read: {error}") from None
    raise given.refused(
        "takes an equation and tensors", "write `einsum('ij,jk->ik', a, b)`, the equation as a text"
    )


SHORTHANDS: Mapping[str, Callable[[Call], Expr]] = {
    "arange": _arange,
    "einsum": _einsum,
    "eye": _eye,
    "full": _filled(None),
    "full_like": _full_like,
    "ones": _filled(1),
    "take_along_dim": _take_along_dim,
    "zeros": _filled(0),
}
"""The meaning of each function."""


class _Given:
    """The named arguments of a call."""

    def __init__(self, call: Call, known: tuple[str, ...]) -> None:
        self._function = call.function
        self.dtype = dict(call.kwargs).get("dtype")
        for name, _ in call.kwargs:
            if name not in known:
                help = f"leave out `{name}`"
                raise self.refused(f"has no argument `{name}` in a formula", help)

    def tensor(self) -> Expr:
        """The tensor whose dtype is asked for."""
        match self.dtype:
            case Attribute(tensor, "dtype"):
                return tensor
        raise self.refused("has the dtype of a tensor")

    def refused(self, message: str, help: str = "") -> NotShort:
        """The fault of the call, with what to write instead."""
        return NotShort(f"`{self._function}` {message}", help or _FORMS.get(self._function, ""))


_SIZES = {"arange": "n", "eye": "n", "full": "[n, m], number", "ones": "n, m", "zeros": "n, m"}
_FORMS = {
    name: f"write `{name}({sizes}, dtype=x.dtype)` beside a tensor `x`"
    for name, sizes in _SIZES.items()
}
"""The form of each function that makes tensors from nothing: they need a dtype."""


def _ones(tensor: Expr, size: Expr) -> Expr:
    return Call("expand", (Call("_number_like", (tensor, Const(1))), Sequence((size,))))
