"""The module of a package that says how its ops are batched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..render.context import ModuleContext
from ..spec.vocabulary import FORMULA
from .environment import template
from .imports import imports, siblings
from .views import FunctionView, OpView

BATCHING = "batching"
"""The name of the module."""


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


def batching_module(
    context: ModuleContext,
    functions: Mapping[str, BatchFunction],
    rules: Mapping[str, Iterable[str]],
    untried: Iterable[str],
    header: str,
) -> str:
    """The text of the module, with those functions that the rules of ops name, and the untried."""
    wanted = [*(op for op, words in rules.items() if FORMULA in words), *untried]
    used = {op: functions[op] for op in wanted}
    for function in used.values():
        context.modules |= function.context.modules
        context.constants |= function.context.constants
        context.numpy |= function.context.numpy
        context.families |= function.context.families
    blocks = [function.source for function in used.values()]
    table = [
        (op, [used[op].view.name if word == FORMULA else repr(word) for word in words])
        for op, words in rules.items()
    ]
    words = "TYPE_CHECKING LazyModule" if context.families else ""
    lines = list(imports(context, "\n".join([*blocks, words, "Any"])))
    return template("batching.py.j2").render(
        imports=lines,
        siblings=siblings(context, context.families),
        constants=sorted(context.constants.items()),
        blocks=blocks,
        rules=table,
        untried=[(op, used[op].view.name) for op in untried],
        header=header,
    )
