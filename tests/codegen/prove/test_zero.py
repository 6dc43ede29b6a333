"""Zeros are recognised, non-zeros refuted, and nothing else is claimed."""

from __future__ import annotations

import random
import time

import pytest
import sympy
from sympy import cosh, diff, erf, exp, log, sin, sqrt, tan, tanh

from gradspec_codegen.prove.deadline import TimeUp, time_limit
from gradspec_codegen.prove.numeric.evaluate import Point, is_nan
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.prove.symbolic.decisions import Decision
from gradspec_codegen.prove.zero import residues
from gradspec_codegen.prove.zero.is_zero import How, Region, compare
from gradspec_codegen.prove.zero.rational import is_rationally_zero

x, y, z = sympy.symbols("x y z", real=True)
p = sympy.Symbol("p", positive=True)
HALF = sympy.Rational(1, 2)

WITNESS = Point({x: sympy.Rational(7, 5), y: sympy.Rational(-3, 10), z: HALF, p: HALF})
REGION = Region(WITNESS, ())

ZEROS = {
    "polynomial": (x + y) ** 3 - x**3 - 3 * x**2 * y - 3 * x * y**2 - y**3,
    "quotient": 1 / (x - y) - 1 / (x + y) - 2 * y / (x**2 - y**2),
    "exponentials": exp(x + y) * exp(-y) - exp(x),
    "half exponent": exp(x / 2) ** 2 - exp(x),
    "sigmoid": diff(1 / (1 + exp(-x)), x) - 1 / (1 + exp(-x)) * (1 - 1 / (1 + exp(-x))),
    "softmax": diff(exp(x) / (exp(x) + exp(y)), y) + exp(x + y) / (exp(x) + exp(y)) ** 2,
    "shifted softmax": exp(x - y) / (exp(x - y) + 1) - exp(x) / (exp(x) + exp(y)),
    "root": diff(sqrt(p), p) - 1 / (2 * sqrt(p)),
    "root of a sum": sqrt(x**2 + y**2) ** 3 - (x**2 + y**2) * sqrt(x**2 + y**2),
    "root of expanded": sqrt((x + y) ** 2 + 1) - sqrt(x**2 + 2 * x * y + y**2 + 1),
    "cube root": p ** sympy.Rational(1, 3) / p - p ** sympy.Rational(-2, 3),
    "symbolic power": diff(p**y, p) - y * p ** (y - 1),
    "power by exponent": diff(p**y, y) - p**y * log(p),
    "imaginary": (1 + sympy.I * x) * (1 - sympy.I * x) - 1 - x**2,
    "number e": exp(1) * exp(x) - exp(x + 1),
}


@pytest.mark.parametrize("name", ZEROS)
def test_zero_as_a_quotient_of_polynomials(name: str) -> None:
    assert is_rationally_zero(ZEROS[name])


@pytest.mark.parametrize("name", ZEROS)
def test_almost_zero_is_not_zero(name: str) -> None:
    assert not is_rationally_zero(ZEROS[name] + x / 10**9)
    assert not is_rationally_zero(ZEROS[name] * (1 + x) + exp(y) / 10**12)


@pytest.mark.parametrize(
    "expr", [x - y, exp(x) - exp(y), sqrt(p) - p, log(p), x**-2, x / y - y / x]
)
def test_what_is_not_zero(expr: sympy.Expr) -> None:
    assert not is_rationally_zero(expr)
    assert compare(expr, sympy.S.Zero, REGION).status is Status.REFUTED


