"""Is an expression zero, as a quotient of polynomials in its kernels?

Kernels are what stays when sums, products and integer powers are taken apart: symbols, `exp(x)`,
`log(y)`, `sqrt(u)`. An expression whose numerator vanishes as a polynomial in them is zero. That
is exact, and much cheaper than `cancel`, because no common divisor is ever looked for: it is enough
to know the numerator.

Powers share a kernel: `exp(2*x - y)` is `exp(x)**2 / exp(y)`, and `sqrt(u)` is known to have the
square `u`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from math import lcm
from typing import Any

import sympy
from sympy import Expr, I, S
from sympy.polys.rings import PolyRing

MAX_TERMS = 20_000
"""A numerator that would grow beyond this is left to other means."""


MAX_FACTORED = 9
"""Denominators with more terms, or of a higher degree, are not split into factors."""


class NotRational(Exception):
    """The expression is infinite somewhere, undefined, or too large."""


def is_rationally_zero(expr: Expr) -> bool:
    """Return whether the numerator of `expr` vanishes as a polynomial in its kernels.

    True is a proof; False means only that this is not how it can be seen.
    """
    apart = _Kernels(relates_numbers=False)
    return _vanishes(expr, apart) or (apart.has_numbers and _vanishes(expr, _Kernels()))


def _vanishes(expr: Expr, kernels: _Kernels) -> bool:
    try:
        kernels.collect(expr)
        return _Reader(kernels).vanishes(expr)
    except NotRational:
        return False


@dataclass
class _Quotient:
    """`numerator / product(factor**exponent)`."""

    numerator: Any
    factors: Counter[Any] = field(default_factory=Counter)


class _Kernels:
    """The generators of the polynomial ring, found in a first walk over the expression.

    If it `relates_numbers`, `exp(2/25)` and `exp(19/10)` are powers of `exp(1/50)`, of high degree;
    else they are kernels apart, of which fewer identities are seen, in less time.
    """

    def __init__(self, *, relates_numbers: bool = True) -> None:
        self._relates_numbers = relates_numbers
        self.has_numbers = False
        """True if there are exponentials of numbers."""
        self._seen: set[Expr] = set()
        self._denominators: dict[tuple[Expr, Expr], int] = {}
        """For the power `base**unit`, the common denominator of the coefficients it occurs with."""
        self._names: dict[Expr, None] = {}
        self._expanded: dict[Expr, Expr] = {}

    def collect(self, expr: Expr) -> None:
        """Note every kernel below `expr`; inner ones first."""
        if expr in self._seen:
            return
        self._seen.add(expr)
        if expr.is_Rational:
            return
        if expr.is_number and not expr.is_finite:
            raise NotRational
        if expr.is_Add or expr.is_Mul:
            for arg in expr.args:
                self.collect(arg)
        elif _is_power(expr):
            self._collect_power(expr)
        else:
            self._names[expr] = None

    def _collect_power(self, expr: Expr) -> None:
        for base, unit, coefficient in self.power_parts(expr):
            if unit is S.One and base is not S.Exp1:
                self.collect(base)
            key = (base, unit)
            before = self._denominators.get(key, 1)
            self._denominators[key] = lcm(before, int(coefficient.q))

    def power_parts(self, expr: Expr) -> Iterable[tuple[Expr, Expr, sympy.Rational]]:
        """`base**exponent` as factors `(base**unit)**coefficient`."""
        if expr is S.Exp1:
            base, exponent = S.Exp1, S.One
        else:
            base, exponent = expr.args if expr.is_Pow else (S.Exp1, expr.args[0])
        if not exponent.is_Rational:
            exponent = self.expanded(exponent)
        if not (base.is_Symbol or base.is_Integer or exponent.is_Integer):
            base = self.expanded(base)
        for term in sympy.Add.make_args(exponent):
            coefficient, unit = term.as_coeff_Mul(rational=True)
            if base is S.Exp1 and unit is S.One and not self._relates_numbers:
                self.has_numbers = True
                coefficient, unit = _smooth_part(coefficient)
            yield base, unit, coefficient

    def expanded(self, expr: Expr) -> Expr:
        """Equal sums written differently should be one kernel."""
        found = self._expanded.get(expr)
        if found is None:
            found = self._expanded[expr] = sympy.expand(expr)
        return found

    def all(self) -> list[Expr]:
        """Every kernel; those of powers come after what their bases are made of."""
        powers = [self.kernel(*key) for key in self._denominators if not self.is_plain(*key)]
        return [*self._names, *powers]

    def roots(self) -> list[tuple[Expr, int, Expr]]:
        """Kernels that are algebraic: `(kernel, degree, kernel**degree)`, inner ones first."""
        found: list[tuple[Expr, int, Expr]] = [
            (self.kernel(base, unit), denominator, base)
            for (base, unit), denominator in self._denominators.items()
            if unit is S.One and base is not S.Exp1 and denominator > 1
        ]
        return [(I, 2, S.NegativeOne), *found] if I in self._names else found

    def is_plain(self, base: Expr, unit: Expr) -> bool:
        """Only integer powers of `base` occur, so it needs no kernel beside its own."""
        return unit is S.One and base is not S.Exp1 and self._denominators[base, unit] == 1

    def kernel(self, base: Expr, unit: Expr) -> Expr:
        """The generator that all powers of `base**unit` are integer powers of."""
        return sympy.Pow(base, unit / self._denominators[base, unit], evaluate=False)

    def degree(self, base: Expr, unit: Expr, coefficient: sympy.Rational) -> int:
        """Return the exponent of the kernel in `(base**unit)**coefficient`."""
        return int(coefficient * self._denominators[base, unit])


def _smooth_part(number: sympy.Rational) -> tuple[sympy.Rational, sympy.Rational]:
    """A number as what twos and threes make of it, times the rest.

    So `exp(22/5)` is still the square of `exp(11/5)`.
    """
    smooth = S.NegativeOne if number < 0 else S.One
    for prime in (2, 3):
        for part, sign in ((int(number.p), 1), (int(number.q), -1)):
            while part and part % prime == 0:
                part //= prime
                smooth *= sympy.Integer(prime) ** sign
    return smooth, number / smooth


def _is_power(expr: Expr) -> bool:
    """Powers and exponentials; sympy has three classes for them."""
    return bool(expr.is_Pow) or isinstance(expr, sympy.exp) or expr is S.Exp1


class _Reader:
    """The second walk: every part of an expression as a quotient of polynomials."""

    def __init__(self, kernels: _Kernels) -> None:
        self._kernels = kernels
        names = kernels.all()
        self._ring = PolyRing([f"k{number}" for number in range(len(names))], sympy.QQ)
        self._polynomials = dict(zip(names, self._ring.gens, strict=True))
        self._places = {generator: n for n, generator in enumerate(self._ring.gens)}
        self._known: dict[Expr, _Quotient] = {}
        self._factored: dict[Any, Counter[Any]] = {}

    def vanishes(self, expr: Expr) -> bool:
        """Return whether the numerator is zero once every root is below its degree."""
        numerator = self.quotient(expr).numerator
        for kernel, degree, radicand in reversed(self._kernels.roots()):
            if not numerator:
                break
            place = self._places[self._polynomials[kernel]]
            numerator = _reduce_root(numerator, place, degree, self.quotient(radicand))
        return not numerator

    def quotient(self, expr: Expr) -> _Quotient:
        """`expr` over a common denominator."""
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._read(expr)
            if len(found.numerator) > MAX_TERMS:
                raise NotRational
        return found

    def _read(self, expr: Expr) -> _Quotient:
        if expr.is_Rational:
            return _Quotient(self._ring.ground_new(sympy.QQ(int(expr.p), int(expr.q))))
        if expr.is_Add:
            return self._sum([self.quotient(arg) for arg in expr.args])
        if expr.is_Mul:
            return self._multiply([self.quotient(arg) for arg in expr.args])
        if _is_power(expr):
            return self._power(expr)
        return _Quotient(self._polynomials[expr])

    def _sum(self, parts: list[_Quotient]) -> _Quotient:
        """Over the least common multiple of the factored denominators."""
        numerators: dict[frozenset[tuple[Any, int]], Any] = {}
        for part in parts:
            key = frozenset(part.factors.items())
            numerators[key] = numerators.get(key, self._ring.zero) + part.numerator
        if len(numerators) == 1:
            ((key, numerator),) = numerators.items()
            return self._shortened(_Quotient(numerator, Counter(dict(key))))
        common: Counter[Any] = Counter()
        for key in numerators:
            common |= Counter(dict(key))
        total = self._ring.zero
        for key, numerator in numerators.items():
            total += _product(numerator, common - Counter(dict(key)))
        return self._shortened(_Quotient(total, common))

    def _multiply(self, parts: list[_Quotient]) -> _Quotient:
        factors: Counter[Any] = Counter()
        for part in parts:
            factors += part.factors
        numerator = self._ring.one
        for part in parts:
            if factors[part.numerator] > 0:
                factors[part.numerator] -= 1
            else:
                numerator = numerator * part.numerator
        return self._shortened(_Quotient(numerator, +factors))

    def _power(self, expr: Expr) -> _Quotient:
        kernels = self._kernels
        parts = []
        for base, unit, coefficient in kernels.power_parts(expr):
            if kernels.is_plain(base, unit):
                parts.append(self._raised(self.quotient(base), int(coefficient)))
            else:
                kernel = self._polynomials[kernels.kernel(base, unit)]
                degree = kernels.degree(base, unit, coefficient)
                parts.append(self._raised(_Quotient(kernel), degree))
        return self._multiply(parts)

    def _raised(self, base: _Quotient, exponent: int) -> _Quotient:
        if exponent >= 0:
            raised = {factor: times * exponent for factor, times in base.factors.items()}
            return _Quotient(base.numerator**exponent, Counter(raised))
        return self._raised(self._inverse(base), -exponent)

    def _inverse(self, quotient: _Quotient) -> _Quotient:
        """The numerator becomes a denominator, split into kernels and one other factor."""
        numerator = quotient.numerator
        if not numerator:
            raise NotRational
        factors: Counter[Any] = Counter()
        rest = numerator
        for place, generator in enumerate(self._ring.gens):
            times = min(monomial[place] for monomial in numerator)
            if times:
                factors[generator] = times
                rest = _without(rest, place, times)
        leading = rest.LC
        rest = rest.quo_ground(leading)
        if rest != self._ring.one:
            factors += self._factors(rest)
        inverse = self._ring.ground_new(1 / leading)
        return _Quotient(_product(inverse, quotient.factors), factors)

    def _factors(self, polynomial: Any) -> Counter[Any]:
        """The factors of a short monic polynomial in one kernel; others are left whole.

        The square that is in `exp(x)**2 + 2*exp(x) + 1` need not be multiplied with its root.
        """
        found = self._factored.get(polynomial)
        if found is None:
            found = self._factored[polynomial] = Counter(
                _split(polynomial) if len(polynomial) <= MAX_FACTORED else {polynomial: 1}
            )
        return found

    def _shortened(self, quotient: _Quotient) -> _Quotient:
        """Without the kernels that divide both numerator and denominator."""
        for factor, times in list(quotient.factors.items()):
            place = self._places.get(factor)
            if place is None or not quotient.numerator:
                continue
            shared = min(times, min(monomial[place] for monomial in quotient.numerator))
            if shared:
                quotient.numerator = _without(quotient.numerator, place, shared)
                quotient.factors[factor] -= shared
                if not quotient.factors[factor]:
                    del quotient.factors[factor]
        return quotient


def _split(polynomial: Any) -> dict[Any, int]:
    """A monic polynomial in one generator by its irreducible factors, monic as well."""
    places = {place for monomial in polynomial for place, times in enumerate(monomial) if times}
    if len(places) != 1:
        return {polynomial: 1}
    (place,) = places
    if max(monomial[place] for monomial in polynomial) > MAX_FACTORED:
        return {polynomial: 1}
    zeros = (0,) * len(polynomial.ring.gens)
    alone = frozenset((monomial[place], c) for monomial, c in polynomial.items())
    return {
        polynomial.ring.from_dict(
            {(*zeros[:place], degree, *zeros[place + 1 :]): c for degree, c in factor}
        ): times
        for factor, times in _irreducible(alone)
    }


@cache
def _irreducible(
    polynomial: frozenset[tuple[int, Any]],
) -> list[tuple[list[tuple[int, Any]], int]]:
    """The monic factors of a polynomial in one variable; terms are degrees and coefficients."""
    ring = PolyRing(["k"], sympy.QQ)
    _, factors = ring.from_dict({(degree,): c for degree, c in polynomial}).factor_list()
    return [
        ([(degree, c) for (degree,), c in factor.monic().items()], times)
        for factor, times in factors
    ]


def _without(polynomial: Any, place: int, times: int) -> Any:
    """A polynomial divided by a power of a generator that divides each of its terms."""
    return polynomial.ring.from_dict(
        {
            (*monomial[:place], monomial[place] - times, *monomial[place + 1 :]): coefficient
            for monomial, coefficient in polynomial.items()
        }
    )


def _product(start: Any, factors: Counter[Any]) -> Any:
    for factor, times in factors.items():
        start = start * factor**times
    return start


def _reduce_root(numerator: Any, place: int, degree: int, radicand: _Quotient) -> Any:
    """Replace `root**degree` by its radicand, up to a factor that is not zero."""
    ring = numerator.ring
    parts: dict[int, Any] = {}
    for monomial, coefficient in numerator.terms():
        power = monomial[place]
        rest = (*monomial[:place], power % degree, *monomial[place + 1 :])
        part = parts.setdefault(power // degree, {})
        part[rest] = part.get(rest, 0) + coefficient
    most = max(parts)
    denominator = _product(ring.one, radicand.factors)
    total = ring.zero
    for power, part in parts.items():
        polynomial = ring.from_dict(part)
        total += polynomial * radicand.numerator**power * denominator ** (most - power)
    return total
