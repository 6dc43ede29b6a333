"""A formula's tree as the text that an author would write."""

from __future__ import annotations

from ..ir import nodes as ir
from .base import ATOM, PythonRenderer


def formula_text(node: ir.Expr) -> str:
    """A formula's tree as text, spaced as in the specs."""
    return _FormulaText().render(node)


def block_text(block: ir.Block) -> str:
    """A whole formula as text; one that is an expression has no `return`."""
    whole = block.expression
    if whole is not None:
        return formula_text(whole)
    return "\n".join(_FormulaText().statements(block, "return {}"))


class _FormulaText(PythonRenderer):
    def render_call(self, node: ir.Call) -> tuple[str, int]:
        words = [self.render(arg) for arg in node.args]
        words += [f"{name}={self.render(value)}" for name, value in node.kwargs]
        return f"{node.function}({', '.join(words)})", ATOM
