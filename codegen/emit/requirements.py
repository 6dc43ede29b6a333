"""Refuse the calls that an op is not meant for, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.walk import names
from ..render.base import NOT
from ..render.context import ModuleContext
from ..render.formula import FormulaRenderer
from ..render.resolve import kinds_of_params
from ..spec.model import OpSpec, Requirement, spelled
from ..spec.structure import dtypes_read
from ..spec.vocabulary import CONSTANTS
from .environment import literal


def refuse_unmet(
    op: OpSpec,
    renderer: type[FormulaRenderer],
    context: ModuleContext,
    spelling: dict[str, str],
    given: dict[str, str],
) -> Iterator[str]:
    """Lines that raise where a call does not meet a requirement, one test for each.

    `spelling` is what the arguments are called where they are tested, `given` what the error is
    to describe.
    """
    params = {param.name: param for param in op.signature.params}
    for requirement in op.requires:
        rendered = renderer(context, requirement.formula, kinds_of_params(op.signature), spelling)
        symbolic = [
            f"{'*' if params[name].type.is_list else ''}{spelling[name]}"
            for name in dtypes_read(requirement.test)
        ]
        if symbolic:
            test = rendered.render(requirement.test, NOT)
            test = f"{test} or any_symbolic({', '.join(symbolic)})"
        else:
            test = rendered.render(requirement.test)
        read = {name.id for name in names(requirement.formula.block)}
        described = [f"{p.public}={given[p.name]}" for p in params.values() if p.name in read]
        words = [
            op.signature.name.lstrip("_"),
            requirement.reason or f"expected {shown(requirement)}",
        ]
        yield f"if not ({test}):"
        yield f"    raise unmet_requirement({', '.join([*map(literal, words), *described])})"


def shown(requirement: Requirement) -> str:
    """The condition as written, with the arguments as users know them."""
    text = requirement.formula.text
    places = {name.span.start: name for name in names(requirement.formula.block)}
    for start, name in sorted(places.items(), reverse=True):
        word = text[start : name.span.end]
        if word not in CONSTANTS:
            text = text[:start] + spelled(word) + text[name.span.end :]
    return " ".join(text.split())
