"""Base of the two renderers that become generated code: names, constants and locals."""

from __future__ import annotations

from ..ir import nodes as ir
from ..spec.model import Formula
from .base import ATOM, LOOSEST, PythonRenderer
from .context import ModuleContext, is_constant, needs_folding
from .resolve import OF_ABSENT, Kind, Target


class ConstantRenderer(PythonRenderer):
    """A constant as code on `gradspec.core.constants`, which proofs load with exact values."""

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return f"constants.{node.id}", ATOM

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        args = ", ".join(self.render(arg) for arg in node.args)
        return f"constants.{node.function}({args})", ATOM


class FormulaRenderer(PythonRenderer):
    """Renders one formula of an op; `spelling` says what a name of the formula becomes."""

    def __init__(
        self,
        context: ModuleContext,
        formula: Formula,
        kinds: dict[str, Kind],
        spelling: dict[str, str] | None = None,
    ) -> None:
        self.context = context
        self.formula = formula
        self.kinds = dict(kinds)
        self.given = frozenset(kinds)
        self.spelling = spelling or {}

    def render(self, node: ir.Expr | ir.Slice, at: int = LOOSEST) -> str:
        if not isinstance(node, ir.Slice):
            resolver = self.context.resolver
            if is_constant(node, resolver) and needs_folding(node):
                return self.context.constant(ConstantRenderer().render(node))
        return super().render(node, at)

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return self.spelling.get(node.id, node.id), ATOM

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        if isinstance(node, ir.Call) and node.function in OF_ABSENT:
            return f"{OF_ABSENT[node.function]}({', '.join(map(self.render, node.args))})", ATOM
        return super().read(node)

    def local(self, name: str) -> str:
        return self.spelling.get(name, name)

    def note_assignment(self, targets: tuple[str, ...], value: ir.Expr) -> None:
        kind = self.context.resolver.kind(value, self.kinds)
        for target in targets:
            self.kinds[target] = kind if len(targets) == 1 else "any"

    def target(self, call: ir.Call) -> Target:
        """The op that a call means; noted, because a proof depends on it."""
        target = self.context.resolver.target(call, self.kinds, self.formula.locate(call.span))
        self.context.calls.add(target.op.name)
        return target
