"""Find the op that a call in a formula means: the overload that accepts its kinds of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..diagnostics import Diagnostic, Span, SpecError
from ..ir import nodes as ir
from ..spec.model import REQUIRED, OpSpec, Param, Signature, Table, Type

Kind: TypeAlias = str
"""`tensor`, `tensors`, `number`, `int`, `ints`, `bool`, `str`, `dtype`, `none` or `any`.

`str?` is an argument that may be None, on which the choice of an overload may depend.
"""

OPTIONAL_STRING: Kind = "str?"

HELPERS: dict[str, Kind] = {
    "len": "int",
    "numel": "int",
    "tuple": "ints",
    "float": "number",
    "int": "int",
    "is_complex": "bool",
}
"""Functions of the language that are not ops, and the kind of their answer."""

OF_ABSENT = {
    "?add": "add_present",
    "?subtract": "subtract_present",
    "?fill": "zeros_if_absent",
    "?or_zero": "or_zero",
}
"""Functions of the runtime for what may be absent, by how `emit.absent` calls them; no formula can,
and they take precedence over no op."""

CONSTANTS = ("pi", "inf", "nan")

_KIND_OF_BASE: dict[str, Kind] = {
    "Tensor": "tensor",
    "Scalar": "number",
    "float": "number",
    "int": "int",
    "bool": "bool",
    "str": "str",
    "ScalarType": "dtype",
}


_KIND_OF_ITEM: dict[Kind, Kind] = {"ints": "int", "tensors": "tensor"}


def kind_of_type(type_: Type) -> Kind:
    """The kind of a value of an ATen type; an optional one counts as present."""
    base = _KIND_OF_BASE.get(type_.base, "any")
    if type_.is_list:
        return {"tensor": "tensors", "int": "ints"}.get(base, "any")
    return base


def _accepts(type_: Type, kind: Kind) -> bool:
    """Return whether a parameter of this type takes a value of this kind."""
    if kind == "any":
        return True
    if kind == OPTIONAL_STRING:
        kind = "str"
    if kind == "none":
        return type_.is_optional
    wanted = kind_of_type(type_)
    if kind == wanted or wanted == "any":
        return True
    if wanted == "ints":
        return kind == "int" and type_.size is not None
    if wanted == "number":
        return kind in ("int", "bool")
    if wanted == "int":
        return kind == "bool"
    return wanted == "dtype" and kind == "str"


@dataclass(frozen=True, slots=True)
class Target:
    """The op that a call means, with an expression for each of its parameters."""

    op: OpSpec
    args: dict[str, ir.Expr]


class Resolver:
    """Finds ops by the calls that formulas make."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._overloads: dict[str, list[OpSpec]] = {}
        for op in table.ops:
            for name in (op.signature.name, *op.aliases):
                self._overloads.setdefault(name, []).append(op)

    def is_op(self, name: str) -> bool:
        """Return whether the table has an op of this base name."""
        return name in self._overloads

    def target(self, call: ir.Call, kinds: Mapping[str, Kind], where: Span) -> Target:
        """The overload that a call means; SpecError if none fits."""
        given = [self.kind(arg, kinds) for arg in call.args]
        named = {name: self.kind(value, kinds) for name, value in call.kwargs}
        # A number stands for a tensor, and for a list of it, only where no overload takes a number.
        for lifts in ((), ("Tensor",), ("Tensor", "int")):
            for op in self._overloads.get(call.function, ()):
                if _binds(op.signature, given, named, lifts):
                    return Target(op, _bound(op.signature, call))
        described = ", ".join([*given, *(f"{n}={k}" for n, k in named.items())])
        raise SpecError(
            [
                Diagnostic(
                    "GS040",
                    where,
                    f"no overload of {call.function!r} takes ({described})",
                    "it has: "
                    + "; ".join(
                        op.signature.full_name + parameters(op.signature)
                        for op in self._overloads.get(call.function, ())
                    ),
                )
            ]
        )

    def kind(self, expr: ir.Expr, kinds: Mapping[str, Kind]) -> Kind:
        """The kind of an expression, given the kinds of its names."""
        match expr:
            case ir.Name(name):
                return "number" if name in CONSTANTS else kinds.get(name, "any")
            case ir.Const(value):
                return _kind_of_constant(value)
            case ir.Unary(op, operand):
                return "bool" if op == "not" else self.kind(operand, kinds)
            case ir.Binary(_, left, right):
                return _combined(self.kind(left, kinds), self.kind(right, kinds))
            case ir.Compare(_, left, right):
                combined = _combined(self.kind(left, kinds), self.kind(right, kinds))
                return combined if combined in ("tensor", "any") else "bool"
            case ir.Call():
                return self._kind_of_call(expr, kinds)
            case ir.Attribute(value, name):
                if name == "shape" and self.kind(value, kinds) == "tensors":
                    return "any"
                if name == "meta":
                    return self.kind(value, kinds)
                return {"shape": "ints", "strides": "ints", "ndim": "int", "dtype": "dtype"}[name]
            case ir.Subscript(value, index):
                return self._kind_of_item(self.kind(value, kinds), index)
            case ir.Conditional(_, then, otherwise):
                first = self.kind(then, kinds)
                return self.kind(otherwise, kinds) if first == "none" else first
            case ir.Sequence(items):
                found = {"tensor" if _is_primitive(i) else self.kind(i, kinds) for i in items}
                return "tensors" if "tensor" in found else "any" if "any" in found else "ints"
            case _:
                return "any"

    def kinds(self, expr: ir.Expr, count: int, kinds: Mapping[str, Kind]) -> list[Kind]:
        """The kinds of the names that a value is assigned to."""
        whole = self.kind(expr, kinds)
        if count == 1:
            return [whole]
        if isinstance(expr, ir.Sequence) and len(expr.items) == count:
            return [self.kind(item, kinds) for item in expr.items]
        overloads = self._overloads.get(expr.function) if isinstance(expr, ir.Call) else None
        if overloads and len(outputs := overloads[0].signature.outputs) == count:
            return [kind_of_type(output.type) for output in outputs]
        return [_KIND_OF_ITEM.get(whole, "any")] * count

    def _kind_of_call(self, call: ir.Call, kinds: Mapping[str, Kind]) -> Kind:
        if call.function in HELPERS:
            return HELPERS[call.function]
        if call.function in OF_ABSENT:
            return self.kind(call.args[0], kinds)
        if call.function == "conj" and self.kind(call.args[0], kinds) in ("number", "int"):
            return "number"
        overloads = self._overloads.get(call.function)
        if not overloads:
            return "any"  # a primitive
        outputs = overloads[0].signature.outputs
        return kind_of_type(outputs[0].type) if len(outputs) == 1 else "any"

    @staticmethod
    def _kind_of_item(kind: Kind, index: ir.Expr | ir.Slice) -> Kind:
        if isinstance(index, ir.Slice):
            return kind
        return _KIND_OF_ITEM.get(kind, "any")


