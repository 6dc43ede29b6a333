"""Render formulas that treat every element by itself as code on arrays, which threads can share.

A gradient is written once, as it stands: `graph/chains.py` runs a node on blocks of large arrays.
A forward says what it does with large arrays: one function of NumPy runs in several threads, and a
formula of several steps is a function that gets a block at a time, so that it goes over memory
once.

    self + value * tensor1 * tensor2
    array_addcmul(self, tensor1, tensor2, value) if self.size < PLENTY
    else in_threads(array_addcmul, self, tensor1, tensor2, value)
"""

from __future__ import annotations

from ..ir import nodes as ir
from ..ir.walk import names, walk
from ..spec.model import OpSpec
from ..spec.primitives import primitives
from .base import ATOM, CONDITIONAL, LOOSEST, OR
from .resolve import HELPERS, Target
from .to_numpy import MEMBERS, QUICKER, NumpyRenderer

_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
"""Each as a function of NumPy, which writes where it is told to."""

_LIMITED = {"np_maximum": "at_least", "np_minimum": "at_most"}
"""Functions of the runtime that are quicker beside a number, from `MANY` elements on."""

_POINTWISE = frozenset(
    (
        *("kernels.times", "kernels.where", "kernels.sgn", "kernels.round", "kernels.within"),
        *("kernels.pow_scalar", "kernels.pow_of_scalar"),
        *("kernels.remainder", "kernels.remainder_scalar"),
        *("kernels.fmod", "kernels.fmod_scalar", "np.zeros_like", "where"),
    )
)
"""What treats every element by itself, as forwards otherwise show by what they are made of. Among
kernels, a function of NumPy that is no ufunc and the op that is nothing but one of the kernels."""


def is_pointwise(op: OpSpec) -> bool:
    """Whether a forward of one expression has nothing but arithmetic and functions of elements."""
    if op.forward is None or op.forward.block.expression is None:
        return False
    return not any(_looks_further(node) for node in walk(op.forward.block.expression))


def _looks_further(node: ir.Node) -> bool:
    """Whether this part of a formula may read more than one element of an array."""
    match node:
        case ir.Call(function):
            if function in _POINTWISE:
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
    """Whether all that was rendered treats every element by itself."""

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        is_op = isinstance(node, ir.Call) and "." not in node.function
        if not is_op and _looks_further(node):  # an op is looked at where it is written out
            self.note_further()
        return super().read(node)

    def note_further(self) -> None:
        """Something was rendered that may read more than one element."""
        self.is_pointwise = False

    def function(self, node: ir.Call, call: str) -> tuple[str, int]:
        if call.partition("(")[0] in QUICKER:
            return super().function(node, call)
        return call, ATOM

    def array_call(self, target: Target) -> str:
        self.note_further()
        return super().array_call(target)


class SharedRenderer(PointwiseRenderer):
    """Code on arrays, of which large ones are shared among threads."""

    _size = ""
    """Of the arrays, once it has been asked: `small`, or `large`, then a block of one is meant."""
    _is_part_pointwise = True
    """Whether what was rendered since this was set treats every element by itself."""
    _has_functions = False
    """Whether that was more than arithmetic."""

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
        if "." in call.function or call.function in HELPERS or call.function in MEMBERS:
            return None
        return self.target(call)

    def _shared(self, value: ir.Expr) -> str | None:
        """What follows the version for small arrays; None where one version is all there is."""
        tensors = [name for name in names(value) if self.kind(name) == "tensor"]
        function, operands = _taken_apart(value)
        if not (tensors and function):
            return None
        if function in _LIMITED and isinstance(operands[0], ir.Const):
            number, array = map(self.render, operands)
            return f"{array}.size < MANY else {_LIMITED[function]}({array}, {number})"
        self._size, self._is_part_pointwise, self._has_functions = "large", True, False
        arguments = ", ".join(map(self.render, operands))
        self._size = ""
        if not self._is_part_pointwise:
            return None
        if function.startswith("np_"):
            self.context.numpy.add(function.removeprefix("np_"))
        if all(map(_is_plain, operands)):
            call = f"{function}, {arguments}"
        else:
            known = (name for name in names(value) if name.id in self.kinds)
            read = ", ".join(dict.fromkeys(map(self.render, known)))
            call = f"lambda {read}, out=None: {function}({arguments}, out), {read}"
        limit = "ENOUGH" if self._has_functions else "PLENTY"
        return f"{self.render(tensors[0])}.size < {limit} else in_threads({call})"

    def note_further(self) -> None:
        super().note_further()
        self._is_part_pointwise = False

    def function(self, node: ir.Call, call: str) -> tuple[str, int]:
        name, _, arguments = call.partition("(")
        if self._size == "large":
            self._has_functions = True
            return f"{QUICKER.get(name, name)}({arguments}", ATOM
        if self._size == "small":
            return super().function(node, call)
        return NumpyRenderer.function(self, node, call)


def _taken_apart(value: ir.Expr) -> tuple[str, tuple[ir.Expr, ...]]:
    """The last step of a formula, as a function that can be told where to write, and its operands.

    No function where threads would gain nothing by it, or where it takes no third argument.
    """
    match value:
        case ir.Binary(op, left, right) if op in _OPERATORS:
            return f"np_{_OPERATORS[op]}", (left, right)
        case ir.Call("np.maximum" | "np.minimum" as name, operands, ()):
            return name.replace(".", "_"), operands
        case ir.Call("kernels.where", operands, ()):
            return "kernels.where", operands
    return "", ()


def _is_plain(operand: ir.Expr) -> bool:
    """Whether nothing is computed for it."""
    match operand:
        case ir.Name() | ir.Const():
            return True
        case ir.Call("conj" | "real" | "imag", (ir.Name(),)):
            return True
    return False
