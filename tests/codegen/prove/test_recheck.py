"""Residues and accumulated derivatives are those of sympy, and wrong identities do not hold."""

from __future__ import annotations

import random

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import I, Rational, cos, cosh, erf, exp, log, sin, sqrt, tan, tanh

from gradspec_codegen.prove.identities.identity import Identity
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.recheck.accumulation import Slopes
from gradspec_codegen.prove.recheck.fields import Numbers
from gradspec_codegen.prove.recheck.sides import Sides
from gradspec_codegen.prove.symbolic.decisions import Decision
from gradspec_codegen.prove.zero.is_zero import Region
from gradspec_codegen.prove.zero.residues import NoResidue, Residues, random_prime

x, y, t = sympy.symbols("x y t", real=True)
p = sympy.Symbol("p", positive=True)
WITNESS = Point({x: Rational(7, 5), y: Rational(-3, 10), p: Rational(1, 2), t: Rational(3, 7)})
PRIME = random_prime(random.Random(3))

SAME = {
    "expanded": ((x + y) ** 3, x**3 + 3 * x**2 * y + 3 * x * y**2 + y**3),
    "quotients": (1 / (x - y) - 1 / (x + y), 2 * y / (x**2 - y**2)),
    "a product of exponentials": (exp(x + y) * exp(-y), exp(x)),
    "half of an exponent": (exp(x / 2) ** 2, exp(x)),
    "a hyperbolic tangent": (tanh(x), (exp(2 * x) - 1) / (exp(2 * x) + 1)),
    "half a hyperbolic angle": (tanh(x / 2), (cosh(x) - 1) / sympy.sinh(x)),
    "circles": (sin(x) ** 2 + cos(x) ** 2, sympy.Integer(1)),
    "a tangent": (tan(x), sin(x) / cos(x)),
    "a complex exponential": (exp(I * x), cos(x) + I * sin(x)),
    "a root of a symbol": (p ** Rational(3, 2), p * sqrt(p)),
    "a symbolic power": (p**y * p, p ** (y + 1)),
    "a conjugate": ((x + I * y) * (x - I * y), x**2 + y**2),
}

