"""Render elementwise formulas as code on arrays, of which large ones are shared among threads.

A gradient is written once, as it stands: `graph/chains.py` runs a node on blocks of large arrays.
A forward states what it does with them: one function of NumPy runs in several threads, and several
steps are a function of a block, so that the whole array goes through memory once. Both versions of
a forward are proved.

    self + value * tensor1 * tensor2 if self.size < PARALLEL_ARITHMETIC_MIN
    else in_threads(
        lambda self, value, tensor1, tensor2, out=None: np_add(
            self, value * tensor1 * tensor2, out
        ),
        self, value, tensor1, tensor2,
    )
"""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.walk import names, walk
from ..spec.model import OpSpec
from ..spec.primitives import code_facts, primitives
from .base import ATOM, CONDITIONAL, LOOSEST, OR
from .context import numpy_name
from .resolve import HELPERS, Target
from .to_numpy import NumpyRenderer

_OPERATORS = {"+": "np.add", "-": "np.subtract", "*": "np.multiply", "/": "np.divide"}
"""Each as a function of NumPy."""


def is_pointwise(op: OpSpec) -> bool:
    """Return whether a forward is one expression of elementwise functions."""
    expression = None if op.implementation is None else op.implementation.block.expression
    return expression is not None and not any(map(_looks_further, walk(expression)))


def _looks_further(node: ir.Node) -> bool:
    """Return whether this part of a formula may read more than one element of an array."""
    match node:
        case ir.Call(function):
            if function in code_facts().pointwise:
                return False
            known = primitives().get(function)
            return known is None or not known.is_elementwise
        case ir.Binary(op):
            return op == "@"
        case ir.Attribute() | ir.Subscript() | ir.Slice() | ir.Sequence():
            return True
    return False


class PointwiseRenderer(NumpyRenderer):
    """Code on arrays of any size, a block of large ones."""

    is_pointwise = True
    """True if all that was rendered is elementwise."""

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        is_op = isinstance(node, ir.Call) and "." not in node.function
        if not is_op and _looks_further(node):  # an op is looked at where it is written out
            self.note_further()
        return super().read(node)

    def note_further(self) -> None:
        """Something was rendered that may read more than one element."""
        self.is_pointwise = False

    def function(self, node: ir.Call, call: str) -> tuple[str, int]:
        if node.function in code_facts().faster:
            return super().function(node, call)
        return call, ATOM

    def array_call(self, target: Target) -> str:
        if not is_pointwise(target.op):
            self.note_further()
        return super().array_call(target)


class SharedRenderer(PointwiseRenderer):
    """Code on arrays, of which large ones are shared among threads."""

    _size = ""
    """The size of arrays that a branch is for: `small`; or `large`, a block of a large one."""
    _is_part_pointwise = True
    """True if what was rendered since this was set is elementwise."""
    _has_functions = False
    """Was that more than arithmetic?"""

    def whole(self, value: ir.Expr) -> str:
        return self._whole(value, LOOSEST)

    def _whole(self, value: ir.Expr, at: int) -> str:
        if isinstance(value, ir.Call):
            target = self._inlinable(value)
            body = None if target is None else self.inlined(target)
            if target is not None and body is not None:
                with self.inside(target, body):
                    return self._whole(body, at)
        if isinstance(value, ir.Conditional):
            then, otherwise = self._whole(value.then, OR), self._whole(value.otherwise, CONDITIONAL)
            text = f"{then} if {self.render(value.test, OR)} else {otherwise}"
        else:
            shared = self._shared(value)
            if shared is None:
                return self.render(value, at)
            self._size = "small"
            text = f"{self.render(value, OR)} if {shared}"
            self._size = ""
        return self.in_parentheses(text) if at > CONDITIONAL else text

    def _inlinable(self, call: ir.Call) -> Target | None:
        has_definition = "." not in call.function and call.function not in HELPERS
        return self.target(call) if has_definition and not _is_member(call) else None

    def _shared(self, value: ir.Expr) -> str | None:
        """Render what follows the version for small arrays; None where there is one version."""
        tensors = [name for name in names(value) if self.kind(name) == "tensor"]
        function, operands = _last_step(value)
        if not (tensors and function):
            return None
        faster = code_facts().faster_with_number.get(function)
        if faster and isinstance(operands[0], ir.Const):
            number, array = map(self.render, operands)
            return f"{array}.size < CLIP_ARRAY_MIN else {faster}({array}, {number})"
        self._size, self._is_part_pointwise, self._has_functions = "large", True, False
        arguments = ", ".join(map(self.render, operands))
        self._size = ""
        if not self._is_part_pointwise:
            return None
        root, _, name = function.partition(".")
        if root == "np":
            self.context.numpy.add(name)
            function = numpy_name(name)
        if all(map(_is_plain, operands)):
            call = f"{function}, {arguments}"
        else:
            known = (name for name in names(value) if name.id in self.kinds)
            read = ", ".join(dict.fromkeys(map(self.render, known)))
            call = f"lambda {read}, out=None: {function}({arguments}, out), {read}"
        limit = "PARALLEL_UFUNC_MIN" if self._has_functions else "PARALLEL_ARITHMETIC_MIN"
        return f"{self.render(tensors[0])}.size < {limit} else in_threads({call})"

    def note_further(self) -> None:
        super().note_further()
        self._is_part_pointwise = False

    def function(self, node: ir.Call, call: str) -> tuple[str, int]:
        faster = code_facts().faster.get(node.function)
        if self._size == "large":
            self._has_functions = True
            name, _, arguments = call.partition("(")
            return f"{faster or name}({arguments}", ATOM
        if self._size == "small":
            return super().function(node, call)
        return NumpyRenderer.function(self, node, call)


def _last_step(value: ir.Expr) -> tuple[str, tuple[ir.Expr, ...]]:
    """Return the last step of a formula as a function that takes `out`, and its operands.

    The function is empty where there is none.
    """
    match value:
        case ir.Binary(op, left, right) if op in _OPERATORS:
            return _OPERATORS[op], (left, right)
        case ir.Call(function, operands, ()) if function in code_facts().takes_out:
            return function, operands
    return "", ()


def _is_member(call: ir.Call) -> bool:
    return call.function in code_facts().members


def _is_plain(operand: ir.Expr) -> bool:
    """Return whether nothing is computed for it."""
    match operand:
        case ir.Name() | ir.Const():
            return True
        case ir.Call(_, (ir.Name(),)) as call:
            return _is_member(call)
    return False
