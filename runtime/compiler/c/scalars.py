"""NumPy's functions of one element, as C expressions."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

DType = np.dtype[Any]

C_TYPES: Final = {
    np.dtype(np.bool_): "uint8_t",
    np.dtype(np.int8): "int8_t",
    np.dtype(np.int16): "int16_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.int64): "int64_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.uint32): "uint32_t",
    np.dtype(np.uint64): "uint64_t",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
"""Layout of the elements in memory."""


def is_known(dtype: DType) -> bool:
    """Return whether there is C for a dtype."""
    return dtype in C_TYPES


def local_type(dtype: DType) -> str:
    """Return the type of a local variable: a truth value is one for the vectoriser, too."""
    return "_Bool" if dtype.kind == "b" else C_TYPES[dtype]


def literal(number: Any, dtype: DType) -> str:
    """Return a number, cast to a dtype as NumPy casts it, in C."""
    cast = np.asarray(number).astype(dtype)[()]
    if dtype.kind == "b":
        return "1" if cast else "0"
    if dtype.kind in "iu":
        if dtype.itemsize == 8 and cast == np.iinfo(dtype).min and dtype.kind == "i":
            return "INT64_MIN"
        suffix = {8: "LL"}.get(dtype.itemsize, "") if dtype.kind == "i" else "ULL"
        return f"(({C_TYPES[dtype]}){int(cast)}{suffix})"
    end = "f" if dtype.itemsize == 4 else ""
    if math.isnan(cast):
        return (
            f'(-__builtin_nan{end}(""))'
            if math.copysign(1, cast) < 0
            else f'__builtin_nan{end}("")'
        )
    if math.isinf(cast):
        return ("(-" if cast < 0 else "(") + f"__builtin_inf{end}())"
    text = repr(cast.item())
    if dtype.itemsize == 4:
        text = np.format_float_scientific(np.float32(cast))
    text = text.replace("e+", "e")
    if "." not in text and "e" not in text:
        text += ".0"
    return f"({text}{end})" if text.startswith("-") else text + end


def converted(text: str, source: DType, target: DType) -> str:
    """Return an expression cast from one dtype to another."""
    if source == target:
        return text
    if target.kind == "b":
        return f"({text} != 0)"
    return f"(({C_TYPES[target]}){text})"


def loop_dtypes(ufunc: np.ufunc, operands: list[Any], out: DType | None) -> list[DType] | None:
    """Return the dtypes in which NumPy computes: of each operand, then of the result.

    Operands are dtypes, or the types of Python's numbers.
    """
    given = [np.dtype(np.bool_) if each is bool else each for each in operands]
    options: Any = {} if out is None else {"signature": (*[None] * len(given), out)}
    try:
        found = ufunc.resolve_dtypes((*given, None), **options)
    except TypeError:
        return None
    return list(found)


_FLOAT: Final = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negative": "-{0}",
    "positive": "{0}",
    "conjugate": "{0}",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "absolute": "__builtin_fabs{f}({0})",
    "fabs": "__builtin_fabs{f}({0})",
    "sqrt": "__builtin_sqrt{f}({0})",
    "floor": "__builtin_floor{f}({0})",
    "ceil": "__builtin_ceil{f}({0})",
    "trunc": "__builtin_trunc{f}({0})",
    "rint": "__builtin_rint{f}({0})",
    "copysign": "__builtin_copysign{f}({0}, {1})",
    "sign": "({0} > 0 ? 1 : ({0} < 0 ? -1 : ({0} == 0 ? 0 : {0})))",
    "heaviside": "({0} != {0} ? {0} : ({0} == 0 ? {1} : ({0} < 0 ? 0 : 1)))",
    "maximum": "(({0} >= {1} || {0} != {0}) ? {0} : {1})",
    "minimum": "(({0} <= {1} || {0} != {0}) ? {0} : {1})",
    "fmax": "(({0} >= {1} || {1} != {1}) ? {0} : {1})",
    "fmin": "(({0} <= {1} || {1} != {1}) ? {0} : {1})",
    "isnan": "{0} != {0}",
    "isinf": "__builtin_fabs{f}({0}) == __builtin_inf{f}()",
    "isfinite": "__builtin_fabs{f}({0}) < __builtin_inf{f}()",
    "signbit": "__builtin_signbit({0}) != 0",
    "floor_divide": "gs_floor_divide{f}({0}, {1})",
    "remainder": "gs_remainder{f}({0}, {1})",
    "fmod": "__builtin_fmod{f}({0}, {1})",
    "logaddexp": "gs_logaddexp{f}({0}, {1})",
}
_MATH: Final = {
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "cbrt": "cbrt",
    "arctan2": "atan2",
    "hypot": "hypot",
    "power": "pow",
    "float_power": "pow",
}
"""Functions of libm, and of libmvec, by the names that NumPy has for them."""

_INTEGER: Final = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "negative": "-{0}",
    "positive": "{0}",
    "conjugate": "{0}",
    "square": "{0} * {0}",
    "absolute": "({0} < 0 ? -{0} : {0})",
    "sign": "({0} > 0) - ({0} < 0)",
    "maximum": "({0} >= {1} ? {0} : {1})",
    "minimum": "({0} <= {1} ? {0} : {1})",
    "fmax": "({0} >= {1} ? {0} : {1})",
    "fmin": "({0} <= {1} ? {0} : {1})",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "invert": "~{0}",
    "floor": "{0}",
    "ceil": "{0}",
    "trunc": "{0}",
    "isnan": "0",
    "isinf": "0",
    "isfinite": "1",
}
_BOOL: Final = {
    "add": "{0} | {1}",
    "multiply": "{0} & {1}",
    "maximum": "{0} | {1}",
    "minimum": "{0} & {1}",
    "fmax": "{0} | {1}",
    "fmin": "{0} & {1}",
    "absolute": "{0}",
    "conjugate": "{0}",
    "bitwise_and": "{0} & {1}",
    "bitwise_or": "{0} | {1}",
    "bitwise_xor": "{0} ^ {1}",
    "invert": "!{0}",
    "isnan": "0",
    "isinf": "0",
    "isfinite": "1",
}
_ANY: Final = {
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "logical_and": "({0} != 0) & ({1} != 0)",
    "logical_or": "({0} != 0) | ({1} != 0)",
    "logical_xor": "({0} != 0) ^ ({1} != 0)",
    "logical_not": "{0} == 0",
}
_SMALL_POWERS: Final = {
    0: "1",
    1: "{0}",
    2: "{0} * {0}",
    3: "{0} * {0} * {0}",
    -1: "1 / {0}",
    0.5: "__builtin_sqrt{f}({0})",
}
"""Powers without a call: as exact as it, within the limit that vector math has."""

UFUNC_ALIASES: Final = {"true_divide": "divide", "abs": "absolute", "conj": "conjugate"}


def formula(ufunc: str, dtype: DType, exponent: Any = None) -> str | None:
    """Return the C of a ufunc on operands of a dtype, with `{0}` and `{1}` for these."""
    end = "f" if dtype == np.float32 else ""
    if dtype.kind == "f" and ufunc in ("power", "float_power") and exponent in _SMALL_POWERS:
        return _SMALL_POWERS[exponent].replace("{f}", end)
    if dtype.kind == "f" and ufunc in _MATH:
        operands = "{0}, {1}" if _MATH[ufunc] in ("atan2", "hypot", "pow") else "{0}"
        return f"gs_{_MATH[ufunc]}{end}({operands})"
    kinds = {"f": _FLOAT, "b": _BOOL, "i": _INTEGER, "u": _INTEGER}
    found = kinds[dtype.kind].get(ufunc) or _ANY.get(ufunc)
    return found and found.replace("{f}", end)


def erf_family(name: str, dtype: DType) -> str | None:
    """Return the C of a special function of the runtime's kernels, if libm or a program has it."""
    if name == "normal_cdf":
        return "gs_ndtrf({0})" if dtype == np.float32 else None
    known = {"erf": "erf", "erfc": "erfc"}.get(name)
    return known and f"gs_{known}{'f' if dtype == np.float32 else ''}({{0}})"


