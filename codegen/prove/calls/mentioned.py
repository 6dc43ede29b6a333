"""Constants of the formulas of an op: numbers, texts, and what they are compared with."""

from __future__ import annotations

from ...ir.nodes import Attribute, Binary, Const, Name
from ...ir.walk import walk
from ...spec.model import OpSpec
from ..symbolic.special_values import compared, compared_numbers, formulas, formulas_with_helpers
from .own_kernels import kept, kernel_constants

_SMALLEST = 1e-3
"""Smaller numbers in formulas keep a divisor from zero, and stand for no argument."""


@kept
def mentioned_constants(spec: OpSpec) -> tuple[list[float], list[str]]:
    """The numbers and strings that formulas, requirements and kernels of one's own mention."""
    numbers: dict[float, None] = {}
    strings: dict[str, None] = {}
    required = (requirement.formula.block for requirement in spec.requires)
    for block in (*formulas_with_helpers(spec), *required):
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
                case Binary(left=Const(), right=Const()) if (product := _product(node)) is not None:
                    numbers[product] = None
                    numbers[-product] = None
                case Name(id="inf"):
                    numbers[float("inf")] = None
                    numbers[float("-inf")] = None
    known, texts = kernel_constants(spec)
    numbers |= dict.fromkeys(known)
    return list(numbers), [*strings, *(text for text in texts if text not in strings)]


def _product(node: Binary) -> float | None:
    """The result of two numbers that a formula combines, as `16 * 1024`."""
    match node:
        case Binary(
            left=Const(value=int() | float() as one), right=Const(value=int() | float() as other)
        ):
            return {"*": one * other, "+": one + other, "-": one - other}.get(node.op)
    return None


def special_numbers(spec: OpSpec) -> list[float]:
    """The numbers that formulas compare something with, and those of kernels of one's own."""
    return list(dict.fromkeys((*compared_numbers(spec), *kernel_constants(spec)[0])))


def tells_dtypes_apart(spec: OpSpec) -> bool:
    """Return whether a formula compares dtypes."""
    sides = (
        side for block in formulas(spec) for node in walk(block) for side in compared(node) or ()
    )
    return any(isinstance(side, Attribute) and side.name == "dtype" for side in sides)
