"""Find the values of a program that have the same shape, as far as its formulas tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Name,
    Sequence,
    Subscript,
    Unary,
)
from ..render.to_text import formula_text
from ..spec.elementwise import is_elementwise
from ..spec.model import OpSpec
from ..spec.primitives import derivation_facts
from ..spec.vocabulary import CONSTANT_FUNCTIONS, HELPERS
from .extents import Extents, ExtentsOfSteps, RequiredExtents
from .terms import ABSENT

Shape: TypeAlias = tuple[str, ...]
"""`("x",)` is that of the value `x`, `("?joined", "x", "y")` that to which those of `x` and `y` are
broadcast, `("?kept", "x", "dim")` that of a sum of `x` over `dim` that keeps the dimension,
`("?reduced", "x", "dim")` that of one that does not, `()` that of a number and of a tensor without
dimensions."""

_JOINED, _KEPT, _REDUCED = "?joined", "?kept", "?reduced"


class Shapes:
    """The shapes of the values of a program, by name."""

    def __init__(
        self, tensors: list[str], alike: Mapping[str, str], required: RequiredExtents
    ) -> None:
        """`alike` are names of the same shape; `required` are the sizes that are known."""
        self._known: dict[str, Shape] = {name: (alike.get(name, name),) for name in tensors}
        self._dims: dict[Shape, Expr] = {}
        self._first: dict[Shape, str] = {}
        self._slices: dict[tuple[Shape, Expr, tuple[int, Expr]], Shape] = {}
        self._sizes: dict[Shape, Extents] = {(): ()}
        self._by_sizes: dict[Extents, Shape] = {}
        self._steps = ExtentsOfSteps(required, self._extents)
        for name, shape in self._known.items():
            sizes = required.of(name)
            if not required.may_be_absent(name):
                self._learn(name, shape, sizes)
            elif sizes is not None:  # others cannot be told by the shape of what may be absent
                self._sizes[shape] = sizes

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
                known = self._by_sizes.get(self._steps.of_expression(expr) or ())
                shape = known or self.joined(self.of(left), self.of(right))
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

    def single(self, name: str) -> None:
        """Learn of a tensor that it has no dimensions."""
        self._known[name] = ()

    def note(self, target: str, value: Expr, op: OpSpec | None, args: dict[str, Expr]) -> None:
        """Learn the shape of a step's value."""
        shape = self._of_step(value, op, args)
        if op is not None and op.signature.name == "slice" and args["exact"] == Const(True):
            shape = self._of_slice(target, args)
        shape = (target,) if shape is None else shape
        self._learn(target, shape, self._steps.of_step(value, op, args))
        self._first.setdefault(self._known[target], target)

    def _learn(self, name: str, shape: Shape, sizes: Extents | None) -> None:
        """Learn the sizes of a value: it has the shape of the first one that has the same."""
        if sizes:
            shape = self._by_sizes.setdefault(sizes, shape)
            self._sizes.setdefault(shape, sizes)
        self._known[name] = shape

    def _extents(self, expr: Expr) -> Extents | None:
        """The sizes of an argument of a step."""
        match expr:
            case Name(name) if name in self._known:
                return self._sizes.get(self._known[name])
            case Name():
                return ()
        return self._sizes.get(self.of(expr))

    def first(self, value: Name) -> Name:
        """The first value that is known to have the shape of one."""
        shape = self._known.get(value.id, ())
        if len(shape) == 1:
            return Name(shape[0])
        return Name(self._first.get(shape, value.id)) if shape else value

    def is_reduced(self, value: Name) -> bool:
        """Return whether a value is smaller than what it was made of, as a sum and its root."""
        shape = self._known.get(value.id, (value.id,))
        return not shape or shape[0] == _KEPT

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
        match args.get("size"):
            case Attribute(Name() as other, "shape") if op.signature.name in ("view", "expand"):
                return self.of(other)
        if op.signature.name in derivation_facts().as_large_as_first:
            return self.of(tensors[0])
        if op.signature.name in derivation_facts().reducing:
            dim = args.get("dim", Const(None))
            match args.get("keepdim", Const(False)):
                case Const(True):
                    return self._kept(tensors[0], dim)
                case Const(False) if dim != Const(None):
                    return (_REDUCED, *self.of(tensors[0]), formula_text(dim))
            return () if dim == Const(None) else None
        if is_elementwise(op):
            shape: Shape | None = ()
            for tensor in tensors:
                shape = None if shape is None else self.joined(shape, self.of(tensor))
            return shape
        return None

    def _of_slice(self, target: str, args: Mapping[str, Expr]) -> Shape | None:
        """The shape of a slice that is there, which others of the same length have as well."""
        (first, base), (last, same) = multiple(args["start"]), multiple(args["end"])
        if first == 0:
            base = same
        if base != same:
            return None
        key = self.of(args["self"]), args["dim"], (last - first, base)
        return self._slices.setdefault(key, (target,))

    def _kept(self, tensor: Expr, dim: Expr) -> Shape:
        shape = (_KEPT, *self.of(tensor), formula_text(dim))
        self._dims[shape] = dim
        return shape

    @staticmethod
    def joined(one: Shape, other: Shape) -> Shape | None:
        """The shape that two are broadcast to; None if that is known at run time only."""
        if one == other or not other or _is_within(other, one):
            return one
        if not one or _is_within(one, other):
            return other
        if {_KEPT, _REDUCED} & {one[0], other[0]}:
            return None
        return (_JOINED, *sorted({*_parts(one), *_parts(other)}))

    def reduced(self, gradient: Expr, result: Shape, of: Name) -> Expr:
        """The gradient of a value that was broadcast to the shape of a result."""
        shape = self.of(of)
        if shape == result or gradient == ABSENT:
            return gradient
        if not shape:
            return Call("sum", (gradient,))
        if shape[:-1] == (_KEPT, *result):
            return Call("sum", (gradient, self._dims[shape], Const(True)))
        small, large = self._sizes.get(shape), self._sizes.get(result)
        if small is not None and large is not None:
            if small == large:
                return gradient
            return _summed(gradient, small, large) or self._to_size(gradient, of)
        return self._to_size(gradient, of)

    def _to_size(self, gradient: Expr, of: Name) -> Expr:
        return Call("_sum_to_size", (gradient, Attribute(self.first(of), "shape")))


