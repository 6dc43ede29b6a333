"""What the formulas of an op mention: numbers, texts, and what they compare."""

from __future__ import annotations

from ...ir.nodes import Attribute, Call, Compare, Const, Expr, Name, Node, Unary
from ...ir.walk import walk
from ...spec.model import OpSpec
from ...spec.vocabulary import COMPARISONS
from ..symbolic.special_values import formulas
from .own_kernels import kernel_constants

_SMALLEST = 1e-3
"""Smaller numbers in formulas keep a divisor from zero, and stand for no argument."""


def mentioned_constants(spec: OpSpec) -> tuple[list[float], list[str]]:
    """The numbers and strings that formulas, requirements and kernels of one's own mention."""
    numbers: dict[float, None] = {}
    strings: dict[str, None] = {}
    for block in (*formulas(spec), *(requirement.formula.block for requirement in spec.requires)):
        for node in walk(block):
            match node:
                case Const(value=bool()):
                    pass
                case Const(value=int() | float() as number):
                    if number == 0 or abs(number) >= _SMALLEST:
                        numbers[number] = None
                        numbers[-number] = None
                case Const(value=str() as text):
                    strings[text] = None
                case Name(id="inf"):
                    numbers[float("inf")] = None
                    numbers[float("-inf")] = None
    known, texts = kernel_constants(spec)
    numbers |= dict.fromkeys(known)
    return list(numbers), [*strings, *(text for text in texts if text not in strings)]


def compared_numbers(spec: OpSpec) -> list[float]:
    """The numbers that formulas compare something with."""
    found: dict[float, None] = {}
    for block in formulas(spec):
        for node in walk(block):
            if (sides := _compared(node)) is not None:
                for side in sides:
                    match side:
                        case Const(value=bool()):
                            pass
                        case Const(value=int() | float() as number):
                            found[float(number)] = None
                        case Unary(operand=Const(value=int() | float() as number)):
                            found[-float(number)] = None
    return list(found | dict.fromkeys(kernel_constants(spec)[0]))


def tells_dtypes_apart(spec: OpSpec) -> bool:
    """Return whether a formula compares dtypes."""
    sides = (
        side for block in formulas(spec) for node in walk(block) for side in _compared(node) or ()
    )
    return any(isinstance(side, Attribute) and side.name == "dtype" for side in sides)


def _compared(node: Node) -> tuple[Expr, Expr] | None:
    """The two sides of a comparison, which may be written as the op `eq`, `ge`, ...; else None."""
    match node:
        case Compare(_, left, right):
            return left, right
        case Call(function, (left, right)) if function in COMPARISONS:
            return left, right
    return None
