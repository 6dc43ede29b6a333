"""Expressions as residues: their values in the field of `p` elements, at a point drawn by hashing.

Symbols stand for residues that look random, and so do parts that are no sum, product or integer
power: `exp(u)`, `log(u)`, `erf(u)` are drawn by the name of the function and the residues of its
arguments. Two expressions that are equal as quotients of polynomials in such parts have the same
residue, however they are written. Where they are not, their residues differ but for a chance of at
most their degree over `p` (Schwartz and Zippel).

Some parts are made of others, so that more equalities are seen: sines and hyperbolic sines of
exponentials, `exp(-u)` of `exp(u)`, and a symbol of its roots. The root of a sum is drawn like any
function, so `sqrt(u + v)**2` is not `u + v` here. Where that is needed, `PositiveResidues` are
asked, whose points are those at which the sums have roots.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from contextlib import suppress

import sympy
from sympy import Expr, I, S

BITS = 61
"""Bits of the primes."""


_PARTS = 12
"""Denominator of the exponents of drawn powers: twelfths, so that halves and thirds fit."""


class NoResidue(Exception):
    """An expression that is undefined, infinite, or divides by what happens to be zero."""


class NoRoot(NoResidue):
    """A root of what has none at this point."""


def random_prime(rng: random.Random) -> int:
    """A prime that is 5 modulo 8, so that it has a square root of minus one that is soon found."""
    while True:
        candidate = rng.randrange(2 ** (BITS - 1), 2**BITS) // 8 * 8 + 5
        if sympy.isprime(candidate):
            return candidate


def positive_prime(rng: random.Random) -> int:
    """A prime that is 7 modulo 8 and 2 modulo 3, modulo which small numbers are squares.

    One half of its residues have square and cube roots of their own kind, and only one of each,
    which products keep: as positive numbers have.
    """
    while True:
        candidate = rng.randrange(2 ** (BITS - 1), 2**BITS) // 24 * 24 + 23
        half = candidate // 2
        if sympy.isprime(candidate) and all(pow(n, half, candidate) == 1 for n in (5, 7, 11, 13)):
            return candidate


def have_equal_residues(left: Expr, right: Expr) -> bool:
    """Return whether two expressions have the same residues in two fields drawn at random.

    If so they are equal, unless both primes divide what is the numerator of their difference at a
    random point: for one of degree `d` that happens with a chance below `(d / 2**60)**2`. Roots of
    sums may take another sign than that of positive numbers, if one is made of the others: so the
    values at a point have to be compared as well.
    """
    try:
        if all(field.value(left) == field.value(right) for field in _fields()):
            return True
        roots = _roots(left, right)
        fields = [_field_with_roots(place, roots) for place in range(2 if roots else 0)]
        return bool(fields) and all(field.value(left) == field.value(right) for field in fields)
    except NoResidue:
        return False


def _roots(*sides: Expr) -> list[Expr]:
    """The powers of sums whose exponents are fractions."""
    seen: set[Expr] = set()
    left = list(sides)
    while left:
        expr = left.pop()
        if expr not in seen:
            seen.add(expr)
            left += expr.args
    powers = (e for e in seen if e.is_Pow and e.base.is_Add)
    found = (e for e in powers if e.exp.is_Rational and not e.exp.is_Integer)
    return sorted(found, key=sympy.default_sort_key)


def _field_with_roots(place: int, roots: list[Expr]) -> PositiveResidues:
    """A field at a point where all of these roots are there. Raises NoResidue."""
    rng = random.Random(f"positive {place}")
    prime = positive_prime(rng)
    for number in range(MOST_POINTS):
        field = PositiveResidues(f"point {number} of {place}", prime)
        with suppress(NoRoot):
            for root in roots:
                field.value(root)
            return field
    raise NoResidue


def _fields() -> list[Residues]:
    """Two fields, the same in every process; what they know is forgotten when it is much."""
    if not _FIELDS or len(_FIELDS[0]) > MOST_KNOWN:
        rng = random.Random("two fields")
        _FIELDS[:] = [Residues(f"field {place}", random_prime(rng)) for place in range(2)]
    return _FIELDS


_FIELDS: list[Residues] = []

MOST_POINTS = 512
"""Number of points that are tried: at each, a sum has a root with a chance of a half."""

MOST_KNOWN = 200_000
"""Number of parts of expressions that a field remembers."""


class Residues:
    """Values of expressions at one point of one field; each part is computed once."""

    def __init__(self, salt: str, prime: int, *, is_conjugate: bool = False) -> None:
        self.prime = prime
        self._salt = salt
        root = pow(2, (prime - 1) // 4, prime)  # two is no square modulo such a prime
        self._root = prime - root if is_conjugate else root
        self._is_conjugate = is_conjugate
        self._known: dict[Expr, int] = {}
        self._roots: dict[int, int] = {}

    def __len__(self) -> int:
        """The number of expressions whose residues are known."""
        return len(self._known)

    def conjugate(self) -> Residues:
        """The same field with `-i` for `i`."""
        return Residues(self._salt, self.prime, is_conjugate=not self._is_conjugate)

    def value(self, expr: Expr) -> int:
        """The residue of an expression. Raises NoResidue where there is none."""
        found = self._known.get(expr)
        if found is None:
            found = self._known[expr] = self._compute(expr)
        return found

    def reduce(self, number: int) -> int:
        """An integer as a residue."""
        return number % self.prime

    def power(self, base: int, exponent: int) -> int:
        """An integer power. Raises NoResidue for the inverse of zero."""
        if exponent < 0 and base % self.prime == 0:
            raise NoResidue
        return pow(base, exponent, self.prime)

    def _compute(self, expr: Expr) -> int:
        if expr.is_Symbol:
            return self._with_roots(self._drawn("symbol", expr.name))
        if expr.is_Rational:
            return int(expr.p) * self.power(int(expr.q), -1) % self.prime
        if expr.is_Add:
            return sum(map(self.value, expr.args)) % self.prime
        if expr.is_Mul:
            product = 1
            for factor in expr.args:
                product = product * self.value(factor) % self.prime
            return product
        if expr is I:
            return self._root
        if expr.is_Pow:
            return self._power(*expr.args)
        if isinstance(expr, sympy.exp):
            return self._power(S.Exp1, expr.args[0])
        quotient = _QUOTIENTS.get(expr.func)
        if quotient is not None:
            return quotient(self, expr.args[0])
        if not isinstance(expr, sympy.Function | sympy.NumberSymbol):
            raise NoResidue
        drawn = self._drawn(expr.func.__name__, *map(self.value, expr.args))
        return drawn if expr.args else self._with_roots(drawn)

    def _with_roots(self, root: int) -> int:
        """A power of what was drawn, whose roots are known for that."""
        residue = self.power(root, _PARTS)
        self._roots[residue] = root
        return residue

    def _power(self, base: Expr, exponent: Expr, factor: int = 1) -> int:
        """`base**(2*u + v)` as `(base**u)**2 * base**v`, so that powers share what is drawn."""
        product = 1
        for term in sympy.Add.make_args(exponent):
            coefficient, unit = term.as_coeff_Mul(rational=True)
            part = self._root_of(self.value(base), self.value(unit) * factor, int(coefficient.q))
            product = product * self.power(part, int(coefficient.p)) % self.prime
        return product

    def _root_of(self, base: int, exponent: int, degree: int) -> int:
        """`base**(exponent / degree)`, one over that with the opposite exponent."""
        exponent %= self.prime
        if exponent == 1 and degree == 1:
            return base
        turned = exponent > self.prime // 2
        root = self._roots.get(base) if exponent == 1 else None
        if root is None:
            root = self._drawn("power", base, self.prime - exponent if turned else exponent)
        if _PARTS % degree:
            root = self._drawn("root", root, degree)
        else:
            root = self.power(root, _PARTS // degree)
        return self.power(root, -1) if turned else root

    def _exponential(self, exponent: Expr, factor: int = 1) -> int:
        return self._power(S.Exp1, exponent, factor)

    def hyperbolic(self, argument: Expr, factor: int = 1) -> tuple[int, int]:
        """Twice the hyperbolic sine and cosine of a multiple of the argument."""
        up = self._exponential(argument, factor)
        down = self.power(up, -1)
        return (up - down) % self.prime, (up + down) % self.prime

    def trigonometric(self, argument: Expr) -> tuple[int, int]:
        """Twice the sine and the cosine."""
        sine, cosine = self.hyperbolic(argument, self._root)
        return sine * self.power(self._root, -1) % self.prime, cosine

    def quotient(self, numerator: int, denominator: int) -> int:
        """A quotient. Raises NoResidue for a division by zero."""
        return numerator * self.power(denominator, -1) % self.prime

    def _drawn(self, *named: object) -> int:
        """A residue that looks random, the same for the same name and arguments."""
        text = repr((self._salt, *named)).encode()
        digest = hashlib.blake2b(text, digest_size=16).digest()
        return int.from_bytes(digest) % self.prime


class PositiveResidues(Residues):
    """Values at a point at which symbols and functions are squares, and roots those of squares.

    There is no square root of minus one, so nothing is known of complex numbers. The sine and the
    cosine of an argument are a point of the circle that is drawn by it.
    """

    def _compute(self, expr: Expr) -> int:
        if expr is I:
            raise NoResidue
        return super()._compute(expr)

    def trigonometric(self, argument: Expr) -> tuple[int, int]:
        angle = self.value(argument)
        is_turned = angle > self.prime // 2
        tangent = self._drawn("angle", self.prime - angle if is_turned else angle)
        share = self.quotient(2, 1 + tangent * tangent)
        sine, cosine = 2 * tangent * share, (1 - tangent * tangent) * share
        return (-sine if is_turned else sine) % self.prime, cosine % self.prime

    def _root_of(self, base: int, exponent: int, degree: int) -> int:
        if exponent % self.prime != 1 or degree == 1 or _PARTS % degree:
            return super()._root_of(base, exponent, degree)
        squares = self.prime // 2
        if pow(base, squares, self.prime) != 1:
            raise NoRoot
        return pow(base, pow(degree, -1, squares), self.prime)

    def _drawn(self, *named: object) -> int:
        return pow(super()._drawn(*named), 2, self.prime)


_QUOTIENTS: dict[object, Callable[[Residues, Expr], int]] = {
    sympy.sinh: lambda field, x: field.quotient(field.hyperbolic(x)[0], 2),
    sympy.cosh: lambda field, x: field.quotient(field.hyperbolic(x)[1], 2),
    sympy.tanh: lambda field, x: field.quotient(*field.hyperbolic(x)),
    sympy.sin: lambda field, x: field.quotient(field.trigonometric(x)[0], 2),
    sympy.cos: lambda field, x: field.quotient(field.trigonometric(x)[1], 2),
    sympy.tan: lambda field, x: field.quotient(*field.trigonometric(x)),
}
"""Functions that are quotients of exponentials."""
