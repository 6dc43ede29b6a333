"""Members of tensors as the calls that they stand for: `x.mT` is `transpose(x, -2, -1)`."""

from __future__ import annotations

from .nodes import Attribute, Call, Expr, Subscript, TextSpan, number

ATTRIBUTES = ("shape", "ndim", "dtype", "strides", "meta")
"""The attributes that are read as they are."""

_BY_OPS: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "T": (("t", ()),),
    "mT": (("transpose", (-2, -1)),),
    "H": (("t", ()), ("conj", ())),
    "mH": (("transpose", (-2, -1)), ("conj", ())),
    "real": (("real", ()),),
    "imag": (("imag", ()),),
}
"""The ops that an attribute stands for, the inner one first, and their numbers."""

_WRITTEN_OTHERWISE = {
    "where": "write `where(condition, x, y)`",
    "polygamma": "write `polygamma(n, x)`",
    "searchsorted": "write `searchsorted(sorted_sequence, x)`",
    "float": "write `_to_copy(x, dtype='float32')`",
    "int": "write `_to_copy(x, dtype='int32')`",
    "len": "write `len(x)`",
    "tuple": "write `tuple(x)`",
}
"""Methods whose function means something else, or takes the tensor in another place."""


def attribute_by_ops(value: Expr, name: str, span: TextSpan) -> Expr | None:
    """The calls that an attribute of a tensor stands for; None if it stands for none."""
    if name not in _BY_OPS:
        return None
    for function, numbers in _BY_OPS[name]:
        places = tuple(number(each) for each in numbers)
        value = Call(function, (value, *places), span=span)
    return value


def method(call: Call, span: TextSpan) -> Expr:
    """The value of a method of a tensor, whose call has the tensor as its first argument.

    Sizes are those of its shape.
    """
    value, *places = call.args
    if call.kwargs:
        return call
    match call.function, places:
        case "size", []:
            return Attribute(value, "shape", span=span)
        case "size", [place]:
            return Subscript(Attribute(value, "shape", span=span), place, span=span)
        case "dim", []:
            return Attribute(value, "ndim", span=span)
    return call


def fault_of_method(name: str) -> str | None:
    """The text to write in the place of a method that is no call of a function; None for others."""
    if name.startswith("_"):
        return f"write `{name}(x)`"
    return _WRITTEN_OTHERWISE.get(name)
