"""The methods and operators of `Tensor` that the ops of a table are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..diagnostics import Diagnostic, SpecError
from ..render.context import function_name, public_name
from ..render.resolve import Resolver
from ..spec.model import OpSpec, Table
from .views import Form, NameView

_AUGMENTED = (
    *("add__", "sub__", "mul__", "truediv__", "floordiv__", "mod__", "pow__"),
    *("and__", "or__", "xor__", "lshift__", "rshift__"),
)
"""Operators that have an augmented form: `x += y` is `x.__iadd__(y)`."""


def methods(table: Table, base: Table | None, resolver: Resolver) -> list[NameView]:
    """The methods of a table by name, the first op of each.

    Raises SpecError for one that the ops of `base` have already.
    """
    taken = {name.name for op in (base.ops if base else ()) for name in _methods_of(op, resolver)}
    found: dict[str, NameView] = {}
    for op in table.ops:
        for method in _methods_of(op, resolver):
            if method.name in taken:
                raise _exists_already(op, method.name)
            found.setdefault(method.name, method)
    return list(found.values())


def name_view(op: OpSpec, name: str, resolver: Resolver, form: Form = "") -> NameView:
    """A public name of an op, and the function behind it."""
    base = op.signature.name
    first = resolver.table.overloads(base)[0]
    function = public_name(base, resolver)
    return NameView(name, first.family, function, form, name in ("__eq__", "__ne__"))


def _methods_of(op: OpSpec, resolver: Resolver) -> Iterable[NameView]:
    base = op.signature.name
    siblings = resolver.table.overloads(base)
    form: Form = ""
    if any(_is_variadic(each, is_alone=len(siblings) == 1) for each in siblings):
        form = "variadic" if len(siblings) == 1 else "spread"
    for name in (base, *op.aliases):
        if "method" in op.variants:
            yield name_view(op, name, resolver, form)
        if op.inplace:
            yield name_view(op, f"{name}_", resolver, "in_place")
    for operator in op.operators:
        answer = name_view(op, operator, resolver)
        if _answers_alone(op, operator, resolver):
            answer = replace(answer, function=function_name(op, resolver), module=op.family)
        if operator in ("__eq__", "__ne__"):
            answer = replace(answer, form="equality")
        yield answer
        if op.inplace and operator.removeprefix("__") in _AUGMENTED:
            yield name_view(op, f"__i{operator.removeprefix('__')}", resolver, "in_place")


def _answers_alone(op: OpSpec, operator: str, resolver: Resolver) -> bool:
    """Return whether no other overload takes this operator, so that none has to be chosen."""
    siblings = resolver.table.overloads(op.signature.name)
    return all(operator not in each.operators for each in siblings if each is not op)


def _is_variadic(op: OpSpec, *, is_alone: bool) -> bool:
    """Return whether `x.view(2, 3)` may be written for `x.view((2, 3))`.

    Of overloads, a list for which one number may stand leaves the second to another.
    """
    positional = [p for p in op.signature.params if not p.keyword_only]
    if len(positional) != 2:
        return False
    type_ = positional[1].type
    return (
        type_.is_list
        and type_.base == "int"
        and (type_.size is None or (type_.size == 1 and is_alone))
    )


def _exists_already(op: OpSpec, name: str) -> SpecError:
    message = f"`{op.name}` would replace the method `{name}` of tensors"
    help = "rename the op, or leave that out of its `variants`, `inplace` or `operators`"
    return SpecError([Diagnostic("GS050", op.span, message, help)])
