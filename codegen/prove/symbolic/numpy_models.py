"""Exact models of NumPy's and SciPy's functions of numbers.

One entry per ufunc, by name: a function of sympy expressions. Where the answer depends on an
order (`maximum`, `abs`, `floor`) it is decided at the witness, and noted. A name that is missing
here is refused by the caller: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy import Expr, Integer, Rational, S, exp, log, pi, sqrt

from . import complex_numbers
from .complex_numbers import is_complex
from .decisions import ProofError, sign, value
from .gamma_functions import GammaQuantile, RegularizedGamma

Model = Callable[..., Any]


def _absolute(x: Expr) -> Expr:
    if is_complex(x):
        return complex_numbers.absolute(x)
    return x if sign(x) >= 0 else -x


def _sign(x: Expr) -> Expr:
    if is_complex(x):
        return S.Zero if _same(x, S.Zero) else x / complex_numbers.absolute(x)
    return Integer(sign(x))


def _maximum(a: Expr, b: Expr) -> Expr:
    return a if a is b or sign(a - b) >= 0 else b


def _minimum(a: Expr, b: Expr) -> Expr:
    return a if a is b or sign(a - b) <= 0 else b


def _clip(x: Expr, low: Expr, high: Expr) -> Expr:
    return _minimum(_maximum(x, low), high)


def _floor(x: Expr) -> Expr:
    """A constant near the witness, between it and the next integer."""
    if x.is_number:
        return sympy.floor(x)
    whole = sympy.floor(value(x) + Rational(1, 2))  # of a float: one too large, perhaps
    if sign(x - whole, branches=False) < 0:
        whole -= 1
    if sign(x - whole, branches=False) < 0 or sign(whole + 1 - x, branches=False) <= 0:
        raise ProofError(f"cannot tell on which side of an integer {x} is")
    return whole


def _trunc(x: Expr) -> Expr:
    return _floor(x) if sign(x) >= 0 else -_floor(-x)


def _rint(x: Expr) -> Expr:
    """To the nearest integer; a witness half way between two goes to the even one."""
    whole = _floor(x + Rational(1, 2))
    is_tie = sign(x + Rational(1, 2) - whole, branches=False) == 0
    return whole - 1 if is_tie and whole.is_odd else whole


def _floor_divide(a: Expr, b: Expr) -> Expr:
    return _floor(a / b)


def _remainder(a: Expr, b: Expr) -> Expr:
    return a - b * _floor(a / b)


def _fmod(a: Expr, b: Expr) -> Expr:
    return a - b * _trunc(a / b)


def _cbrt(x: Expr) -> Expr:
    third = Rational(1, 3)
    return x**third if sign(x) >= 0 else -((-x) ** third)


def settle(expr: Expr) -> Expr:
    """`expr` with the absolute values and signs that sympy brought in decided at the witness."""
    if not expr.has(sympy.Abs, sympy.sign):
        return expr
    return expr.replace(
        lambda part: isinstance(part, sympy.Abs | sympy.sign),
        lambda part: (
            _absolute(part.args[0]) if isinstance(part, sympy.Abs) else _sign(part.args[0])
        ),
    )


def _power(base: Expr, exponent: Expr) -> Expr:
    result = base**exponent
    return result if exponent.is_Integer else settle(result)


def _copysign(a: Expr, b: Expr) -> Expr:
    return _absolute(a) if sign(b) >= 0 else -_absolute(a)


def _heaviside(x: Expr, at_zero: Expr) -> Expr:
    side = sign(x)
    return at_zero if side == 0 else Integer(side > 0)


def _xlogy(x: Expr, y: Expr) -> Expr:
    return S.Zero if x.is_zero else x * log(y)


def _entr(x: Expr) -> Expr:
    return S.Zero if x.is_zero else -x * log(x)


def _expit(x: Expr) -> Expr:
    return 1 / (1 + exp(-x))


def _zeta(s: Expr, x: Expr) -> Expr:
    """Hurwitz' zeta function; at integers by the polygamma functions, whose derivatives close."""
    if s.is_Integer and s > 1:
        return (-1) ** s * sympy.polygamma(s - 1, x) / sympy.factorial(s - 1)
    return sympy.zeta(s, x)


def _frexp(x: Expr) -> tuple[Expr, Expr]:
    """The number between a half and one, and the power of two, that the witness has."""
    if _same(x, S.Zero):
        return x, S.Zero
    size = _absolute(x)
    power = sympy.floor(log(value(size)) / log(2)) + 1
    if sign(size - S(2) ** power, branches=False) >= 0:
        power += 1
    if sign(size - S(2) ** (power - 1), branches=False) < 0:
        power -= 1
    return x / S(2) ** power, power


def _ndtr(x: Expr) -> Expr:
    return (1 + sympy.erf(x / sqrt(2))) / 2


