"""The exact values of an op and of its derivatives: sympy's expressions, at 50 digits and more.

A point is made of floats, each of which is a rational number exactly. Digits are added until two
evaluations agree: `log(1 + exp(-700))` needs some 350.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any, Final, TypeAlias

import mpmath
import sympy

from ..authoring.smoothness import breakpoints, zeros
from ..prove.inputs.kinks import declared
from ..spec.model import Table
from .definitions import definition, number
from .subjects import Subject

By: TypeAlias = tuple[str, ...]
"""The arguments that a value is differentiated by, in the order of the signature."""

_LARGE = mpmath.mpf(10) ** 6
_FEWEST, _MORE = 50, 60
_DIGITS = (200, 700, 1500)
_DIGITS_FOR_ZERO = 700
"""Digits that tell a number next to nothing, 1e-330, from the rounding of its terms."""
_AGREEMENT = mpmath.mpf("1e-20")
_NOTHING = mpmath.mpf("1e-330")
_BESIDE = mpmath.mpf("1e-60")
"""Distance to a removable singularity at which a function has its limit."""
_POLE = mpmath.mpf("1e20")
"""Size above which the value there counts as a pole."""


class Exact:
    """Evaluates an op and its first and second derivatives.

    Raises NotSymbolic if the definition is no expression.
    """

    def __init__(self, subject: Subject, table: Table) -> None:
        symbols = [sympy.Symbol(name, real=True) for name in subject.tensors]
        expr = sympy.sympify(definition(subject, table))
        names = [s.name for s in symbols if s.name in differentiable(subject)]
        around = expr.replace(sympy.Eq, lambda *_: sympy.false)
        self._symbols = {s.name: s for s in symbols}
        self._expressions: dict[By, Any] = {(): expr}
        for name in names:
            self._expressions[name,] = _smooth_part(around.diff(self._symbols[name]))
        for a, b in combinations_with_replacement(names, 2):
            slope = self._expressions[a,]
            self._expressions[a, b] = _smooth_part(slope.diff(self._symbols[b]))
        self._functions = {
            by: sympy.lambdify(symbols, _without_ones(e), _FUNCTIONS, cse=True)
            for by, e in self._expressions.items()
        }
        self._kinks = [
            sympy.lambdify(symbols, _insert(kink.left - kink.right, subject), "mpmath")
            for kink in declared(subject.op)
        ]
        self._breaks = [sympy.lambdify(symbols, each, "mpmath") for each in breakpoints(expr)]

    @property
    def derivatives(self) -> tuple[By, ...]:
        """List the quantities to evaluate, the value itself (of no derivative) first."""
        return tuple(self._expressions)

    def singularities(self) -> list[float]:
        """The points of one argument at which the definition has a pole or a logarithm ends."""
        if len(self._symbols) != 1:
            return []
        (symbol,) = self._symbols.values()
        found: set[float] = set()
        for part in _critical_parts(self._expressions[()]):
            found |= {float(root) for root in zeros(part, symbol) or []}
        return sorted(found)

    def __call__(self, by: By, point: Sequence[float]) -> Any:
        """The value as an mpmath number; None where there is none, or none that is real."""
        exact = [mpmath.mpf(x) for x in point]
        if not all(map(mpmath.isfinite, exact)) or (by and _vanishes(self._kinks, exact)):
            return None
        if by and _vanishes(self._breaks, exact):
            return self._limit(by, exact)
        value = self._evaluate(by, exact)
        return self._limit(by, exact) if value is None else value

    def scale_beside_zero(self, by: By, point: Sequence[float]) -> Any:
        """The size of values around a point beside a zero that is no float; None elsewhere.

        Beside such a zero no formula of the working precision has all digits of the result, as
        it has none of the place of the zero.
        """
        for place in range(len(point)):
            found = self._scale_along(by, [mpmath.mpf(x) for x in point], place)
            if found is not None:
                return found
        return None

    def _scale_along(self, by: By, point: list[Any], place: int) -> Any:
        def at(x: Any) -> Any:
            return self._evaluate(by, [*point[:place], x, *point[place + 1 :]])

        low, high = (point[place] * (1 + side * _AROUND) for side in (-1, 1))
        ends = [at(low), at(high)]
        if None in ends or ends[0] * ends[1] >= 0:
            return None
        sign = mpmath.sign(ends[0])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            value = at(middle)
            if value is None or value == 0:
                return None  # a zero that is a short number
            low, high = (middle, high) if mpmath.sign(value) == sign else (low, middle)
        nearest = mpmath.nint(low * 2**20) / 2**20
        is_float = abs(nearest - low) <= abs(low) * mpmath.mpf(2) ** (4 - _HALVINGS)
        return None if is_float else max(map(abs, ends))

    def _limit(self, by: By, point: Sequence[Any]) -> Any:
        """The limit from both sides, if it is one number; of one argument only.

        At an end of the domain it is that from inside, as of `x * log(x)` at zero.
        """
        if len(point) > 1:
            return None
        sides = [self._evaluate(by, [point[0] + side * _BESIDE]) for side in (-1, 1)]
        if sides.count(None) == 1:
            inside = -1 if sides[1] is None else 1
            nearer = self._evaluate(by, [point[0] + inside * _BESIDE * _BESIDE])
            sides = [nearer if side is None else side for side in sides]
        if None in sides or not all(abs(side) < _POLE for side in sides):
            return None
        left, right = sides
        if abs(left - right) <= _AGREEMENT * max(1, abs(right)):
            middle = (left + right) / 2
            return mpmath.mpf(0) if abs(middle) < mpmath.sqrt(_BESIDE) else middle
        return None

    def _evaluate(self, by: By, point: Sequence[Any]) -> Any:
        constant = self._expressions[by].is_number
        previous = None
        for digits in _digits(point):
            with mpmath.workdps(digits):
                value = _real(self._functions[by], point)
                if value is None or constant:
                    return value
                if previous is not None and _agree(value, previous, digits):
                    return value
                previous = value
        return None


_AROUND: Final = mpmath.mpf(1) / 8
"""A zero so near, relatively, takes three bits and more of a result."""
_HALVINGS: Final = 60


def _without_ones(expr: Any) -> Any:
    """The expression with erfc(-x) for 2 - erfc(x), which sympy makes of it: in the lower tail no
    number of digits is enough for the difference."""
    lower = {
        1 - each / 2: _ERFC(-each.args[0]) / 2
        for each in expr.atoms(sympy.erfc)
        if not each.args[0].is_number
    }
    return expr.subs(lower)


_ERFC = sympy.Function("erfc_of")


def _digits(point: Sequence[Any]) -> Iterator[int]:
    """Numbers of digits to try.

    Terms of one argument that cancel differ by up to the fourth power of it; two evaluations with
    too few digits may agree on what is left of the largest.
    """
    first = _FEWEST
    if len(point) == 1 and abs(point[0]) > _LARGE:
        first += int(4 * mpmath.log10(abs(point[0])))
    yield from sorted({first, first + _MORE, *(d for d in _DIGITS if d > first + _MORE)})


def _vanishes(expressions: Sequence[Callable[..., Any]], point: Sequence[Any]) -> bool:
    """Return whether one of some expressions is zero at a point."""
    return any(_real(each, point) == 0 for each in expressions)


def _polygamma(order: int, x: Any) -> Any:
    """mpmath's `psi`; far out by its asymptotic series, as mpmath takes minutes there."""
    if x < -_FAR_FOR_POLYGAMMA * mpmath.mp.dps:
        return mpmath.nan
    if not x > _FAR_FOR_POLYGAMMA * mpmath.mp.dps or order == 0:
        return mpmath.psi(order, x)
    term = mpmath.factorial(order - 1) / x**order
    total = term + mpmath.factorial(order) / (2 * x ** (order + 1))
    for k in range(2, mpmath.mp.dps, 2):
        term = (
            mpmath.bernoulli(k) * mpmath.gamma(k + order) / (mpmath.factorial(k) * x ** (k + order))
        )
        total += term
        if abs(term) < abs(total) * mpmath.eps:
            break
    return total if order % 2 else -total


