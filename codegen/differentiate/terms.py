"""Sums and products in which a term may be absent: a gradient or tangent that is zero."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    Logic,
    Name,
    Sequence,
    Unary,
)
from ..ir.walk import with_parts
from ..render.to_text import formula_text
from ..spec.primitives import derivation_facts

ABSENT = Name("?absent")
"""A gradient or tangent that is zero; no formula can say this name."""

_LINEAR = ("*", "/", "@")
_REAL = {"conj", "real"}


class NoDerivative(Exception):
    """A formula that cannot be differentiated, and why."""


class Undecided(Exception):
    """A condition that may go either way."""

    def __init__(self, test: Expr) -> None:
        super().__init__(formula_text(test))
        self.test = test


def added(terms: list[Expr]) -> Expr:
    """The sum of those terms that are there; ABSENT if none is."""
    counted = Counter(term for term in terms if term != ABSENT)
    if not counted:
        return ABSENT
    total, *others = (term if n == 1 else times(n, term) for term, n in counted.items())
    for term in others:
        positive = _without_sign(term)
        total = Binary("+", total, term) if positive is None else Binary("-", total, positive)
    return total


def _without_sign(term: Expr) -> Expr | None:
    """A term that begins with a minus without that; None if there is none."""
    match term:
        case Unary("-", operand):
            return operand
        case Binary("*" | "/" | "@" as op, left, right):
            positive = _without_sign(left)
            return None if positive is None else Binary(op, positive, right)
    return None


def times(number: int, term: Expr) -> Expr:
    """A term several times, with the number in front."""
    match term:
        case Binary("*" | "/" as op, left, right):
            return Binary(op, times(number, left), right)
        case Const(value) if isinstance(value, int | float):
            return Const(number * value)
        case Unary("-", operand):
            return negative(times(number, operand))
    return Binary("*", Const(number), term)


def negative(term: Expr) -> Expr:
    """Minus a term."""
    match term:
        case Unary("-", operand):
            return operand
        case Binary("*" | "/" as op, left, right):
            return Binary(op, negative(left), right)
        case _:
            return term if term == ABSENT else Unary("-", term)


def pruned(expr: Expr, is_optional: Callable[[Call, int | str], bool]) -> Expr:
    """An expression without the terms that are absent; ABSENT if nothing is left.

    `is_optional` tells of a call whether an argument may be None.
    """
    match expr:
        case Unary("-", Const(0) as zero):
            return zero
        case Unary("-", Call("_zero")):
            return ABSENT
        case Unary("-", operand):
            return negative(pruned(operand, is_optional))
        case Unary("not", Const(value)):
            return Const(not value)
        case Binary("+" | "-" | "*" | "/", Call("_zero"), _) | Binary("*", _, Call("_zero")):
            zero_first = isinstance(expr.left, Call) and expr.left.function == "_zero"
            left, right = (ABSENT, expr.right) if zero_first else (expr.left, ABSENT)
            return pruned(Binary(expr.op, left, right), is_optional)
        case Binary("+" | "-" as op, left, Call("_zero")):
            return pruned(Binary(op, left, ABSENT), is_optional)
        case Binary("+", left, right):
            return added([pruned(left, is_optional), pruned(right, is_optional)])
        case Binary("-", left, right):
            return added([pruned(left, is_optional), negative(pruned(right, is_optional))])
        case Binary(op, left, right):
            sides = pruned(left, is_optional), pruned(right, is_optional)
            if ABSENT in sides and op in _LINEAR:
                return ABSENT
            return _product(dataclasses.replace(expr, left=sides[0], right=sides[1]))
        case Conditional(test, then, otherwise):
            then, otherwise = pruned(then, is_optional), pruned(otherwise, is_optional)
            if then == otherwise:
                return then
            if ABSENT in (then, otherwise):
                raise Undecided(test)
            return Conditional(test, then, otherwise)
        case Call():
            return _pruned_call(expr, is_optional)
        case Sequence(items):
            return Sequence(tuple(pruned(item, is_optional) for item in items))
        case Attribute(Sequence() as items, "meta"):
            return items
        case Attribute() | Compare() | Logic():
            return expr
    return expr


def _pruned_call(call: Call, is_optional: Callable[[Call, int | str], bool]) -> Expr:
    args = [pruned(arg, is_optional) for arg in call.args]
    kwargs = {name: pruned(value, is_optional) for name, value in call.kwargs}
    if call.function == "where" and len(args) == 3 and ABSENT in args:
        args = [Const(0) if arg == ABSENT else arg for arg in args]
        if args[1] == args[2]:
            return ABSENT
    absent: list[int | str] = [place for place, arg in enumerate(args) if arg == ABSENT]
    absent += [name for name, value in kwargs.items() if value == ABSENT]
    if not all(is_optional(call, place) for place in absent):
        return ABSENT
    args = [Const(None) if arg == ABSENT else arg for arg in args]
    kwargs = {name: Const(None) if v == ABSENT else v for name, v in kwargs.items()}
    return dataclasses.replace(call, args=tuple(args), kwargs=tuple(kwargs.items()))


def with_one_number(expr: Expr) -> Expr:
    """A product with its numbers multiplied, if that is a short one: `a` for `2 * (a / 2)`.

    Numbers within sums count, and those of what is repeated over dimensions, where they are
    multiplied: before it is, as that costs less.
    """
    numbers, rest = _factors(expr)
    if rest is None or (len(numbers) < 2 and numbers != [-1]):
        return expr
    number = math.prod(numbers, start=Fraction(1))
    if number.denominator != 1 and abs(number.numerator) != 1:
        return expr
    scaled = rest if abs(number) == 1 else _scaled(abs(number), rest)
    return scaled if number > 0 else negative(scaled)


def _scaled(number: Fraction, term: Expr) -> Expr:
    """A term times a positive integer, or divided by one; within what is repeated, if it is."""
    inside = _scaled_inside(number, term)
    if inside is not None:
        return inside
    if number.denominator == 1:
        return times(int(number), term)
    return Binary("/", term, Const(number.denominator))


def _scaled_inside(number: Fraction, term: Expr) -> Expr | None:
    match term:
        case Binary("*" | "/" as op, left, right):
            inside = _scaled_inside(number, left)
            if inside is not None:
                return Binary(op, inside, right)
            inside = _scaled_inside(number, right) if op == "*" else None
            return None if inside is None else Binary(op, left, inside)
        case Call(function, (first, *others)) if function in derivation_facts().repeating:
            return dataclasses.replace(term, args=(_scaled(number, first), *others))
    return None


def with_sign_in_front(call: Call) -> Expr:
    """A sum of what begins with a minus as minus a sum, which is smaller."""
    if call.function in derivation_facts().summing and call.args:
        positive = _without_sign(call.args[0])
        if positive is not None:
            return negative(dataclasses.replace(call, args=(positive, *call.args[1:])))
    return call


def _factors(expr: Expr) -> tuple[list[Fraction], Expr | None]:
    """The numbers of a product, and what is left of it."""
    match expr:
        case Const(bool()):
            return [], expr
        case Const(int() | float() as value) if math.isfinite(value):
            return [Fraction(value)], None
        case Unary("-", operand):
            numbers, rest = _factors(operand)
            return [Fraction(-1), *numbers], rest
        case Binary("/", left, Const(int() | float() as value)) if value and math.isfinite(value):
            numbers, rest = _factors(left)
            return [*numbers, 1 / Fraction(value)], rest
        case Binary("*", left, right):
            one, first = _factors(left)
            other, second = _factors(right)
            if first is None or second is None:
                return one + other, second if first is None else first
            return one + other, Binary("*", first, second)
        case Binary("/", left, right):
            numbers, rest = _factors(left)
            below, divisor = _factors(right)
            if divisor is not None and 0 not in below:
                numbers, right = numbers + [1 / number for number in below], divisor
            return numbers, Binary("/", Const(1) if rest is None else rest, right)
        case Call(function, (first, *others)) if function in _linear():
            numbers, rest = _factors(first)
            if rest is not None:
                return numbers, dataclasses.replace(expr, args=(rest, *others))
    return [], expr


def _linear() -> frozenset[str]:
    """The functions that numbers of their first argument can be taken out of."""
    facts = derivation_facts()
    return facts.repeating | facts.summing


def _product(expr: Binary) -> Expr:
    """Without factors of one, and with the sign in front."""
    match expr:
        case Binary("*", Const(1), other) | Binary("*" | "/", other, Const(1)):
            return other
        case Binary("*", left, Unary("-", right)):
            return negative(Binary("*", left, right))
        case Binary("**", base, Const(1)):
            return base
    return expr


def with_each_test_once(call: Call) -> Call:
    """A choice whose sides do not choose by its test again: `where(c, where(c, a, b), b)` is
    `where(c, a, b)`.

    What is left out stands elsewhere in the choice, so that sizes and dtypes stay.
    """
    match call:
        case Call("where", (test, Call("where", (same, then, left_out)), otherwise)) if (
            same == test and left_out in (then, otherwise)
        ):
            return with_each_test_once(dataclasses.replace(call, args=(test, then, otherwise)))
        case Call("where", (test, then, Call("where", (same, left_out, otherwise)))) if (
            same == test and left_out in (then, otherwise)
        ):
            return with_each_test_once(dataclasses.replace(call, args=(test, then, otherwise)))
    return call


def of_reals(node: Any, is_complex: Callable[[Expr], bool | None]) -> Any:
    """An expression in which the conjugate of what is real is the number itself."""
    node = with_parts(node, lambda part: of_reals(part, is_complex))
    match node:
        case Call(function, (value,)) if function in _REAL and is_complex(value) is False:
            return value
        case Call("is_complex", (value,)) if (found := is_complex(value)) is not None:
            return Const(found)
    return node


def conjugated(expr: Expr) -> Expr:
    """The conjugate of an expression, with that of a conjugate taken off."""
    match expr:
        case Call("conj", (inner,)):
            return inner
        case Binary("*" | "/" | "+" | "-" as op, left, right):
            return Binary(op, conjugated(left), conjugated(right))
        case Unary("-", operand):
            return Unary("-", conjugated(operand))
        case Const():
            return expr
    return Call("conj", (expr,))
