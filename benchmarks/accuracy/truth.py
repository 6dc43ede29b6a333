"""The true values of an op and of its derivatives: sympy's expressions, at 50 digits and more.

A point is made of floats, each of which is a rational number exactly. Digits are added until two
evaluations agree: `log(1 + exp(-700))` needs some 350.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mpmath
import sympy
from sympy.utilities.lambdify import implemented_function

from gradspec_codegen.prove.inputs.kinks import declared
from gradspec_codegen.render.to_sympy import NotSymbolic, SympyReader

from .numbers import NUMBERS
from .subjects import TABLE, Subject

_DIGITS = (50, 130, 700, 1500)
_ENOUGH_FOR_ZERO = 700
"""So many digits tell a number next to nothing, 1e-330, from the rounding of its terms."""
_AGREEMENT = mpmath.mpf("1e-20")
_NOTHING = mpmath.mpf("1e-330")
_FAR = (mpmath.mpf(10) ** 400, mpmath.mpf(10) ** 1200)
"""The points at which a function has its limits: both are beyond every float."""

_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "eq": sympy.Eq,
    "erf": sympy.erf,
    "floor": sympy.floor,
    "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
}


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        x = sympy.Piecewise((x, x >= min), (min, True))
    return x if max is None else sympy.Piecewise((x, x <= max), (max, True))


def _celu(x: Any, alpha: Any) -> Any:
    return sympy.Piecewise((x, x > 0), (alpha * (sympy.exp(x / alpha) - 1), True))


def _softshrink(x: Any, lambd: Any) -> Any:
    return sympy.Piecewise((x - lambd, x > lambd), (x + lambd, x < -lambd), (0, True))


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
    "angle": lambda x: sympy.Piecewise((sympy.pi, x < 0), (0, True)),
    "sgn": sympy.sign,
    "softshrink": _softshrink,
    "sub.Tensor": lambda x, other, alpha: x - alpha * other,
    "rsub.Tensor": lambda x, other, alpha: other - alpha * x,
    "rsub.Scalar": lambda x, other, alpha: other - alpha * x,
    **NUMBERS,
}
"""Definitions of the ops whose `forward` is no expression that sympy reads."""


def definition(subject: Subject) -> Any:
    """The op as an expression of its tensors' elements. Raises NotSymbolic if it is none."""
    symbols = {name: sympy.Symbol(name, real=True) for name in subject.tensors}
    known = {name: _number(value) for name, value in subject.arguments().items()} | symbols
    given = _DEFINITIONS.get(subject.op.name)
    if given is not None:
        return given(*(known[p.name] for p in subject.op.signature.params))
    if subject.op.forward is None:
        raise NotSymbolic("it has no forward")
    return SympyReader(TABLE, _FUNCTIONS).block(subject.op.forward.block, known)


def _number(value: Any) -> Any:
    return sympy.nsimplify(value, rational=True) if isinstance(value, int | float) else value


class Truth:
    """Evaluates an op (quantity `forward`) and its derivatives (the names of the arguments)."""

    def __init__(self, subject: Subject) -> None:
        symbols = [sympy.Symbol(name, real=True) for name in subject.tensors]
        expr = sympy.sympify(definition(subject))
        self.quantities = ("forward", *subject.op.differentiable_params)
        derivatives = {s.name: _smooth_part(expr.diff(s)) for s in symbols}
        self._expressions = {"forward": expr} | derivatives
        self._functions = {
            name: sympy.lambdify(symbols, e, "mpmath") for name, e in self._expressions.items()
        }
        self._kinks = [
            sympy.lambdify(symbols, _insert(kink.left - kink.right, subject), "mpmath")
            for kink in declared(subject.op)
        ]

    def __call__(self, quantity: str, point: Sequence[float]) -> Any:
        """The value as an mpmath number; None where there is none, or none that is real."""
        exact = [mpmath.mpf(x) for x in point]
        if quantity != "forward" and self._is_kink(exact):
            return None
        if all(mpmath.isfinite(x) for x in exact):
            return self._evaluate(quantity, exact)
        near, far = (
            self._evaluate(
                quantity, [x if mpmath.isfinite(x) else mpmath.sign(x) * far for x in exact]
            )
            for far in _FAR
        )
        if near is None or far is None or mpmath.isnan(exact[0]):
            return None
        return near if _same(near, far) or abs(far) > abs(near) > 1 / _NOTHING else None

    def _is_kink(self, point: Sequence[Any]) -> bool:
        return any(kink(*point) == 0 for kink in self._kinks if all(map(mpmath.isfinite, point)))

    def _evaluate(self, quantity: str, point: Sequence[Any]) -> Any:
        constant = self._expressions[quantity].is_number
        previous = None
        for digits in _DIGITS:
            with mpmath.workdps(digits):
                value = _real(self._functions[quantity], point)
                if value is None or constant:
                    return value
                told = abs(value) > _NOTHING or digits >= _ENOUGH_FOR_ZERO
                if told and previous is not None and _same(value, previous):
                    return value
                previous = value
        return None


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
    numbers = {name: _number(value) for name, value in subject.arguments().items()}
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


def _same(a: Any, b: Any) -> bool:
    if not (mpmath.isfinite(a) and mpmath.isfinite(b)):
        return bool(a == b)
    return bool(abs(a - b) <= _AGREEMENT * abs(b) or max(abs(a), abs(b)) < _NOTHING)
