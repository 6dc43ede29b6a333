"""The `examples` of an entry: calls to prove, test and document an op with."""

from __future__ import annotations

import math
from typing import Any

from ..diagnostics import Report, did_you_mean
from .model import REQUIRED, Example, Param, Signature, Type
from .source import Listing, Located, Mapping, Scalar
from .vocabulary import DTYPES, FACTORIZATIONS

DATA_KINDS: dict[str, type | tuple[type, ...]] = {"int": int, "bool": bool, "float": (int, float)}
"""The kinds of literal data for a tensor argument: `{int: [[0, 2]]}`."""


MAX_ELEMENTS = 4096
MAX_DIMENSIONS = 16
"""Limits of a tensor in an example: each element is a symbol with derivatives to prove."""


class _Misfit(Exception):
    """A value that is not of its argument's type."""

    def __init__(self, node: Located, expected: str) -> None:
        super().__init__(expected)
        self.node = node
        self.expected = expected


def read_examples(
    node: Located | None, signature: Signature, report: Report
) -> tuple[Example, ...]:
    """The examples of an entry; the bad ones are reported and left out."""
    if node is None:
        return ()
    if not isinstance(node, Listing) or not node.items:
        report.error(
            "GS010", node.span, "`examples` is a list of calls", "as in `- {self: [2, 3]}`"
        )
        return ()
    found = (_example(item, signature, report) for item in node.items)
    return tuple(example for example in found if example is not None)


def _example(node: Located, signature: Signature, report: Report) -> Example | None:
    if not isinstance(node, Mapping):
        report.error("GS010", node.span, "an example maps arguments to values", "`{self: [2, 3]}`")
        return None
    params = {param.name: param for param in signature.params}
    args: list[tuple[str, Any]] = []
    good = True
    for key, value in node.items:
        if key.value not in params:
            report.error(
                "GS052",
                key.span,
                f"`{signature.full_name}` has no argument `{key.value}`",
                did_you_mean(key.value, params),
            )
            good = False
            continue
        try:
            args.append((key.value, _value(value, params[key.value].type)))
        except _Misfit as misfit:
            message = f"the example's `{key.value}` must be {misfit.expected}"
            report.error("GS054", misfit.node.span, message, _help(params[key.value].type))
            good = False
    for param in signature.params:
        if _is_missing(param, node):
            report.error("GS053", node.span, f"the example gives no value for `{param.name}`")
            good = False
    return Example(tuple(args), node.span) if good else None


def _is_missing(param: Param, example: Mapping) -> bool:
    return param.default is REQUIRED and example.get(param.name) is None


def _help(type_: Type) -> str:
    if type_.base != "Tensor":
        return ""
    return "a shape `[2, 3]`, or data `{int: [0, 2]}`, `{bool: [true]}`, `{float: [1.5]}`"


def _value(node: Located, type_: Type) -> Any:
    """The value an example gives an argument; raises _Misfit."""
    if _is_null(node):
        if type_.is_optional:
            return None
        raise _Misfit(node, "given: null stands for None, which its type does not allow")
    if not type_.is_list:
        return _item(node, type_)
    if isinstance(node, Listing):
        optional = type_.has_optional_items
        return [None if optional and _is_null(item) else _item(item, type_) for item in node.items]
    if type_.size is None or type_.base == "Tensor":
        raise _Misfit(node, "a list")
    return _item(node, type_)


def _is_null(node: Located) -> bool:
    return isinstance(node, Scalar) and node.literal is None


def _item(node: Located, type_: Type) -> Any:
    if type_.base == "Tensor":
        return _tensor(node)
    value = node.literal if isinstance(node, Scalar) else None
    match type_.base:
        case "int" if isinstance(value, int) and not isinstance(value, bool):
            return value
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        case "bool" if isinstance(value, bool):
            return value
        case "Scalar" if isinstance(value, int | float):
            return value
        case "str" if isinstance(node, Scalar):
            return node.value
        case "ScalarType" if value in DTYPES:
            return value
    names = {"int": "an integer", "float": "a number", "bool": "true or false", "str": "a text"}
    names |= {"Scalar": "a number", "ScalarType": f"one of {', '.join(DTYPES)}"}
    raise _Misfit(node, names.get(type_.base, "null"))


def _tensor(node: Located) -> Any:
    """A shape as a list of integers, or `{kind: nested lists}`."""
    if isinstance(node, Listing):
        return _sizes(node)
    if isinstance(node, Mapping) and len(node.items) == 1:
        key, data = node.items[0]
        if key.value == "complex" and isinstance(data, Listing):
            return {"complex": _sizes(data)}
        if key.value in DATA_KINDS:
            value = _data(data, key.value)
            _shape(data)
            return {key.value: value}
        if key.value in FACTORIZATIONS and isinstance(data, Listing) and len(data.items) >= 2:
            return {key.value: _sizes(data)}
    raise _Misfit(node, "a shape or data")


def _sizes(node: Listing) -> list[int]:
    sizes = [_size(item) for item in node.items]
    if len(sizes) > MAX_DIMENSIONS or math.prod(sizes) > MAX_ELEMENTS:
        limits = f"at most {MAX_DIMENSIONS} dimensions and {MAX_ELEMENTS} elements"
        raise _Misfit(node, f"a tensor of {limits}")
    return sizes


def _size(node: Located) -> int:
    value = node.literal if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _Misfit(node, "a shape or data")
    return value


def _data(node: Located, kind: str) -> Any:
    if isinstance(node, Listing):
        return [_data(item, kind) for item in node.items]
    value = node.literal if isinstance(node, Scalar) else None
    if not isinstance(value, DATA_KINDS[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise _Misfit(node, f"data of kind {kind}")
    return value


def _shape(node: Located) -> tuple[int, ...]:
    """The shape of nested lists; raises _Misfit where they are ragged."""
    if not isinstance(node, Listing):
        return ()
    shapes = [_shape(item) for item in node.items]
    for item, shape in zip(node.items, shapes, strict=True):
        if shape != shapes[0]:
            raise _Misfit(item, "data with rows of one length")
    return (len(shapes), *(shapes[0] if shapes else ()))
