"""The sizes of values of a program, dimension by dimension, as formulas and `requires` tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from ..ir.nodes import (
    Attribute,
    Binary,
    Compare,
    Const,
    Expr,
    Logic,
    Name,
    Sequence,
    Slice,
    Subscript,
    Unary,
)
from ..spec.elementwise import is_elementwise
from ..spec.model import OpSpec
from ..spec.primitives import derivation_facts
from .unpacking import required

Size: TypeAlias = "int | tuple[str, int]"
"""A number, or that of a dimension of an argument."""

Extents: TypeAlias = tuple[Size, ...]

_TURNING = {"t": (0, 1), "_mt": (-2, -1), "_mh": (-2, -1)}
"""The dimensions that ops exchange."""


class RequiredExtents:
    """The sizes of arguments that the requirements fix, or say to be the same."""

    def __init__(self, op: OpSpec, ranks: Mapping[str, int]) -> None:
        self._same: dict[Size, Size] = {}
        self._ranks = dict(ranks)
        self._params = {p.name: p.type.is_optional for p in op.signature.params}
        conditions = [c for each in required(op) for c in where_present(each)]
        for condition in conditions:
            match condition:
                case Compare("==", Attribute(Name(name), "shape"), Sequence(items)):
                    self._ranks.setdefault(name, len(items))
        for condition in conditions:
            if isinstance(condition, Compare) and condition.op == "==":
                self._unite(condition.left, condition.right)

    def of(self, name: str) -> Extents | None:
        """The sizes of an argument, or of a primal."""
        name = self._argument(name)
        rank = self._ranks.get(name)
        return None if rank is None else tuple(self._first((name, k)) for k in range(rank))

    def may_be_absent(self, name: str) -> bool:
        """Return whether an argument may be None."""
        return self._params.get(self._argument(name), False)

    def _argument(self, name: str) -> str:
        return name if name in self._params else name.removesuffix("_p")

    def size(self, expr: Expr) -> Size | None:
        """The size that an expression is: a number, or `x.shape[0]`."""
        match expr:
            case Const(int(number)):
                return number
            case Subscript(Attribute(Name(name), "shape"), index):
                place, sizes = _number(index), self.of(name) or ()
                if place is not None and -len(sizes) <= place < len(sizes):
                    return sizes[place]
        return None

    def _unite(self, left: Expr, right: Expr) -> None:
        """Learn that two shapes, or two sizes, are the same."""
        pairs: Iterable[tuple[Size | None, Size | None]]
        match left, right:
            case Attribute(Name(one), "shape"), Attribute(Name(other), "shape"):
                pairs = zip(self.of(one) or (), self.of(other) or (), strict=False)
            case Attribute(Name(name), "shape"), Sequence(items):
                pairs = zip(self.of(name) or (), map(self.size, items), strict=False)
            case _:
                pairs = zip([self.size(left)], [self.size(right)], strict=True)
        for here, there in list(pairs):
            if here is None or there is None:
                continue
            first, last = self._first(here), self._first(there)
            if first != last and isinstance(first, tuple):
                self._same[first] = last
            elif first != last:
                self._same[last] = first

    def _first(self, size: Size) -> Size:
        while size in self._same:
            size = self._same[size]
        return size


class ExtentsOfSteps:
    """The sizes of what steps give, from those of what they read."""

    def __init__(
        self, required_extents: RequiredExtents, of: Callable[[Expr], Extents | None]
    ) -> None:
        self._required = required_extents
        self._of = of

    def of_expression(self, expr: Expr) -> Extents | None:
        """The sizes of an operator's value."""
        match expr:
            case Unary(_, operand):
                return self._of(operand)
            case Binary("@", left, right):
                return _of_product(self._of(left), self._of(right))
            case Binary(_, left, right) | Compare(_, left, right):
                return broadcast(self._of(left), self._of(right))
        return None

    def of_step(self, value: Expr, op: OpSpec | None, args: Mapping[str, Expr]) -> Extents | None:
        """The sizes of what a step gives; None if they are not known."""
        if op is None:
            return self.of_expression(value)
        name = op.signature.name
        tensors = [args[p.name] for p in op.signature.tensor_params if p.name in args]
        if len(op.signature.outputs) != 1 or not tensors:
            return None
        given = self._of(tensors[0])
        if is_elementwise(op):
            found: Extents | None = ()
            for tensor in tensors:
                found = broadcast(found, self._of(tensor))
            return found
        if given is None:
            return None
        if name in derivation_facts().as_large_as_first:
            return given
        if name in derivation_facts().reducing:
            return _reduced(given, args)
        if name == "transpose" or name in _TURNING:
            dims = _TURNING.get(name) or (_number(args["dim0"]), _number(args["dim1"]))
            return _turned(given, *dims)
        if name == "unsqueeze":
            place = _number(args["dim"])
            return None if place is None else _with_one(given, place)
        if name == "index":
            match args["indices"]:
                case Sequence((places,)) if (taken := self._of(places)) is not None and given:
                    return (*taken, *given[1:])
            return None
        if name in ("view", "reshape"):
            return self._viewed(given, args.get("size", args.get("shape")))
        return None

    def _viewed(self, given: Extents, sizes: Expr | None) -> Extents | None:
        """The sizes of a vector with dimensions of one beside it, and of what is told in full."""
        if not isinstance(sizes, Sequence):
            return None
        found = [
            given[0] if _number(s) == -1 and len(given) == 1 else self._required.size(s)
            for s in sizes.items
        ]
        if None in found or any(isinstance(s, int) and s < 0 for s in found):
            return None
        if -1 in map(_number, sizes.items) and [s for s in found if s != 1] != [*given]:
            return None
        return tuple(s for s in found if s is not None)


