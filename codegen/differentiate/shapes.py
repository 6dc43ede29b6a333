"""Which values of a program have the same shape, as far as its formulas tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..ir.nodes import Attribute, Binary, Call, Compare, Const, Expr, Name, Subscript, Unary
from ..render.to_text import formula_text
from ..spec.elementwise import is_elementwise
from ..spec.model import OpSpec
from ..spec.primitives import derivation_facts
from ..spec.vocabulary import CONSTANT_FUNCTIONS, HELPERS
from .terms import ABSENT

Shape: TypeAlias = tuple[str, ...]
"""`("x",)` is that of the value `x`, `("kept", "x", "dim")` that of a sum of `x` over `dim` that
keeps the dimension, `()` that of a number and of a tensor without dimensions."""


class Shapes:
    """The shapes of the values of a program, by name."""

    def __init__(self, tensors: list[str], alike: Mapping[str, str]) -> None:
        self._known: dict[str, Shape] = {name: (alike.get(name, name),) for name in tensors}
        self._dims: dict[Shape, Expr] = {}

    def of(self, expr: Expr) -> Shape:
        """The shape of an argument of a step: a name, or an expression of numbers."""
        match expr:
            case Name(name):
                return self._known.get(name, ())
            case Const() | Attribute() | Subscript():
                return ()
            case Unary(_, operand):
                return self.of(operand)
            case Binary(op, left, right) | Compare(op, left, right) if op != "@":
                shape = self.joined(self.of(left), self.of(right))
            case Call(function, args) if function in (*HELPERS, *CONSTANT_FUNCTIONS):
                shape = self.of(args[0])
            case _:
                shape = None
        return (formula_text(expr),) if shape is None else shape

    def name(self, name: str, value: Expr) -> None:
        """Learn that a value has a name."""
        self._known[name] = self.of(value)

    def argument(self, name: str) -> None:
        """Learn of a tensor whose shape is its own."""
        self._known[name] = (name,)

    def note(self, target: str, value: Expr, op: OpSpec | None, args: dict[str, Expr]) -> None:
        """Learn the shape of a step's value."""
        shape = self._of_step(value, op, args)
        self._known[target] = (target,) if shape is None else shape

    def _of_step(self, value: Expr, op: OpSpec | None, args: dict[str, Expr]) -> Shape | None:
        if op is None:
            match value:
                case Unary(_, operand):
                    return self.of(operand)
                case Binary("@"):
                    return None
                case Binary(_, left, right):
                    return self.joined(self.of(left), self.of(right))
            return None
        tensors = [args[p.name] for p in op.signature.tensor_params if p.name in args]
        if op.signature.name in derivation_facts().as_large_as_first:
            return self.of(tensors[0])
        if op.signature.name in derivation_facts().reducing:
            if args.get("keepdim") == Const(True):
                return self._kept(tensors[0], args.get("dim", Const(None)))
            return () if args.get("dim", Const(None)) == Const(None) else None
        if is_elementwise(op):
            shape: Shape | None = ()
            for tensor in tensors:
                shape = None if shape is None else self.joined(shape, self.of(tensor))
            return shape
        return None

    def _kept(self, tensor: Expr, dim: Expr) -> Shape:
        shape = ("kept", *self.of(tensor), formula_text(dim))
        self._dims[shape] = dim
        return shape

    @staticmethod
    def joined(one: Shape, other: Shape) -> Shape | None:
        """The shape that two are broadcast to; None if that is known at run time only."""
        if one == other or not other or other[:-1] == ("kept", *one):
            return one
        return other if not one or one[:-1] == ("kept", *other) else None

    def reduced(self, gradient: Expr, result: Shape, of: Expr) -> Expr:
        """The gradient of a value that was broadcast to the shape of a result."""
        shape = self.of(of)
        if shape == result or gradient == ABSENT:
            return gradient
        if not shape:
            return Call("sum", (gradient,))
        if shape[:-1] == ("kept", *result):
            return Call("sum", (gradient, self._dims[shape], Const(True)))
        as_large = Name(shape[0]) if len(shape) == 1 else of
        return Call("_sum_to_size", (gradient, Attribute(as_large, "shape")))