_FUNCTIONS = [{"polygamma": _polygamma, "erfc_of": mpmath.erfc}, "mpmath"]
"""Evaluators of expressions."""


_FAR_FOR_POLYGAMMA: Final = 10


def differentiable(subject: Subject) -> tuple[str, ...]:
    """The tensor arguments that derivatives are asked for."""
    op = subject.op
    return subject.tensors if op.composite is not None else op.differentiable_params


def _critical_parts(expr: Any) -> Iterator[Any]:
    """The denominators of an expression, and the arguments of logarithms and roots."""
    for part in sympy.preorder_traversal(expr):
        if isinstance(part, sympy.Pow) and (part.exp.is_negative or not part.exp.is_integer):
            yield part.base
        elif isinstance(part, sympy.log):
            yield part.args[0]


def _smooth_part(derivative: Any) -> Any:
    """A derivative away from the jumps of `floor` and `sign`."""
    return (
        derivative.replace(sympy.Derivative, lambda *_: sympy.S.Zero)
        .replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)
        .replace(sympy.Subs, lambda *_: sympy.S.Zero)
    )


def _insert(expr: Any, subject: Subject) -> Any:
    """An expression with the numbers of the subject in the place of their names."""
    expr = sympy.sympify(expr)
    numbers = {name: number(value) for name, value in subject.arguments().items()}
    present = {s: numbers[s.name] for s in expr.free_symbols if s.name in numbers}
    return sympy.S.One if None in present.values() else expr.xreplace(present)


def _real(function: Callable[..., Any], point: Sequence[Any]) -> Any:
    try:
        value = mpmath.mpmathify(function(*point))
    except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
        return None
    if isinstance(value, mpmath.mpc):
        value = value.real if value.imag == 0 else mpmath.nan
    return None if mpmath.isnan(value) else value


def _agree(value: Any, previous: Any, digits: int) -> bool:
    """Return whether a value has all its digits; next to nothing it may be rounding alone."""
    if abs(value) > _NOTHING or digits >= _DIGITS_FOR_ZERO:
        return _same(value, previous)
    return bool(value != 0 and abs(value - previous) <= _AGREEMENT * abs(value))


def _same(a: Any, b: Any) -> bool:
    if not (mpmath.isfinite(a) and mpmath.isfinite(b)):
        return bool(a == b)
    return bool(abs(a - b) <= _AGREEMENT * abs(b) or max(abs(a), abs(b)) < _NOTHING)
