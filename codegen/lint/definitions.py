"""Definitions as sympy reads them, and those of ops whose `forward` is no expression for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import mpmath
import sympy
from sympy import Piecewise, S, erfc, erfinv, exp, log, pi, sign, sin, sqrt
from sympy.utilities.lambdify import implemented_function

from ..render.to_sympy import NotSymbolic, SympyReader
from ..spec.model import Table
from .subjects import Subject


def _logit(x: Any, eps: Any) -> Any:
    moved = x if eps is None else Piecewise((eps, x < eps), (1 - eps, x > 1 - eps), (x, True))
    return log(moved / (1 - moved))


def _frac(x: Any) -> Any:
    return x - sign(x) * sympy.floor(abs(x))


def _scaled_bessel(order: int) -> Callable[[Any], Any]:
    return lambda x: exp(-abs(x)) * sympy.besseli(order, x)


def _heaviside(x: Any, values: Any) -> Any:
    return Piecewise((S.Zero, x < 0), (S.One, x > 0), (values, True))


_NUMBERS: Final[Mapping[str, Callable[..., Any]]] = {
    "deg2rad": lambda x: x * pi / 180,
    "rad2deg": lambda x: x * 180 / pi,
    "logit": _logit,
    "nan_to_num": lambda x, *_: x,
    "sinc": lambda x: Piecewise((S.One, sympy.Eq(x, 0)), (sin(pi * x) / (pi * x), True)),
    "copysign.Tensor": lambda x, other: abs(x) * sign(other),
    "copysign.Scalar": lambda x, other: abs(x) * sign(other),
    "fmax": lambda x, other: Piecewise((x, x >= other), (other, True)),
    "fmin": lambda x, other: Piecewise((x, x <= other), (other, True)),
    "frac": _frac,
    "ldexp.Tensor": lambda x, other: x * 2**other,
    "logaddexp2": lambda x, other: log(2**x + 2**other) / log(2),
    "nextafter": lambda x, other: x,
    "fill.Scalar": lambda x, value: value,
    "erfinv": erfinv,
    "special_ndtr": lambda x: erfc(-x / sqrt(2)) / 2,
    "special_ndtri": lambda x: sqrt(2) * erfinv(2 * x - 1),
    "special_log_ndtr": lambda x: log(erfc(-x / sqrt(2)) / 2),
    "special_erfcx": lambda x: exp(x * x) * erfc(x),
    "special_entr": lambda x: -x * log(x),
    "special_xlog1py": lambda x, other: x * log(1 + other),
    "special_xlog1py.self_scalar": lambda x, other: x * log(1 + other),
    "special_xlog1py.other_scalar": lambda x, other: x * log(1 + other),
    "i0": lambda x: sympy.besseli(0, x),
    "special_i0e": _scaled_bessel(0),
    "special_i1": lambda x: sympy.besseli(1, x),
    "special_i1e": _scaled_bessel(1),
    "heaviside": _heaviside,
}


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        x = Piecewise((x, x >= min), (min, True))
    return x if max is None else Piecewise((x, x <= max), (max, True))


def _celu(x: Any, alpha: Any) -> Any:
    return Piecewise((x, x > 0), (alpha * (sympy.exp(x / alpha) - 1), True))


def _softshrink(x: Any, lambd: Any) -> Any:
    return Piecewise((x - lambd, x > lambd), (x + lambd, x < -lambd), (0, True))


def _mish(x: Any) -> Any:
    """Without the logarithm, in which small exponentials get lost beside one at any digits."""
    square = sympy.exp(x) * (sympy.exp(x) + 2)
    return x * square / (square + 2)


def _gelu(x: Any, approximate: str) -> Any:
    if approximate == "none":
        return x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2
    cubic = x + sympy.Rational(44715, 10**6) * x**3
    return x * (1 + sympy.tanh(sympy.sqrt(2 / sympy.pi) * cubic)) / 2


_round = implemented_function("round", mpmath.nint)
"""To the nearest integer, the even one of two."""


def _trunc(x: Any) -> Any:
    return sympy.sign(x) * sympy.floor(abs(x))


def _round_decimals(x: Any, decimals: Any) -> Any:
    scale = sympy.Integer(10) ** decimals
    return _round(x * scale) / scale


def _div_rounded(x: Any, other: Any, rounding_mode: str) -> Any:
    return sympy.floor(x / other) if rounding_mode == "floor" else _trunc(x / other)


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "eq": sympy.Eq,
    "erf": sympy.erf,
    "isfinite": lambda x: sympy.true,
    "isnan": lambda x: sympy.false,
    "maximum": lambda x, y: Piecewise((x, x >= y), (y, True)),
    "minimum": lambda x, y: Piecewise((x, x <= y), (y, True)),
    "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "trunc": _trunc,
    "round": _round,
    "np.floor": sympy.floor,
    "np.ceil": sympy.ceiling,
    "np.rint": _round,
    "np.trunc": _trunc,
    "np.fabs": sympy.Abs,
    "np.cbrt": lambda x: sign(x) * abs(x) ** sympy.Rational(1, 3),
    "np.deg2rad": lambda x: x * pi / 180,
    "np.radians": lambda x: x * pi / 180,
    "np.rad2deg": lambda x: x * 180 / pi,
    "np.degrees": lambda x: x * 180 / pi,
    "np.logaddexp2": lambda x, y: log(2**x + 2**y) / log(2),
    "np.add": lambda x, y: x + y,
    "np.subtract": lambda x, y: x - y,
    "np.multiply": lambda x, y: x * y,
    "np.divide": lambda x, y: x / y,
    "np.true_divide": lambda x, y: x / y,
    "np.power": lambda x, y: x**y,
    "np.float_power": lambda x, y: x**y,
    "np.copysign": lambda x, y: abs(x) * sign(y),
    "np.isfinite": lambda x: sympy.true,
    "np.isnan": lambda x: sympy.false,
    "sp.cbrt": lambda x: sign(x) * abs(x) ** sympy.Rational(1, 3),
    "sp.entr": lambda x: -x * log(x),
    "sp.erfc": erfc,
    "sp.erfcx": lambda x: exp(x * x) * erfc(x),
    "sp.erfinv": erfinv,
    "sp.exp10": lambda x: 10**x,
    "sp.exp2": lambda x: 2**x,
    "sp.expm1": lambda x: exp(x) - 1,
    "sp.gamma": sympy.gamma,
    "sp.i0": lambda x: sympy.besseli(0, x),
    "sp.i0e": lambda x: exp(-abs(x)) * sympy.besseli(0, x),
    "sp.i1": lambda x: sympy.besseli(1, x),
    "sp.i1e": lambda x: exp(-abs(x)) * sympy.besseli(1, x),
    "sp.log1p": lambda x: log(1 + x),
    "sp.log_expit": lambda x: -log(1 + exp(-x)),
    "sp.log_ndtr": lambda x: log(erfc(-x / sqrt(2)) / 2),
    "sp.ndtr": lambda x: erfc(-x / sqrt(2)) / 2,
    "sp.ndtri": lambda x: sqrt(2) * erfinv(2 * x - 1),
    "sp.xlog1py": lambda x, y: x * log(1 + y),
}
"""Functions of numbers that definitions call, beside those that sympy knows."""


_DEFINITIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "round": _round,
    "round.decimals": _round_decimals,
    "trunc": _trunc,
    "div.Tensor_mode": _div_rounded,
    "fmod.Scalar": lambda x, other: x - other * _trunc(x / other),
    "fmod.Tensor": lambda x, other: x - other * _trunc(x / other),
    "remainder.Scalar": lambda x, other: x - other * sympy.floor(x / other),
    "remainder.Tensor": lambda x, other: x - other * sympy.floor(x / other),
    "clamp": _clamp,
    "clamp_min": lambda x, min: _clamp(x, min),
    "clamp_max": lambda x, max: _clamp(x, None, max),
    "celu": _celu,
    "gelu": _gelu,
    "hardtanh": _clamp,
    "lerp.Scalar": lambda x, end, weight: x + weight * (end - x),
    "mish": _mish,
    "polygamma": lambda n, x: sympy.polygamma(n, x),
    "add.Tensor": lambda x, other, alpha: x + alpha * other,
    "angle": lambda x: Piecewise((sympy.pi, x < 0), (0, True)),
    "sgn": sympy.sign,
    "softshrink": _softshrink,
    "sub.Tensor": lambda x, other, alpha: x - alpha * other,
    "rsub.Tensor": lambda x, other, alpha: other - alpha * x,
    "rsub.Scalar": lambda x, other, alpha: other - alpha * x,
    **_NUMBERS,
}
"""Definitions of the ops whose `forward` is no expression that sympy reads."""


def definition(subject: Subject, table: Table) -> Any:
    """The op as an expression of its tensors' elements. Raises NotSymbolic if it is none."""
    symbols = {name: sympy.Symbol(name, real=True) for name in subject.tensors}
    known = {name: number(value) for name, value in subject.arguments().items()} | symbols
    given = _DEFINITIONS.get(subject.op.name)
    if given is not None:
        return given(*(known[p.name] for p in subject.op.signature.params))
    if subject.op.definition is None:
        raise NotSymbolic("it has no definition")
    return SympyReader(table, FUNCTIONS).block(subject.op.definition.block, known)


def number(value: Any) -> Any:
    """A plain number exactly; anything else as it is."""
    return sympy.nsimplify(value, rational=True) if isinstance(value, int | float) else value