OTHERS = {
    "a sign": (x - y, y - x),
    "a factor": (exp(x), 2 * exp(x)),
    "an exponent": (exp(2 * x), exp(x)),
    "arguments": (log(x + y), log(x - y)),
    "functions": (sin(x), erf(x)),
    "sine and cosine": (sin(x), cos(x)),
    "conjugates": (x + I * y, x - I * y),
    "a root": (sqrt(p), p),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_equal_expressions_have_one_residue(left: sympy.Expr, right: sympy.Expr) -> None:
    for salt in ("a", "b", "c"):
        assert Residues(salt, PRIME).value(left) == Residues(salt, PRIME).value(right)


@pytest.mark.parametrize(("left", "right"), OTHERS.values(), ids=OTHERS)
def test_other_expressions_have_other_residues(left: sympy.Expr, right: sympy.Expr) -> None:
    field = Residues("a", PRIME)
    assert field.value(left) != field.value(right)


def test_a_conjugate_field_has_conjugates() -> None:
    field = Residues("a", PRIME)
    value = (x + I * y) * exp(I * x) / (2 - I)
    conjugated = value.xreplace({I: -I})
    assert field.conjugate().value(value) == field.value(conjugated) != field.value(value)


@pytest.mark.parametrize("undefined", [sympy.nan, sympy.zoo, sympy.oo, 1 / (x - x + y - y + 0 * t)])
def test_what_is_undefined_has_no_residue(undefined: sympy.Expr) -> None:
    with pytest.raises(NoResidue):
        Residues("a", PRIME).value(undefined)


def test_a_prime_is_large_and_has_a_root_of_minus_one() -> None:
    for seed in range(5):
        prime = random_prime(random.Random(seed))
        assert sympy.isprime(prime)
        assert prime.bit_length() == 61
        root = Residues("", prime).value(I)
        assert root * root % prime == prime - 1


LEAVES = st.sampled_from([x, y, p, sympy.Integer(2), Rational(-1, 3)])


def _quotients(parts: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    return st.one_of(
        st.builds(lambda a, b: a + b, parts, parts),
        st.builds(lambda a, b: a * b, parts, parts),
        st.builds(lambda a, b: a / (b**2 + 3), parts, parts),
        st.builds(lambda a: a**3, parts),
    )


def _functions(parts: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    return st.one_of(
        _quotients(parts),
        st.builds(lambda a: sqrt(a**2 + p), parts),
        st.builds(lambda a: p**a, parts),
        st.builds(lambda f, a: f(a / 5), st.sampled_from([exp, sin, tanh, erf, sympy.atan]), parts),
    )


EXPRESSIONS = st.recursive(LEAVES, _functions, max_leaves=6)


@settings(deadline=None)
@given(EXPRESSIONS, EXPRESSIONS)
def test_accumulated_derivatives_are_those_of_sympy(f: sympy.Expr, g: sympy.Expr) -> None:
    numbers = Numbers(WITNESS)
    slopes = Slopes(numbers, {x: t, y: sympy.Integer(2)})
    along = f.diff(x) * t + f.diff(y) * 2
    assert _are_close(slopes.along(f), WITNESS.value(along))
    total = 3 * f + 5 * g
    down = slopes.down_from([(f, 3), (g, 5)])
    for symbol in (x, y, p):
        first = total.diff(symbol)
        slope, bend = down.get(symbol, (0, 0))
        assert _are_close(slope, WITNESS.value(first))
        assert _are_close(bend, WITNESS.value(first.diff(x) * t + first.diff(y) * 2))


def _are_close(found: object, wanted: object) -> bool:
    return bool(abs(found - wanted) <= 1e-40 * max(1, abs(wanted)))  # type: ignore[operator]


@settings(deadline=None)
@given(st.recursive(LEAVES, _quotients, max_leaves=8))
def test_derivatives_of_quotients_are_the_same_as_residues(f: sympy.Expr) -> None:
    field = Residues("a", PRIME)
    slopes = Slopes(field, {x: t})
    assert slopes.along(f) == field.value(f.diff(x) * t)
    slope, bend = slopes.down_from([(f, 1)]).get(y, (0, 0))
    assert slope == field.value(f.diff(y))
    assert bend == field.value(f.diff(x, y) * t)


def holds(got: sympy.Expr, expected: sympy.Expr, *decisions: Decision) -> tuple[bool, str]:
    """Return whether an identity is accepted, and the method that did."""
    sides = Sides(random.Random(7))
    found = sides.agree(Identity("", "", got, expected), Region(WITNESS, decisions))
    return found, next(iter(sides.counts), "")


POSITIVE = Decision(x - y, positive=True, branches=True)


@pytest.mark.parametrize(
    ("got", "expected", "how"),
    [
        (x + y, y + x, "equal"),
        (sin(x) ** 2, 1 - cos(x) ** 2, "by_residues"),
        (sqrt(x**2 + y**2) ** 2 / sqrt(x**2 + y**2), sqrt(x**2 + y**2), "equal"),
        (log(x**2 + 1) - log(2), log((x**2 + 1) / 2), "by_numbers"),
        (1 / (sqrt(x + 2) + sqrt(x + 3)), sqrt(x + 3) - sqrt(x + 2), "by_numbers"),
    ],
)
def test_right_identities_hold(got: sympy.Expr, expected: sympy.Expr, how: str) -> None:
    assert holds(got, expected) == (True, how)


@pytest.mark.parametrize(("left", "right"), OTHERS.values(), ids=OTHERS)
def test_wrong_identities_do_not_hold(left: sympy.Expr, right: sympy.Expr) -> None:
    assert holds(left, right) == (False, "")


def test_the_branch_of_a_root_is_that_of_the_chamber() -> None:
    root = sqrt(x**2 - 2 * x * y + y**2)
    assert holds(root, x - y, POSITIVE) == (True, "by_numbers")
    assert holds(root, y - x, POSITIVE) == (False, "")


def test_a_difference_that_floats_do_not_see_is_seen() -> None:
    assert holds(x, x + Rational(1, 10**30)) == (False, "")
    assert holds(log(x), log(x) + Rational(1, 10**30)) == (False, "")