def _is_within(kept: Shape, large: Shape) -> bool:
    """Return whether one shape is that of a sum that is broadcast to another one again."""
    if kept[0] != _KEPT:
        return False
    while kept and kept[0] == _KEPT:
        kept = kept[1:-1]
    return {*_parts(kept)} <= {*_parts(large)}


def _summed(gradient: Expr, small: Extents, large: Extents) -> Expr | None:
    """The sum over the dimensions by which a shape is smaller: those in front, or those of one."""
    more = len(large) - len(small)
    if large[more:] == small:
        front = [Const(place) for place in range(more)]
        return Call("sum", (gradient, front[0] if more == 1 else Sequence(tuple(front))))
    pairs = enumerate(zip(small, large, strict=False))
    ones = [place for place, (one, other) in pairs if one == 1 != other]
    if more or any(one not in (1, other) for one, other in zip(small, large, strict=True)):
        return None
    dims = [Const(place) for place in ones]
    return Call(
        "sum", (gradient, dims[0] if len(dims) == 1 else Sequence(tuple(dims)), Const(True))
    )


def _parts(shape: Shape) -> Shape:
    """The values whose shapes are broadcast to one."""
    return shape[1:] if shape and shape[0] == _JOINED else shape


def multiple(size: Expr) -> tuple[int, Expr]:
    """A size as a number of times another one: `2 * half` as twice `half`."""
    match size:
        case Const(int(number)):
            return number, Const(1)
        case Binary("*", Const(int(number)), base):
            return number, base
        case Binary("+", left, right):
            (one, base), (other, same) = multiple(left), multiple(right)
            if base == same:
                return one + other, base
    return 1, size