REWRITTEN = {
    "tan": (1 + tan(x) ** 2, diff(tan(x), x)),
    "tanh": (1 / cosh(x) ** 2, diff(tanh(x), x)),
    "sines": (sin(2 * x), 2 * sin(x) * sympy.cos(x)),
    "erf": (sympy.erfc(x), 1 - erf(x)),
    "logarithms": (log(p**2), 2 * log(p)),
    "gamma": (sympy.gamma(p + 1), p * sympy.gamma(p)),
    "digamma": (sympy.polygamma(0, p + 1), sympy.polygamma(0, p) + 1 / p),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_zero_after_rewriting(name: str) -> None:
    got, expected = REWRITTEN[name]
    assert compare(got, expected, REGION).status is Status.PROVED


def long_formula(numbers: range) -> sympy.Expr:
    """A Tversky loss of a number of scores, the polynomials of whose derivatives are too long."""
    scores = [sympy.Symbol(f"s{n}", real=True) for n in numbers]
    targets = [sympy.Symbol(f"t{n}", real=True) for n in numbers]
    hits = [1 / (1 + exp(-s)) for s in scores]
    hit = sum(p * t for p, t in zip(hits, targets, strict=True))
    missed = sum((1 - p) * t for p, t in zip(hits, targets, strict=True))
    wrong = sum(p * (1 - t) for p, t in zip(hits, targets, strict=True))
    return 1 - (hit + 1) / (hit + wrong * 3 / 10 + missed * 7 / 10 + 1)


def long_sides() -> tuple[sympy.Expr, sympy.Expr, Region]:
    """A second derivative of that in two orders, and the derivative of a sigmoid written down."""
    loss = long_formula(range(4))
    first, last = sympy.Symbol("s0", real=True), sympy.Symbol("s3", real=True)
    sigmoid, q = 1 / (1 + exp(-first)), sympy.Dummy()
    by_hand = sympy.diff(loss.subs(sigmoid, q), q).subs(q, sigmoid) * sigmoid * (1 - sigmoid)
    values = {s: sympy.Rational(n, 7) for n, s in enumerate(sorted(loss.free_symbols, key=str))}
    return diff(diff(loss, last), first), diff(by_hand, last), Region(Point(values), ())


def test_long_formulas_are_compared_by_residues() -> None:
    got, expected, region = long_sides()
    assert got != expected
    answer = compare(got, expected, region)
    assert (answer.status, answer.how) == (Status.PROVED, How.RESIDUES)


def test_a_long_formula_that_is_almost_right_is_refuted() -> None:
    got, expected, region = long_sides()
    tiny = sympy.Rational(1, 10**12)
    for wrong in (expected * (1 + tiny), expected + tiny * sympy.Symbol("s1", real=True)):
        assert compare(got, wrong, region).status is Status.REFUTED


def test_numbers_that_both_primes_divide_are_refuted() -> None:
    got, expected, region = long_sides()
    assert compare(got, expected, region).status is Status.PROVED
    multiple = residues._FIELDS[0].prime * residues._FIELDS[1].prime
    wrong = expected + multiple * sympy.Symbol("s1", real=True)
    assert residues.have_equal_residues(got, wrong)
    assert compare(got, wrong, region).status is Status.REFUTED


a, b, c = sympy.symbols("a b c")  # nothing is known of their signs


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sqrt(a**2), a),
        (sqrt(a * b), sqrt(a) * sqrt(b)),
        (sqrt(1 / a), 1 / sqrt(a)),
        ((a**6) ** sympy.Rational(1, 6), (a**2) ** HALF),
        (log(a * b), log(a) + log(b)),
        ((a**b) ** c, a ** (b * c)),
        (sympy.Abs(a), a),
        (sin(a), sin(a + b)),
    ],
)
def test_what_holds_for_some_numbers_only_has_other_residues(
    left: sympy.Expr, right: sympy.Expr
) -> None:
    assert left != right
    assert not residues.have_equal_residues(left, right)


def test_roots_of_sums_have_residues() -> None:
    x, y, u = sympy.symbols("x y u", real=True)
    length = sqrt(x**2 + y**2 + 1)
    got = diff(exp(u * x) / length, x, y)
    by_hand = exp(u * x) * (3 * x * y / length**5 - u * y / length**3)
    assert residues.have_equal_residues(got, by_hand)
    assert residues.have_equal_residues(length * length, x**2 + y**2 + 1)
    assert residues.have_equal_residues(
        sqrt(x**2 + 1) * sqrt(y**2 + 1), sqrt((x**2 + 1) * (y**2 + 1))
    )
    assert not residues.have_equal_residues(got, by_hand + u * length)
    assert residues.have_equal_residues(length * sin(u) ** 2, length - length * sympy.cos(u) ** 2)
    assert residues.have_equal_residues(length * sin(-u), -length * sin(u))
    assert not residues.have_equal_residues(length * sin(u), length * sin(u + x))
    assert not residues.have_equal_residues(length, -length)
    assert not residues.have_equal_residues(length, sqrt(x**2 + y**2) + 1)


