"""The numbers of dimensions that values of a program have, as formulas and `requires` tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Name,
    Sequence,
    Slice,
    Star,
    Subscript,
    Unary,
)
from ..render.resolve import HELPERS, Target
from ..spec.elementwise import is_elementwise
from ..spec.model import OpSpec
from ..spec.primitives import derivation_facts
from .implied import implied_ranks
from .terms import NoDerivative
from .unpacking import required

_MORE = {
    **dict.fromkeys(("transpose", "t", "_mt", "_mh", "matrix_exp", "slice", "movedim"), 0),
    **dict.fromkeys(("cholesky_inverse", "linalg_inv", "linalg_pinv", "linalg_cholesky"), 0),
    **dict.fromkeys(("cat", "gather", "index_select", "masked_fill", "constant_pad_nd"), 0),
    **dict.fromkeys(("unsqueeze", "diag_embed", "stack"), 1),
    **dict.fromkeys(("select", "diagonal"), -1),
    **dict.fromkeys(("linalg_det", "logdet", "_linalg_det", "linalg_slogdet"), -2),
}
"""The number of dimensions that results have beyond those of the first argument."""

_NUMBERS = ("Scalar", "int", "float", "bool")

_FIXED = {"trace": 0, "dot": 0, "vdot": 0, "mv": 1, "mm": 2, "outer": 2, "bmm": 3}
"""The number of dimensions that results have, whatever the arguments are."""


_AS_LONG_AS = {"view": "size", "expand": "size", "repeat": "repeats", "permute": "dims"}
"""The argument of an op that has a number for each dimension of the result."""


class Ranks:
    """The numbers of dimensions of the values of a program, by name."""

    def __init__(self, op: OpSpec, target: Callable[[Call], Target]) -> None:
        self._target = target
        self._known: dict[str, int] = {
            p.name: 0 for p in op.signature.params if p.type.base in _NUMBERS and not p.type.is_list
        }
        found = required_ranks(op)
        for end in ("", "_p", "_t"):
            self._known |= {f"{name}{end}": rank for name, rank in found.items()}

    def of(self, expr: Expr) -> int | None:
        """The number of dimensions of a value; None if that is not known."""
        match expr:
            case Name(name):
                return self._known.get(name)
            case Const(int() | float()) | Attribute(_, "ndim") | Subscript(Attribute(_, "shape")):
                return 0
            case Unary("-", operand):
                return self.of(operand)
            case Binary("@", left, right):
                return _of_product(self.of(left), self.of(right))
            case Binary("+" | "-" | "*" | "/" | "**", left, right):
                return _largest([self.of(left), self.of(right)])
            case Call(function) if function in HELPERS:
                return 0
            case Call():
                with suppress(NoDerivative):
                    target = self._target(expr)
                    return self.of_step(expr, target.op, target.args)
        return None

    def of_step(self, value: Expr, op: OpSpec | None, args: Mapping[str, Expr]) -> int | None:
        """The number of dimensions of what a step gives."""
        if op is None:
            return self.of(value)
        name = op.signature.name
        outputs = op.signature.outputs
        if outputs[0].type.is_list or (len(outputs) > 1 and name not in _MORE):
            return None
        if name in _FIXED:
            return _FIXED[name]
        tensors = [args[p.name] for p in op.signature.tensor_params if p.name in args]
        given = tensors[0] if tensors else None
        if isinstance(given, Sequence):  # of tensors that are put together
            given = given.items[0] if given.items else None
        first = None if given is None else self.of(given)
        if name in _AS_LONG_AS:
            return self._length(args[_AS_LONG_AS[name]])
        if name == "diag":
            return None if first is None else 3 - first
        if name in derivation_facts().reducing:
            return _reduced(first, args)
        if name in _MORE or name in derivation_facts().as_large_as_first:
            return None if first is None else first + _MORE.get(name, 0)
        return _largest([self.of(tensor) for tensor in tensors]) if is_elementwise(op) else None

    def _length(self, sizes: Expr) -> int | None:
        """The number of sizes, of which some may be those of another value."""
        match sizes:
            case Sequence(items):
                counts = [self._length(i.value) if isinstance(i, Star) else 1 for i in items]
                return None if None in counts else sum(count or 0 for count in counts)
            case Attribute(value, "shape"):
                return self.of(value)
            case Subscript(whole, Slice(start, stop, None)):
                count = self._length(whole)
                first, last = _number(start, 0), _number(stop, count)
                if None not in (first, last, count):
                    return len(range(count or 0)[first:last])
        return None

    def is_unchanged(self, value: Expr, dims: Expr) -> bool:
        """Return whether dimensions stay in their order, of which there are as many as listed."""
        count = self.of(value)
        return count is not None and dims == Sequence(tuple(map(Const, range(count))))

    def note(self, target: str, rank: int | None) -> None:
        """Learn the number of dimensions of a value."""
        if rank is not None:
            self._known[target] = rank


def _number(end: Expr | None, default: int | None) -> int | None:
    """The end of a slice; None if it is not known."""
    match end:
        case None | Const(None):
            return default
        case Const(int(number)):
            return number
        case Unary("-", Const(int(number))):
            return -number
    return None


def required_ranks(op: OpSpec) -> dict[str, int]:
    """The numbers of dimensions of the arguments that requirements and definition fix."""
    found = implied_ranks(op)
    alike: list[tuple[str, str]] = []
    for condition in required(op):
        match condition:
            case Compare("==", Attribute(Name(name), "ndim"), Const(int(rank))):
                found[name] = rank
            case Compare("==", Attribute(Name(name), "shape"), Sequence(items)) if not any(
                isinstance(item, Star) for item in items
            ):
                found[name] = len(items)
            case Compare("==", Attribute(Name(one), "shape"), Attribute(Name(other), "shape")):
                alike += [(one, other), (other, one)]
    for _ in alike:
        found |= {other: found[one] for one, other in alike if one in found}
    return found


def _of_product(left: int | None, right: int | None) -> int | None:
    if left is None or right is None or not (left and right):
        return None
    return left + right - 2 if 1 in (left, right) else max(left, right)


def _largest(ranks: list[int | None]) -> int | None:
    return None if not ranks or None in ranks else max(rank for rank in ranks if rank is not None)


def _reduced(rank: int | None, args: Mapping[str, Expr]) -> int | None:
    """The number of dimensions of a sum over `dim`."""
    if args.get("keepdim") == Const(True):
        return rank
    match args.get("dim", Const(None)):
        case Const(None):
            return 0 if "keepdim" not in args or args["keepdim"] == Const(False) else None
        case Const(int()):
            return None if rank is None else rank - 1
        case Sequence(items) if items and not any(isinstance(item, Star) for item in items):
            return None if rank is None else rank - len(items)
    return None
