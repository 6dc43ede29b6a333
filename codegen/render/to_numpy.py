"""The NumPy reading: formulas as code on arrays, with the definitions of ops written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..ir import nodes as ir
from ..ir.simplify import simplify
from ..ir.walk import measure, names, substitute
from ..spec.own_kernels import MODULE
from ..spec.primitives import code_facts
from .base import ATOM
from .context import ARRAY, numpy_name
from .formula import FormulaRenderer
from .resolve import HELPERS, Target

_MOST_WRITTEN_OUT = 500
_DEEPEST_WRITTEN_OUT = 100
"""Limits of writing definitions in the place of calls: their nodes in a formula, and its depth.

Calls beyond are calls of functions on arrays."""

_EASY_EXPONENTS = (-1, 0, 0.5, 1, 2)
"""Exponents for which NumPy's operator is fastest."""


class NumpyRenderer(FormulaRenderer):
    """Code on arrays, free of tensors."""

    _depth = 0
    """The depth in definitions of what is being written."""
    _written_out = 0
    """The number of nodes written out."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        if "." in node.function:
            return self.primitive(node)
        if node.function in HELPERS:
            return f"{node.function}({self._arguments(node)})", ATOM
        target = self.target(node)
        member = code_facts().members.get(node.function)
        if member is not None:
            return f"{self.render(node.args[0], ATOM)}.{member}", ATOM
        inlined = self.inlined(target)
        if inlined is None:
            return self.array_call(target), ATOM
        with self.inside(target, inlined):
            return self.read(inlined)

    def primitive(self, node: ir.Call) -> tuple[str, int]:
        root, _, name = node.function.partition(".")
        arguments = self._arguments(node)
        if root == "np":
            faster = code_facts().faster.get(node.function)
            if faster and any(self.kind(arg) == "tensor" for arg in node.args):
                return f"{faster}({arguments})", ATOM
            self.context.numpy.add(name)
            return f"{numpy_name(name)}({arguments})", ATOM
        if root == "kernels" and name in self.context.own_kernels:
            self.context.kernels.add(f"{MODULE}.{name}")
            self.context.modules.add(MODULE)
            return f"{MODULE}.{name}({arguments})", ATOM
        self.context.modules.add(root)
        if root == "kernels":
            self.context.kernels.add(name)
        return f"{node.function}({arguments})", ATOM

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        left, right = node.left, node.right
        is_easy = isinstance(right, ir.Const) and right.value in _EASY_EXPONENTS
        if node.op == "**" and not is_easy and self.kind(left) == "tensor":
            return f"power({self.render(left)}, {self.render(right)})", ATOM
        return super().render_binary(node)

    def _arguments(self, node: ir.Call) -> str:
        words = [self.render(arg) for arg in node.args]
        words += [f"{name}={self.render(value)}" for name, value in node.kwargs]
        return ", ".join(words)

    def inlined(self, target: Target) -> ir.Expr | None:
        """The definition with the arguments in place, unless one would be computed twice.

        An op that refuses calls does so in its function.
        """
        definition = target.op.implementation
        if definition is None or definition.block.expression is None or target.op.requires:
            return None
        # Arguments that are more than a name are counted after the decided branches are gone.
        # A display keeps its meaning in `is None` tests, which a mark would hide.
        marks = {
            name: arg if isinstance(arg, ir.Name | ir.Const | ir.Sequence) else ir.Name(f"?{name}")
            for name, arg in target.args.items()
        }
        marked = simplify(substitute(definition.block.expression, marks))
        read = Counter(name.id for name in names(marked))
        if any(count > 1 and name.startswith("?") for name, count in read.items()):
            return None
        expression = substitute(definition.block.expression, target.args)
        size, depth = measure(expression)
        is_too_deep = self._depth + depth > _DEEPEST_WRITTEN_OUT
        if is_too_deep or self._written_out + size > _MOST_WRITTEN_OUT:
            return None
        self._written_out += size
        return simplify(expression)

    @contextmanager
    def inside(self, target: Target, written: ir.Expr) -> Iterator[None]:
        """Render the definition of an op in place of its call."""
        outer, depth = self.formula, self._depth
        self._depth += measure(written)[1]
        assert target.op.implementation is not None
        self.formula = target.op.implementation
        try:
            yield
        finally:
            self.formula, self._depth = outer, depth

    def array_call(self, target: Target) -> str:
        op = target.op
        self.context.array_functions.add(op.name)
        words = []
        names = self.context.inner_names.get(op.name, {})
        for param in op.signature.params:
            text = self.render(target.args[param.name])
            name = names.get(param.name, param.name)
            words.append(f"{name}={text}" if param.keyword_only else text)
        return f"{self.context.function(op, prefix=ARRAY)}({', '.join(words)})"