def test_a_root_that_has_another_sign_at_the_witness_is_refuted() -> None:
    x, y = sympy.symbols("x y", real=True)
    terms = sum(sympy.Symbol(f"t{n}", real=True) ** n / (n + 1) for n in range(1, 60))
    root = sqrt(x**2 - 2 * x * y + y**2)
    values = {s: sympy.Rational(2, 7) for s in terms.free_symbols}
    region = Region(Point(values | {x: sympy.Rational(1, 3), y: sympy.Rational(2)}), ())
    for wrong in (x - y, (x - y) * (x**2 + y**2) / (x**2 + y**2)):
        assert compare(root + terms, wrong + terms, region).status is Status.REFUTED


def test_the_domain_splits_roots() -> None:
    region = Region(
        Point({x: sympy.Rational(7, 5)}), (Decision(x - 1, positive=True, branches=False),)
    )
    assert compare(sqrt(x - 1) * sqrt(x + 1), sqrt(x**2 - 1), region).status is Status.PROVED


def test_what_nobody_can_simplify_is_certified_only() -> None:
    got = sympy.atan(x) + sympy.atan((y - x) / (1 + x * y))
    region = Region(WITNESS, (Decision(1 + x * y, positive=True, branches=False),))
    assert compare(got, sympy.atan(y), region, seconds=0.5).status is Status.CERTIFIED


def test_a_difference_that_vanishes_at_the_witness_is_still_refuted() -> None:
    answer = compare((x - sympy.Rational(7, 5)) * y, sympy.S.Zero, REGION)
    assert answer.status is Status.REFUTED
    assert answer.point is not None
    assert answer.point.values[x] != sympy.Rational(7, 5)


def test_a_tiny_difference_is_refuted() -> None:
    assert (
        compare(sin(x), sin(x) * (1 + sympy.Rational(1, 10**30)), REGION).status is Status.REFUTED
    )


@pytest.mark.parametrize(
    "bump",
    [
        exp(-(10**6) * (x - 7) ** 2),
        2 ** (-(10**6) * (x - 7) ** 2),
        sympy.erfc(10**6 * (x - 7) ** 2),
    ],
)
def test_what_is_zero_to_all_digits_but_at_a_number_is_refuted(bump: sympy.Expr) -> None:
    assert compare(sin(x) + bump, sin(x), REGION).status is Status.REFUTED


def test_an_exponential_of_a_huge_number_is_nothing_or_no_number() -> None:
    """Its digits would take all memory, at which GMP ends the process."""
    assert WITNESS.value(exp(-exp(10**9 * x))) == 0
    assert is_nan(WITNESS.value(exp(exp(10**9 * x))))
    assert is_nan(WITNESS.value(sympy.sin(exp(10**9 * x))))
    assert is_nan(WITNESS.value(sympy.Pow(x, exp(10**9 * x))))


def test_points_stay_in_the_chamber() -> None:
    region = Region(
        WITNESS,
        (
            Decision(x - sympy.Rational(139, 100), positive=True, branches=True),
            Decision(x - sympy.Rational(141, 100), positive=False, branches=True),
        ),
    )
    points = region.points(random.Random(1))
    values = [next(points).values[x] for _ in range(20)]
    assert all(sympy.Rational(139, 100) < value < sympy.Rational(141, 100) for value in values)
    assert len(set(values)) > 5


def _expand_for_ever() -> None:
    while True:
        sympy.expand((x + y) ** 3)


def test_time_limits_nest_and_fire() -> None:
    started = time.process_time()
    with pytest.raises(TimeUp), time_limit(0.05), time_limit(30):
        _expand_for_ever()
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "expr",
    [
        exp(x) * sin(y) / sqrt(1 + z**2),
        sympy.atan2(x, y) + sympy.loggamma(p) - sympy.polygamma(1, p),
        erf(x) - sympy.erfinv(z / 2) + sympy.besseli(0, x),
        p**y + sympy.Abs(y) + sympy.sign(y) + sympy.pi * sympy.E,
    ],
)
def test_values_at_a_point_are_sympys(expr: sympy.Expr) -> None:
    wanted = expr.evalf(40, subs=WITNESS.values)
    assert abs(sympy.Float(WITNESS.value(expr), 40) - wanted) < sympy.Float("1e-37") * abs(wanted)
