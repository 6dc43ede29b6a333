"""Definitions of the elementwise functions whose `forward` is no expression that sympy reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import sympy
from sympy import Piecewise, S, erfc, erfinv, exp, log, pi, sign, sin, sqrt


def _logit(x: Any, eps: Any) -> Any:
    moved = x if eps is None else Piecewise((eps, x < eps), (1 - eps, x > 1 - eps), (x, True))
    return log(moved / (1 - moved))


def _frac(x: Any) -> Any:
    return x - sign(x) * sympy.floor(abs(x))


def _scaled_bessel(order: int) -> Callable[[Any], Any]:
    return lambda x: exp(-abs(x)) * sympy.besseli(order, x)


NUMBERS: Final[Mapping[str, Callable[..., Any]]] = {
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
}