MATH_FUNCTIONS: Final = tuple(
    sorted(
        {name for name in _MATH.values() if name not in ("atan2", "hypot", "pow")} | {"erf", "erfc"}
    )
)
MATH_FUNCTIONS_OF_TWO: Final = ("atan2", "hypot", "pow")

REDUCTIONS: Final = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or")


def identity(ufunc: str, dtype: DType) -> str:
    """Return the value with which a reduction begins."""
    if ufunc in ("add", "logical_or"):
        # The sum of negative zeros is one.
        return literal(-0.0, dtype) if dtype.kind == "f" else literal(0, dtype)
    if ufunc in ("multiply", "logical_and"):
        return literal(1, dtype)
    low = ufunc == "maximum"
    if dtype.kind == "f":
        return literal(-np.inf if low else np.inf, dtype)
    if dtype.kind == "b":
        return literal(not low, dtype)
    return literal(np.iinfo(dtype).min if low else np.iinfo(dtype).max, dtype)


def combine(function: str, dtype: DType, first: str, second: str) -> str:
    """Return a step of a reduction."""
    name = {"logical_and": "bitwise_and", "logical_or": "bitwise_or"}.get(function, function)
    if name in ("maximum", "minimum") and dtype.kind != "b":
        return f"gs_{name}_{dtype.name}({first}, {second})"
    text = formula(name, dtype)
    assert text is not None
    return text.format(first, second)
