"""The Tensor reading: formulas as code on tensors, through the public functions of the ops."""

from __future__ import annotations

from ..ir import nodes as ir
from ..spec.model import Param, spelled
from .base import ATOM
from .formula import FormulaRenderer
from .resolve import HELPERS


class TensorRenderer(FormulaRenderer):
    """Code that is differentiable again; operators are those of `Tensor`."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        if node.function == "conj" and self._is_number(node.args[0]):
            return f"{self.render(node.args[0], ATOM)}.conjugate()", ATOM
        if node.function in HELPERS:
            return f"{node.function}({', '.join(map(self.render, node.args))})", ATOM
        op = self.target(node).op
        params = {param.name: param for param in op.signature.params}
        words = [self._given(*pair) for pair in zip(params.values(), node.args, strict=False)]
        for name, value in node.kwargs:
            words.append(f"{spelled(name)}={self._given(params[name], value)}")
        return f"{self.context.function(op)}({', '.join(words)})", ATOM

    def _given(self, param: Param, value: ir.Expr) -> str:
        """An argument; a number stands for a list of one, as in NumPy: `flip(self, 0)`."""
        text, of = self.render(value), param.type
        takes_list_alone = of.base == "int" and of.is_list and of.size is None
        is_number = self.context.resolver.kind(value, self.kinds) == "int"
        return f"({text},)" if takes_list_alone and is_number else text

    def _is_number(self, expr: ir.Expr) -> bool:
        return self.context.resolver.kind(expr, self.kinds) in ("number", "int")
