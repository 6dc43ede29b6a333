"""The Tensor reading: formulas as code on tensors, through the public functions of the ops."""

from __future__ import annotations

from ..ir import nodes as ir
from ..spec.model import spelled
from .base import ATOM
from .formula import FormulaRenderer
from .resolve import HELPERS


class TensorRenderer(FormulaRenderer):
    """Code that is differentiable again; operators are those of `Tensor`."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        if node.function == "conj" and self._is_number(node.args[0]):
            return f"{self.render(node.args[0], ATOM)}.conjugate()", ATOM
        words = [self.render(arg) for arg in node.args]
        if node.function in HELPERS:
            return f"{node.function}({', '.join(words)})", ATOM
        for name, value in node.kwargs:
            words.append(f"{spelled(name)}={self.render(value)}")
        return f"{self.context.function(self.target(node).op)}({', '.join(words)})", ATOM

    def _is_number(self, expr: ir.Expr) -> bool:
        return self.context.resolver.kind(expr, self.kinds) in ("number", "int")
