"""Exact stand-ins for `gradspec.core.constants`, so that a proof knows pi and not 3.14159...

The numbers that an op is given as attributes are exact in the same way: `0.7 ** 2` is 49/100.

`install` must run before the runtime is imported. The stand-ins are floats too: numeric code that
meets one computes with its value, as always.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
import sympy
from scipy.special import erf, erfc, gammaln

_SIMPLE_DENOMINATOR = 10**6

_KEPT = 1024
"""Results that are kept of each operation: rules compute the same with an attribute in every call,
and each digit of a logarithm costs sympy more than the rest of a call."""


def exact_number(number: Any) -> sympy.Expr:
    """The exact number that a Python or NumPy number stands for.

    A float is taken for the simplest rational that rounds to it: `0.1` for 1/10, `1 / 3` for 1/3.
    """
    if isinstance(number, ExactConstant | ExactComplex):
        return number.expr
    if isinstance(number, complex):
        return exact_number(number.real) + sympy.I * exact_number(number.imag)
    if not isinstance(number, float):
        return sympy.Integer(int(number))
    return _exact_float(float(number))


@lru_cache(_KEPT)
def _exact_float(number: float) -> sympy.Expr:
    if math.isnan(number):
        return sympy.nan
    if math.isinf(number):
        return sympy.oo if number > 0 else -sympy.oo
    simple = Fraction(number).limit_denominator(_SIMPLE_DENOMINATOR)
    if float(simple) != number:
        simple = Fraction(repr(number))
    return sympy.Rational(simple.numerator, simple.denominator)


class _Exact:
    """The behaviour of both kinds of exact constants among arrays."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arrays of floats meet a plain number, and so keep their dtype; objects meet this one."""
        objects = [x for x in inputs if getattr(getattr(x, "dtype", None), "kind", "") == "O"]
        if any(type(x) is not np.ndarray for x in objects):
            return NotImplemented  # an array of symbols knows how
        numbers = map(_as_object if objects else as_plain, inputs)
        return getattr(ufunc, method)(*numbers, **options)


class ExactConstant(_Exact, float):
    """A float that remembers the exact number it was rounded from."""

    expr: sympy.Expr

    def __new__(cls, expr: sympy.Expr) -> ExactConstant:
        made = super().__new__(cls, float(expr))
        made.expr = expr
        return made

    def conjugate(self) -> ExactConstant:
        """Itself; a plain float's would be plain."""
        return self

    def __reduce__(self) -> Any:
        return (ExactConstant, (self.expr,))


class ExactInteger(_Exact, int):
    """An integer, quotients and powers of which are exact."""

    def conjugate(self) -> ExactInteger:
        """Itself; a plain integer's would be plain."""
        return self

    def __reduce__(self) -> Any:
        return (ExactInteger, (int(self),))


class ExactComplex(_Exact, complex):
    """The same for a complex number."""

    expr: sympy.Expr

    def __new__(cls, expr: sympy.Expr) -> ExactComplex:
        made = super().__new__(cls, complex(expr))
        made.expr = expr
        return made

    def conjugate(self) -> ExactComplex:
        """Exact, too."""
        return ExactComplex(sympy.conjugate(self.expr))

    def __reduce__(self) -> Any:
        return (ExactComplex, (self.expr,))


def as_exact(value: Any, *, is_divided: bool = False) -> Any:
    """An attribute of an op such that Python's arithmetic on it is exact; a list item by item.

    What is not a finite float stays as it is, and so does the zero that has a sign. An integer is
    exact by itself, but where one is given in place of a float it may be divided.
    """
    if isinstance(value, list | tuple):
        return type(value)(as_exact(item, is_divided=is_divided) for item in value)
    if type(value) is int and is_divided:
        return ExactInteger(value)
    if type(value) is float and math.isfinite(value) and str(value) != "-0.0":
        return ExactConstant(exact_number(value))
    return value


def as_plain(value: Any) -> Any:
    """The float or complex number that an exact one is for everybody else."""
    if isinstance(value, list | tuple):
        return type(value)(map(as_plain, value))
    if isinstance(value, ExactComplex):
        return complex(value)
    if isinstance(value, ExactInteger):
        return int(value)
    return float(value) if isinstance(value, ExactConstant) else value


def _as_object(value: Any) -> Any:
    """An exact number as an array of one object, with which NumPy's loops compute as they are."""
    return np.array(value, dtype=object) if isinstance(value, _Exact) else value


def _operator(combine: Callable[..., sympy.Expr]) -> Callable[..., Any]:
    @lru_cache(_KEPT)
    def combined(is_whole: bool, *numbers: sympy.Expr) -> Any:
        found = combine(*numbers)
        if found.is_Integer and is_whole:
            return ExactInteger(found)
        return ExactConstant(found) if found.is_real is not False else ExactComplex(found)

    def method(*operands: Any) -> Any:
        if not all(map(_is_number, operands)):
            return NotImplemented
        is_whole = all(isinstance(operand, int) for operand in operands)
        return combined(is_whole, *map(exact_number, operands))

    return method