def _is_primitive(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Call) and "." in expr.function


def _kind_of_constant(value: object) -> Kind:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "str" if isinstance(value, str) else "number"


def _combined(left: Kind, right: Kind) -> Kind:
    for kind in ("tensor", "ints", "any", "number"):
        if kind in (left, right):
            return kind
    return "int"


def _binds(
    signature: Signature, given: list[Kind], named: dict[str, Kind], lifts: tuple[str, ...]
) -> bool:
    """Return whether the parameters can take the arguments, numbers for the types in `lifts`."""
    positional = [p for p in signature.params if not p.keyword_only]
    if len(given) > len(positional):
        return False
    bound = {p.name: kind for p, kind in zip(positional, given, strict=False)}
    if bound.keys() & named.keys():
        return False
    bound |= named
    by_name = {p.name: p for p in signature.params}
    if bound.keys() - by_name.keys():
        return False
    if any(p.default is REQUIRED and p.name not in bound for p in signature.params):
        return False
    return all(_fits(by_name[name].type, kind, lifts) for name, kind in bound.items())


def _fits(type_: Type, kind: Kind, lifts: tuple[str, ...]) -> bool:
    if type_.base in lifts:
        if type_.is_tensor and kind in ("number", "int", "bool"):
            return True
        if type_.is_list and kind == "int":
            return True
    return _accepts(type_, kind)


def _bound(signature: Signature, call: ir.Call) -> dict[str, ir.Expr]:
    positional = [p for p in signature.params if not p.keyword_only]
    args = {p.name: arg for p, arg in zip(positional, call.args, strict=False)}
    args |= dict(call.kwargs)
    for p in signature.params:
        if p.name not in args:
            args[p.name] = constant(p.default)
    return args


def constant(value: object) -> ir.Expr:
    """The expression of a default value."""
    if isinstance(value, list | tuple):
        return ir.Sequence(tuple(constant(item) for item in value))
    if isinstance(value, int | float | bool | str) or value is None:
        return ir.Const(value)
    raise TypeError(f"no literal for {value!r}")


def parameters(signature: Signature) -> str:
    """`(self, other, *, alpha)`, for messages."""
    return "(" + ", ".join(_spelled(signature.params)) + ")"


def _spelled(params: Iterable[Param]) -> list[str]:
    words: list[str] = []
    for p in params:
        if p.keyword_only and "*" not in words:
            words.append("*")
        words.append(p.name)
    return words


def kinds_of_params(signature: Signature) -> dict[str, Kind]:
    """The kinds of an op's arguments and outputs, by name: what its formulas start from."""
    kinds = {p.name: kind_of_type(p.type) for p in signature.params}
    for p in signature.params:
        if kinds[p.name] == "str" and p.type.is_optional:
            kinds[p.name] = OPTIONAL_STRING
    return kinds | {output.name: kind_of_type(output.type) for output in signature.outputs}
