"""The Tensor reading: formulas as code on tensors, through the public functions of the ops."""

from __future__ import annotations

from ..ir import nodes as ir
from .base import ATOM
from .formula import FormulaRenderer
from .resolve import HELPERS


class TensorRenderer(FormulaRenderer):
    """Code that is differentiable again; operators are those of `Tensor`."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        words = [self.render(arg) for arg in node.args]
        if node.function in HELPERS:
            return f"{node.function}({', '.join(words)})", ATOM
        for name, value in node.kwargs:
            spelled = "input" if name == "self" else name
            words.append(f"{spelled}={self.render(value)}")
        return f"{self.context.function(self.target(node).op)}({', '.join(words)})", ATOM