def _arithmetic(name: str, combine: Callable[..., sympy.Expr]) -> Callable[..., Any]:
    """An operator that does as Python's where no number of sympy's is the answer."""
    exact = _operator(combine)

    def method(*operands: Any) -> Any:
        if not all(map(_is_number, operands)):
            return NotImplemented  # an array does it
        if all(map(_is_moderate, operands)) and not _divides_by_zero(name, *operands):
            return exact(*operands)
        self = as_plain(operands[0])
        return getattr(self, name)(*map(as_plain, operands[1:]))

    return method


def _is_number(operand: Any) -> bool:
    """Return whether an operand is a number of Python's; NumPy's are arrays without dimensions."""
    return isinstance(operand, int | float | complex) and not isinstance(operand, np.generic)


def _is_moderate(operand: Any) -> bool:
    """Return whether sympy may compute with a number, which it never rounds."""
    if not isinstance(operand, float | complex) or isinstance(operand, _Exact):
        return True
    return math.isfinite(abs(operand))


def _divides_by_zero(name: str, *operands: Any) -> bool:
    match name:
        case "__truediv__":
            return bool(operands[1] == 0)
        case "__rtruediv__":
            return bool(operands[0] == 0)
        case "__pow__" | "__rpow__":
            base, exponent = operands if name == "__pow__" else operands[::-1]
            return base == 0 or not abs(exponent) <= _LARGEST_EXPONENT
    return False


_LARGEST_EXPONENT = 1000
"""Powers beyond have more digits than a proof can carry along."""

_OPERATORS: dict[str, Callable[..., sympy.Expr]] = {
    "__neg__": lambda a: -a,
    "__pos__": lambda a: a,
    "__abs__": abs,
    "__add__": lambda a, b: a + b,
    "__radd__": lambda a, b: b + a,
    "__sub__": lambda a, b: a - b,
    "__rsub__": lambda a, b: b - a,
    "__mul__": lambda a, b: a * b,
    "__rmul__": lambda a, b: b * a,
    "__truediv__": lambda a, b: a / b,
    "__rtruediv__": lambda a, b: b / a,
    "__pow__": lambda a, b: a**b,
    "__rpow__": lambda a, b: b**a,
}
for _name, _combine in _OPERATORS.items():
    setattr(ExactConstant, _name, _arithmetic(_name, _combine))
    setattr(ExactInteger, _name, _arithmetic(_name, _combine))
    setattr(ExactComplex, _name, _arithmetic(_name, _combine))


_VALUES: dict[str, sympy.Expr] = {"pi": sympy.pi, "e": sympy.E}

_SAME_IN_SYMPY = """
    acos acosh asin asinh atan atanh cos cosh erf erfc exp log sin sinh sqrt tan tanh
"""

_FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    name: getattr(sympy, name) for name in _SAME_IN_SYMPY.split()
} | {
    "exp2": lambda x: 2**x,
    "expm1": lambda x: sympy.exp(x) - 1,
    "lgamma": sympy.loggamma,
    "log1p": lambda x: sympy.log(1 + x),
    "log2": lambda x: sympy.log(x, 2),
    "log10": lambda x: sympy.log(x, 10),
    "rsqrt": lambda x: 1 / sympy.sqrt(x),
}


def _function(name: str, combine: Callable[..., sympy.Expr]) -> Callable[..., Any]:
    """A function of numbers; as floats have it where the answer is no number, as at a pole."""
    exact = _operator(combine)

    @lru_cache(_KEPT)
    def real(number: sympy.Expr) -> ExactConstant | None:
        found = combine(number)
        is_real = found.is_real is not False and found.is_finite is not False
        return ExactConstant(found) if is_real else None

    def method(number: Any) -> Any:
        if _is_moderate(number):
            if isinstance(number, complex):
                return exact(number)
            if (found := real(exact_number(number))) is not None:
                return found
        with np.errstate(all="ignore"):
            return _of_floats(name)(as_plain(number)).item()

    return method


def _of_floats(name: str) -> Callable[..., Any]:
    special = {"rsqrt": lambda x: 1 / np.sqrt(x), "lgamma": gammaln, "erf": erf, "erfc": erfc}
    found: Callable[..., Any] = special.get(name) or getattr(np, name)
    return found


def exact_module(name: str = "gradspec.core.constants") -> ModuleType:
    """A module with the names of `gradspec.core.constants` and exact values."""
    module = ModuleType(name)
    made: dict[str, Any] = {key: ExactConstant(expr) for key, expr in _VALUES.items()}
    made |= {key: _function(key, function) for key, function in _FUNCTIONS.items()}
    made |= {"inf": math.inf, "nan": math.nan}
    vars(module).update(made)
    module.__dict__["__all__"] = sorted(made)
    return module


def install() -> None:
    """Answer `from gradspec import constants` with exact values from now on."""
    if "gradspec" in sys.modules:
        raise RuntimeError("exact constants must be installed before gradspec is imported")
    sys.modules["gradspec.core.constants"] = exact_module()