def broadcast(one: Extents | None, other: Extents | None) -> Extents | None:
    """The sizes that two are broadcast to; None if that is known at run time only."""
    if one is None or other is None:
        return None
    if len(one) < len(other):
        one, other = other, one
    other = (1,) * (len(one) - len(other)) + other
    pairs = list(zip(one, other, strict=True))
    if any(1 not in pair and pair[0] != pair[1] for pair in pairs):
        return None
    return tuple(b if a == 1 else a for a, b in pairs)


def where_present(condition: Expr) -> Iterator[Expr]:
    """A requirement, and what one says of an argument that may be None where it is not."""
    match condition:
        case Logic("or", (Compare("is", Name(), Const(None)), there)):
            yield from (
                there.operands if isinstance(there, Logic) and there.op == "and" else (there,)
            )
        case _:
            yield condition


def _number(expr: Expr | Slice) -> int | None:
    match expr:
        case Const(int(number)):
            return number
        case Unary("-", Const(int(number))):
            return -number
    return None


def _of_product(left: Extents | None, right: Extents | None) -> Extents | None:
    if left is None or right is None or not left or not right:
        return None
    if len(right) == 1:
        return left[:-1]
    if len(left) == 1:
        return (*right[:-2], right[-1])
    batch = broadcast(left[:-2], right[:-2])
    return None if batch is None else (*batch, left[-2], right[-1])


def _reduced(given: Extents, args: Mapping[str, Expr]) -> Extents | None:
    keepdim = args.get("keepdim", Const(False))
    match args.get("dim", Const(None)):
        case Const(None):
            dims: list[int | None] = [*range(len(given))]
        case Sequence(items) if items:
            dims = [_number(item) for item in items]
        case one:
            dims = [_number(one)]
    if keepdim not in (Const(True), Const(False)) or None in dims:
        return None
    away = {d % len(given) for d in dims if d is not None and given}
    if keepdim == Const(True):
        return tuple(1 if k in away else size for k, size in enumerate(given))
    return tuple(size for k, size in enumerate(given) if k not in away)


def _turned(given: Extents, one: int | None, other: int | None) -> Extents | None:
    if one is None or other is None or not given:
        return None
    found = list(given)
    found[one], found[other] = found[other], found[one]
    return tuple(found)


def _with_one(given: Extents, place: int) -> Extents:
    place %= len(given) + 1
    return (*given[:place], 1, *given[place:])
