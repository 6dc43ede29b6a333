"""Base of the renderers that become generated code: names, constants and locals."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from ..diagnostics import SpecError
from ..ir import nodes as ir
from ..spec.model import Formula
from ..spec.vocabulary import CONSTANT_FUNCTIONS
from .base import ATOM, CONDITIONAL, LOOSEST, OR, PythonRenderer
from .context import ModuleContext, is_constant, needs_folding
from .resolve import OF_ABSENT, OPTIONAL_STRING, Kind, Resolver, Target


class ConstantRenderer(PythonRenderer):
    """A constant as code on `gradspec.core.constants`, which proofs load with exact values."""

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return f"constants.{node.id}", ATOM

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        args = ", ".join(self.render(arg) for arg in node.args)
        return f"constants.{node.function}({args})", ATOM


class Calls(Protocol):
    """A module of code, as far as calls in its formulas are concerned."""

    @property
    def resolver(self) -> Resolver:
        """The ops that formulas may call."""

    @property
    def calls(self) -> set[str]:
        """Full names of the ops that the formulas rendered so far mean."""


class CallRenderer(PythonRenderer):
    """Renders one formula of an op, whose calls mean overloads of ops.

    `spelling` says what a name of the formula becomes.
    """

    def __init__(
        self,
        module: Calls,
        formula: Formula,
        kinds: dict[str, Kind],
        spelling: dict[str, str] | None = None,
    ) -> None:
        self._module = module
        self.formula = formula
        self.kinds = dict(kinds)
        self.spelling = spelling or {}

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return self.spelling.get(node.id, node.id), ATOM

    def deciding(self, node: ir.Call) -> str | None:
        """Name the optional argument that is handed on, where None means another overload."""
        for arg in (*node.args, *(value for _, value in node.kwargs)):
            if isinstance(arg, ir.Name) and self.kinds.get(arg.id) == OPTIONAL_STRING:
                kinds = self.kinds | {arg.id: "none"}
                here, resolver = self.formula.locate(node.span), self._module.resolver
                with suppress(SpecError):  # None may be no answer at all: the op says so
                    absent = resolver.target(node, kinds, here).op
                    if absent is not resolver.target(node, self.kinds, here).op:
                        return arg.id
        return None

    def by_presence(self, node: ir.Call, name: str) -> tuple[str, int]:
        """The call of one overload where an argument is None, and of the other where it is not."""
        kinds = self.kinds
        self.kinds = kinds | {name: "none"}
        absent = self.render(node, OR)
        self.kinds = kinds | {name: "str"}
        present = self.render(node, CONDITIONAL)
        self.kinds = kinds
        return f"{absent} if {self.local(name)} is None else {present}", CONDITIONAL

    def local(self, name: str) -> str:
        return self.spelling.get(name, name)

    def note_assignment(self, targets: tuple[str, ...], value: ir.Expr) -> None:
        kinds = self._module.resolver.kinds(value, len(targets), self.kinds)
        self.kinds |= dict(zip(targets, kinds, strict=True))

    def kind(self, expr: ir.Expr) -> Kind:
        """The kind of an expression."""
        return self._module.resolver.kind(expr, self.kinds)

    def is_of_numbers(self, node: ir.Call) -> bool:
        """Return whether a call is a function of a number: no array, and no tensor, of a dtype."""
        return (
            node.function in CONSTANT_FUNCTIONS
            and len(node.args) == 1
            and not node.kwargs
            and self.kind(node.args[0]) in ("number", "int", "bool")
        )

    def target(self, call: ir.Call) -> Target:
        """The op that a call means; noted, because a proof depends on it."""
        here = self.formula.locate(call.span)
        target = self._module.resolver.target(call, self.kinds, here)
        self._module.calls.add(target.op.name)
        return target


class FormulaRenderer(CallRenderer):
    """Renders formulas for modules of gradspec's runtime, whose constants proofs make exact."""

    def __init__(
        self,
        context: ModuleContext,
        formula: Formula,
        kinds: dict[str, Kind],
        spelling: dict[str, str] | None = None,
    ) -> None:
        super().__init__(context, formula, kinds, spelling)
        self.context = context

    def render(self, node: ir.Expr | ir.Slice, at: int = LOOSEST) -> str:
        if not isinstance(node, ir.Slice):
            resolver = self.context.resolver
            if is_constant(node, resolver) and needs_folding(node):
                return self.context.constant(ConstantRenderer().render(node))
        return super().render(node, at)

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        if isinstance(node, ir.Call) and node.function in OF_ABSENT:
            return f"{OF_ABSENT[node.function]}({', '.join(map(self.render, node.args))})", ATOM
        if isinstance(node, ir.Call) and self.is_of_numbers(node):
            self.context.modules.add("constants")
            return f"constants.{node.function}({self.render(node.args[0])})", ATOM
        if isinstance(node, ir.Call) and (name := self.deciding(node)) is not None:
            return self.by_presence(node, name)
        return super().read(node)