NUMBERS: dict[str, Model] = {
    # arithmetic
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "fmod": _fmod,
    "power": _power,
    "float_power": _power,
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "reciprocal": lambda a: 1 / a,
    "square": lambda a: a * a,
    "sqrt": lambda a: settle(sqrt(a)),
    "cbrt": _cbrt,
    "hypot": lambda a, b: settle(sqrt(a * a + b * b)),
    "deg2rad": lambda a: a * pi / 180,
    "radians": lambda a: a * pi / 180,
    "rad2deg": lambda a: a * 180 / pi,
    "degrees": lambda a: a * 180 / pi,
    "conjugate": complex_numbers.conjugate,
    "frexp": _frexp,
    # order
    "absolute": _absolute,
    "fabs": _absolute,
    "sign": _sign,
    "maximum": _maximum,
    "minimum": _minimum,
    "fmax": _maximum,
    "fmin": _minimum,
    "clip": _clip,
    "copysign": _copysign,
    "heaviside": _heaviside,
    "nextafter": lambda a, b: a,  # up to rounding, of which symbols know nothing
    "floor": _floor,
    "ceil": lambda a: -_floor(-a),
    "trunc": _trunc,
    "rint": _rint,
    # exponentials and logarithms
    "exp": exp,
    "exp2": lambda a: 2**a,
    "expm1": lambda a: exp(a) - 1,
    "log": log,
    "log2": lambda a: log(a) / log(2),
    "log10": lambda a: log(a) / log(10),
    "log1p": lambda a: log(1 + a),
    "logaddexp": lambda a, b: log(exp(a) + exp(b)),
    "logaddexp2": lambda a, b: log(2**a + 2**b) / log(2),
    # trigonometric and hyperbolic
    **{name: getattr(sympy, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "arctan2": sympy.atan2,
    "arcsinh": sympy.asinh,
    "arccosh": sympy.acosh,
    "arctanh": sympy.atanh,
    # scipy.special
    "expit": _expit,
    "log_expit": lambda a: -log(1 + exp(-a)),
    "logit": lambda a: log(a / (1 - a)),
    "xlogy": _xlogy,
    "xlog1py": lambda x, y: _xlogy(x, 1 + y),
    "entr": _entr,
    "erf": sympy.erf,
    "erfc": lambda a: 1 - sympy.erf(a),
    "erfcx": lambda a: exp(a * a) * sympy.erfc(a),  # which has digits where it is small
    "erfinv": sympy.erfinv,
    "ndtr": _ndtr,
    "log_ndtr": lambda a: log(_ndtr(a)),
    "ndtri": lambda a: sqrt(2) * sympy.erfinv(2 * a - 1),
    "gamma": sympy.gamma,
    "gammaln": sympy.loggamma,
    "psi": lambda a: sympy.polygamma(0, a),
    "digamma": lambda a: sympy.polygamma(0, a),
    "beta": lambda a, b: sympy.gamma(a) * sympy.gamma(b) / sympy.gamma(a + b),
    "betaln": lambda a, b: sympy.loggamma(a) + sympy.loggamma(b) - sympy.loggamma(a + b),
    "zeta": _zeta,
    "_zeta": _zeta,
    "i0": lambda a: sympy.besseli(0, a),
    "i1": lambda a: sympy.besseli(1, a),
    "i0e": lambda a: exp(-_absolute(a)) * sympy.besseli(0, a),
    "iv": lambda n, a: sympy.besseli(n, a),
    "ive": lambda n, a: exp(-_absolute(a)) * sympy.besseli(n, a),
    "i1e": lambda a: exp(-_absolute(a)) * sympy.besseli(1, a),
    "j0": lambda a: sympy.besselj(0, a),
    "j1": lambda a: sympy.besselj(1, a),
    "jv": sympy.besselj,
    "y0": lambda a: sympy.bessely(0, a),
    "y1": lambda a: sympy.bessely(1, a),
    "yv": sympy.bessely,
    "k0": lambda a: sympy.besselk(0, a),
    "k1": lambda a: sympy.besselk(1, a),
    "kv": sympy.besselk,
    "k0e": lambda a: exp(a) * sympy.besselk(0, a),
    "k1e": lambda a: exp(a) * sympy.besselk(1, a),
    "kve": lambda n, a: exp(a) * sympy.besselk(n, a),
    "airy": lambda a: (
        sympy.airyai(a),
        sympy.airyaiprime(a),
        sympy.airybi(a),
        sympy.airybiprime(a),
    ),
    "gammainc": lambda a, x: RegularizedGamma(S.Zero, a, x),
    "gammaincc": lambda a, x: 1 - RegularizedGamma(S.Zero, a, x),
    "gammaincinv": GammaQuantile,
    "exp10": lambda a: 10**a,
}

TRUTHS: dict[str, Model] = {
    "less": lambda a, b: sign(a - b) < 0,
    "less_equal": lambda a, b: sign(a - b) <= 0,
    "greater": lambda a, b: sign(a - b) > 0,
    "greater_equal": lambda a, b: sign(a - b) >= 0,
    "equal": lambda a, b: _same(a, b),
    "not_equal": lambda a, b: not _same(a, b),
    "logical_not": lambda a: not truth(a),
    "logical_and": lambda a, b: truth(a) and truth(b),
    "logical_or": lambda a, b: truth(a) or truth(b),
    "logical_xor": lambda a, b: truth(a) is not truth(b),
    "isnan": lambda a: a is S.NaN,
    "isinf": lambda a: a.is_infinite is True,
    "isfinite": lambda a: a is not S.NaN and a.is_infinite is not True,
    "signbit": lambda a: sign(a) < 0,
}
"""The ufuncs that answer true or false."""


def _same(a: Expr, b: Expr) -> bool:
    """Equality is decided without a chamber: two expressions differ almost everywhere."""
    difference = a - b
    if is_complex(difference):
        difference = complex_numbers.absolute(difference)
    return bool(difference == 0) or sign(difference, branches=False) == 0


def truth(x: Expr) -> bool:
    """Return whether a number counts as true."""
    return not _same(x, S.Zero)
