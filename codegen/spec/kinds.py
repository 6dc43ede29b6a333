"""Kinds of the parts of a formula (a tensor, a number, a text), and uses they do not have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from ..ir.guard import FormulaError
from ..ir.nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    If,
    Logic,
    Name,
    Node,
    Sequence,
    Slice,
    Subscript,
    Unary,
)
from ..ir.walk import assignments, walk
from .model import Signature, Type


class Kind(StrEnum):
    TENSOR = "a tensor"
    TENSORS = "a list of tensors"
    NUMBER = "a number"
    NUMBERS = "a list of numbers"
    FLAG = "`True` or `False`"
    TEXT = "a text"
    DTYPE = "a dtype"


_OF_TYPES = {
    "Tensor": (Kind.TENSOR, Kind.TENSORS),
    "Scalar": (Kind.NUMBER, Kind.NUMBERS),
    "int": (Kind.NUMBER, Kind.NUMBERS),
    "float": (Kind.NUMBER, Kind.NUMBERS),
    "bool": (Kind.FLAG, None),
    "str": (Kind.TEXT, None),
    "ScalarType": (Kind.DTYPE, None),
}

_NOT_COMPUTED_WITH = (Kind.TEXT, Kind.DTYPE)

_PLAIN = (Kind.NUMBER, Kind.NUMBERS, Kind.FLAG, *_NOT_COMPUTED_WITH)

_NOT_FOR = {
    (Kind.TENSOR, False): (Kind.TEXT, Kind.DTYPE, Kind.NUMBERS, Kind.TENSORS),
    (Kind.TENSOR, True): (Kind.TEXT, Kind.DTYPE, Kind.NUMBER, Kind.NUMBERS, Kind.FLAG),
    (Kind.NUMBER, False): (Kind.TEXT, Kind.DTYPE, Kind.NUMBERS, Kind.TENSORS),
    (Kind.NUMBER, True): (Kind.TEXT, Kind.DTYPE, Kind.TENSOR, Kind.TENSORS),
    (Kind.FLAG, False): (Kind.TEXT, Kind.DTYPE, Kind.NUMBERS, Kind.TENSORS, Kind.TENSOR),
    (Kind.TEXT, False): tuple(kind for kind in Kind if kind not in (Kind.TEXT, Kind.DTYPE)),
    (Kind.DTYPE, False): tuple(kind for kind in Kind if kind not in (Kind.TEXT, Kind.DTYPE)),
}
"""Kinds that an argument cannot have, by the kind of its type, alone or in a list."""

_COUNTS = ("len", "numel", "int", "float")

_WRONG_FOR = {
    "is_complex": (*_PLAIN, Kind.TENSORS),
    "numel": (Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.DTYPE, Kind.TENSORS),
    "len": (Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.DTYPE),
    "int": (Kind.TENSOR, Kind.TENSORS, Kind.NUMBERS, Kind.TEXT, Kind.DTYPE),
    "float": (Kind.TENSOR, Kind.TENSORS, Kind.NUMBERS, Kind.TEXT, Kind.DTYPE),
}

_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "@")

_ORDER = ("==", "!=", "<", "<=", ">", ">=")
"""Comparisons of elements, where there are tensors."""


def kind_of_type(type_: Type) -> Kind | None:
    """The kind of an argument or output, present or not."""
    single, several = _OF_TYPES.get(type_.base, (None, None))
    return several if type_.is_list else single


def kinds_of_params(signature: Signature) -> dict[str, Kind]:
    """The kinds of the arguments, by name."""
    kinds = ((param.name, kind_of_type(param.type)) for param in signature.params)
    return {name: kind for name, kind in kinds if kind is not None}


class Kinds:
    """The kinds of names, of those a formula is given and of its locals, and of expressions."""

    def __init__(
        self,
        names: Mapping[str, Kind],
        block: Block,
        signatures: Callable[[str], Iterable[Signature]] = lambda function: (),
    ) -> None:
        self._names = dict(names)
        self._signatures = signatures
        made: dict[str, list[Assign]] = {}
        for assignment in assignments(block):
            for target in assignment.targets:
                made.setdefault(target, []).append(assignment)
        for name, every in made.items():  # in the order of the lines, as one may use the one before
            kinds = {self.of(each.value) if len(each.targets) == 1 else None for each in every}
            if len(kinds) == 1 and (kind := kinds.pop()) is not None:
                self._names[name] = kind

    def of(self, expr: Expr) -> Kind | None:
        """Infer the kind of an expression; None where that is open."""
        match expr:
            case Const(bool()):
                return Kind.FLAG
            case Const(int() | float()):
                return Kind.NUMBER
            case Const(str()):
                return Kind.TEXT
            case Name(name):
                return self._names.get(name)
            case Attribute(_, "ndim"):
                return Kind.NUMBER
            case Attribute(Name(), "shape" | "strides"):
                return Kind.NUMBERS
            case Attribute(_, "dtype"):
                return Kind.DTYPE
            case Call():
                return self._of_call(expr)
            case Unary("not") | Logic():
                return Kind.FLAG
            case Unary(_, operand):
                kind = self.of(operand)
                return kind if kind in (Kind.TENSOR, Kind.NUMBER) else None
            case Binary(_, left, right):
                return self._of_two(left, right)
            case Compare(op, left, right):
                if op not in _ORDER:
                    return Kind.FLAG
                kind = self._of_two(left, right)
                return Kind.FLAG if kind is Kind.NUMBER else kind
            case Conditional(_, then, otherwise):
                kind = self.of(then)
                return kind if kind is self.of(otherwise) else None
            case Subscript(value, index):
                return self._of_part(self.of(value), isinstance(index, Slice))
            case Sequence(items):
                kinds = {self.of(item) for item in items}
                return Kind.NUMBERS if kinds <= {Kind.NUMBER} else None
        return None

    def _of_call(self, call: Call) -> Kind | None:
        if call.function in _COUNTS and len(call.args) == 1:
            return Kind.NUMBER
        if call.function == "is_complex":
            return Kind.FLAG
        outputs = [signature.outputs for signature in self._signatures(call.function)]
        is_tensor = outputs and all(len(o) == 1 and o[0].type.is_tensor for o in outputs)
        return Kind.TENSOR if is_tensor else None

    def _of_two(self, left: Expr, right: Expr) -> Kind | None:
        """Two numbers are a number; a tensor with another one, or with a number, is a tensor."""
        kinds = {self.of(left), self.of(right)}
        if kinds == {Kind.NUMBER}:
            return Kind.NUMBER
        return Kind.TENSOR if Kind.TENSOR in kinds and not kinds & {*_NOT_COMPUTED_WITH} else None

    @staticmethod
    def _of_part(kind: Kind | None, is_slice: bool) -> Kind | None:
        match kind:
            case Kind.TENSOR:
                return Kind.TENSOR
            case Kind.TENSORS | Kind.NUMBERS if is_slice:
                return kind
            case Kind.TENSORS:
                return Kind.TENSOR
            case Kind.NUMBERS:
                return Kind.NUMBER
        return None


def misuses(block: Block, kinds: Kinds, optional: Collection[str]) -> Iterator[FormulaError]:
    """Every use in a formula that fails at each call, or where what is `optional` is None."""
    tested = {name for node in walk(block) for name in _tested(node)}
    for node in walk(block):
        for value in _used(node):
            if isinstance(value, Name) and value.id in {*optional} - tested:
                help = f"test `{value.id} is None`, or leave out the `?` of its type"
                yield _misuse(value, f"`{value.id}` may be None here", help)
        match node:
            case Attribute(value, name):
                yield from _of_attribute(node, kinds.of(value), name)
            case Call(function, (argument,)) if function in _WRONG_FOR:
                yield from _of_count(node, kinds.of(argument), argument)
            case Call():
                yield from _of_dtypes(node)
            case Binary(op, left, right) if op in _ARITHMETIC:
                yield from _of_arithmetic(node, op, kinds.of(left), kinds.of(right))
            case Unary("-", operand) if kinds.of(operand) in (*_NOT_COMPUTED_WITH, Kind.NUMBERS):
                yield _misuse(node, f"`-` of {kinds.of(operand)}")
            case Compare(op, left, right):
                yield from _of_words(node, op, (kinds.of(left), kinds.of(right)))
            case Subscript(value) if (kind := kinds.of(value)) in _WHOLE:
                yield _misuse(node, f"a part of {kind}", _WHOLE[kind])
            case Conditional(test) | If(test):
                yield from _of_test(test, kinds)
            case Logic(_, operands):
                for operand in operands:
                    yield from _of_test(operand, kinds)


def _used(node: Node) -> tuple[Expr, ...]:
    """The operands of a node that cannot be None."""
    match node:
        case Attribute(value) | Subscript(value) | Unary("-" | "~", value):
            return (value,)
        case Binary(_, left, right) | Compare("<" | "<=" | ">" | ">=", left, right):
            return (left, right)
    return ()


def _tested(node: Node) -> Iterator[str]:
    """The names that a node compares with something, or takes for a condition."""
    match node:
        case Compare("is" | "is not" | "==" | "!=" | "in" | "not in", left, right):
            tests: tuple[Expr, ...] = (left, right)
        case Conditional(test) | If(test) | Unary("not", test):
            tests = (test,)
        case Logic(_, operands):
            tests = operands
        case _:
            return
    yield from (test.id for test in tests if isinstance(test, Name))


def _of_attribute(node: Node, kind: Kind | None, name: str) -> Iterator[FormulaError]:
    if kind in _PLAIN:
        yield _misuse(node, f"`.{name}` of {kind}", f"tensors have `.{name}`")
    elif kind is Kind.TENSORS and name != "meta":
        yield _misuse(node, f"`.{name}` of {kind}", f"one of them has it: `[0].{name}`")
    elif kind is Kind.TENSOR and name == "meta":
        help = "lists of tensors have it; of a tensor take `.shape`, or `zeros_like`"
        yield _misuse(node, f"`.meta` of {kind}", help)


def _of_count(call: Call, kind: Kind | None, argument: Expr) -> Iterator[FormulaError]:
    if kind not in _WRONG_FOR[call.function]:
        return
    helps = {
        "int": "elements are no plain numbers: formulas cannot depend on them so",
        "float": "elements are no plain numbers: formulas cannot depend on them so",
        "is_complex": "it asks of a tensor: a number has no dtype of its own",
    }
    help = helps.get(call.function, "") if kind in (Kind.TENSOR, Kind.NUMBER) else ""
    yield _misuse(call, f"`{call.function}` of {kind}", help)


def _of_arithmetic(
    node: Node, op: str, left: Kind | None, right: Kind | None
) -> Iterator[FormulaError]:
    kinds = {left, right}
    wrong = next((k for k in (left, right) if k in (*_NOT_COMPUTED_WITH, Kind.TENSORS)), None)
    if wrong is not None and not (op == "+" and left is right is Kind.TENSORS):
        yield _misuse(node, f"`{op}` of {wrong}")
    elif Kind.NUMBERS in kinds and Kind.TENSOR in kinds:
        yield _misuse(node, f"`{op}` of a tensor and {Kind.NUMBERS}", "take one of them: `[0]`")
    elif Kind.NUMBERS in kinds and Kind.NUMBER in kinds and op != "*":
        help = "lists are added to lists; take one of the numbers: `[0]`"
        yield _misuse(node, f"`{op}` of a list of numbers and a number", help)


_WHOLE: Final = {
    Kind.TEXT: "texts are compared as a whole: `reduction in ('mean', 'sum')`",
    Kind.DTYPE: "dtypes are compared as a whole: `self.dtype in ('float32', 'float64')`",
}
"""Words that formulas mention are all tried; their parts are not."""

_LARGEST: Final = {"int8": 127, "uint8": 255, "int16": 32767}
"""Numbers that tensors may have more elements than."""


def _of_words(
    node: Node, op: str, sides: tuple[Kind | None, Kind | None]
) -> Iterator[FormulaError]:
    """Comparisons of parts of texts and of dtypes, and of their order."""
    if op in ("in", "not in"):
        if (whole := sides[1]) in _WHOLE:
            yield _misuse(node, f"`{op}` looks for a part of {whole}", _WHOLE[whole])
        return
    kind = next((side for side in sides if side in _WHOLE), None)
    if kind is not None and op in ("<", "<=", ">", ">="):
        yield _misuse(node, f"`{op}` of {kind}", _WHOLE[kind])


def _of_dtypes(call: Call) -> Iterator[FormulaError]:
    """Casts to what is too narrow to count elements in."""
    for value in (*call.args, *(value for _, value in call.kwargs)):
        if isinstance(value, Const) and value.value in _LARGEST:
            message = f"`{value.value}` is too narrow: it ends at {_LARGEST[str(value.value)]}"
            yield _misuse(call, message, "compute with `int64`")


def _of_test(test: Expr, kinds: Kinds) -> Iterator[FormulaError]:
    if kinds.of(test) is not Kind.TENSOR:
        return
    help = "for elements write `where(condition, a, b)`"
    if isinstance(test, Name):
        help += f"; whether an optional tensor is given says `{test.id} is not None`"
    yield _misuse(test, "a tensor has no one truth value", help)


def _misuse(node: Node, message: str, help: str = "") -> FormulaError:
    return FormulaError(node.span, "GS036", message, help)


def kind_misfit(call: Call, signature: Signature, kinds: Kinds) -> str:
    """Say which argument of a call is of a kind that its type excludes; empty if none is."""
    positional = [param for param in signature.params if not param.keyword_only]
    named = {param.name: param for param in signature.params}
    given = [
        *zip(positional, call.args, strict=False),
        *((named[name], value) for name, value in call.kwargs if name in named),
    ]
    for param, value in given:
        wanted, kind = kind_of_type(param.type), kinds.of(value)
        single = _OF_TYPES.get(param.type.base, (None, None))[0]
        if wanted is None or single is None or kind is None:
            continue
        if kind in _NOT_FOR.get((single, param.type.is_list), ()):
            return f"`{call.function}` is given {kind} for `{param.name}`, which is {wanted}"
    return ""
