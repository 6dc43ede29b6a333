"""The module of a package that says how its ops are batched."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..render.context import ModuleContext
from ..spec.model import Formula, OpSpec
from .environment import template
from .imports import imports
from .views import FunctionView, OpView

BATCHING = "batching"
"""The name of the module."""

_WIDTH = 90
"""The letters of a line of names."""


@dataclass(frozen=True, slots=True)
class BatchFunction:
    """A batching rule that calls other ops, and what its code needs."""

    view: FunctionView
    context: ModuleContext

    @property
    def source(self) -> str:
        """The code of the function."""
        return template("op.py.j2").render(op=OpView(None, None, self.view, None)).strip("\n")

    @property
    def calls(self) -> frozenset[str]:
        """The ops that it calls, by full name."""
        return frozenset(self.context.calls)


def as_composite(op: OpSpec, formula: Formula) -> OpSpec:
    """The op as if it only called others."""
    doc = f"`{op.name}` of each of several examples."
    return replace(
        op, composite=formula, forward=None, kernel=None, batch=None, vjps=(), jvps=(), doc=doc
    )


def batching_module(
    context: ModuleContext,
    functions: Mapping[str, BatchFunction],
    rules: Mapping[str, Iterable[str]],
    header: str,
) -> str:
    """The text of the module, with the formulas of some ops and the rules of all that have any."""
    for function in functions.values():
        context.modules |= function.context.modules
        context.constants |= function.context.constants
        context.numpy |= function.context.numpy
        context.families |= function.context.families
        context.table_functions |= function.context.table_functions
    blocks = [function.source for function in functions.values()]
    words = "TYPE_CHECKING LazyModule" if context.families else ""
    lines = list(imports(context, "\n".join([*blocks, words, "Any"])))
    return template("batching.py.j2").render(
        imports=lines,
        siblings=sorted(context.families),
        constants=sorted(context.constants.items()),
        blocks=blocks,
        rules=_by_rules(rules),
        formulas=[(op, function.view.name) for op, function in functions.items()],
        header=header,
    )


def _by_rules(rules: Mapping[str, Iterable[str]]) -> list[tuple[str, list[str]]]:
    """The names of the ops that have the same rules, in lines."""
    found: dict[str, list[str]] = {}
    for op, words in rules.items():
        found.setdefault("; ".join(words), []).append(op)
    return [(words, textwrap.wrap(" ".join(names), _WIDTH)) for words, names in found.items()]
