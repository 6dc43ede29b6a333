"""Elementwise programs in C: bit for bit what NumPy computes, or within 4 ulp for vector math."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradspec.compiler.c import source_of

from .recorded import assert_close, assert_same_bits, expected, recorded, run

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, np.inf, -np.inf, np.nan, 1e300, -7.25)
FLOATS = (np.float32, np.float64)
NUMBERS = (np.bool_, np.int8, np.uint8, np.int32, np.int64, *FLOATS)


def pairs(dtype: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs of special values."""
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL).astype(dtype)
    first, second = np.meshgrid(values, values)
    return first.ravel().copy(), second.ravel().copy()


EXACT_OF_TWO = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "copysign",
    "fmax",
    "fmin",
    "floor_divide",
    "remainder",
    "fmod",
]
EXACT_OF_ONE = [
    "negative",
    "absolute",
    "sqrt",
    "square",
    "reciprocal",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "positive",
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", EXACT_OF_TWO)
def test_exact_functions_of_two(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    a, b = pairs(dtype)
    if name in ("fmax", "fmin"):  # which zero is the greater one, NumPy leaves open
        keep = (a != 0) | (b != 0)
        a, b = a[keep], b[keep]
    assert_same_bits(run(function, a, b)[0], expected(function, a, b)[0])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", EXACT_OF_ONE)
def test_exact_functions_of_one(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    a, _ = pairs(dtype)
    assert_same_bits(run(function, a)[0], expected(function, a)[0])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(
    "name",
    [
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "maximum",
        "minimum",
    ],
)
def test_comparisons(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    a, b = pairs(dtype)
    found, wanted = run(function, a, b)[0], expected(function, a, b)[0]
    assert_same_bits(found + dtype(0), wanted + dtype(0))  # zeros of either sign are the same


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize(
    "name", ["add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"]
)
def test_integers_wrap(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 256, (2, 40)).astype(np.uint8)).astype(dtype)
    given_ = (a,) if name == "invert" else (a, b)
    assert_same_bits(run(function, *given_)[0], expected(function, *given_)[0])


MATH = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "cbrt",
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATH)
def test_vector_math(name: str, dtype: Any) -> None:
    function = getattr(np, name)
    rng = np.random.default_rng(1)
    a = np.concatenate(
        [
            np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.25, -0.75]),
            rng.standard_normal(300),
            rng.standard_normal(300) * 30,
            rng.random(300),
        ]
    ).astype(dtype)
    found = run(lambda x: function(x * 1), a)[0]
    with np.errstate(all="ignore"):
        wide = np.float64 if dtype is np.float32 else np.longdouble
        wanted = function(a.astype(wide)).astype(dtype)
    assert_close(found, wanted, 4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.5])
def test_powers_of_numbers(exponent: float, dtype: Any) -> None:
    a, _ = pairs(dtype)
    found = run(lambda x: np.power(x, exponent), a)[0]
    assert_close(found, expected(lambda x: np.power(x, dtype(exponent)), a)[0], 4)


@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
def test_dtypes_promote(first: Any, second: Any) -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, (3, 5)).astype(first)
    b = rng.integers(0, 2, 5).astype(second)

    def function(x: Any, y: Any) -> Any:
        return x + y, x * y + 2, np.where(x > 0, x, y), (x + y).astype(np.float32), x * 1.5

    for found, wanted in zip(run(function, a, b), expected(function, a, b), strict=True):
        assert_same_bits(found, wanted)


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed", "broadcast"])
def test_layouts_of_inputs(layout: str) -> None:
    base = np.arange(24.0).reshape(4, 6)
    a = {
        "transposed": base.T,
        "strided": np.arange(96.0).reshape(8, 12)[::2, ::2].T,
        "reversed": base[::-1, ::-1].T,
        "broadcast": np.broadcast_to(np.arange(4.0), (6, 4)),
    }[layout]
    b = np.arange(4.0)

    def function(x: Any, y: Any) -> Any:
        return x * y - x[::-1], x.T.reshape(-1) + 1, np.add.reduce(x, axis=0), x.T + x.T[:, ::-1]

    for found, wanted in zip(run(function, a, b), expected(function, a, b), strict=True):
        assert_same_bits(found, wanted)


UNARY: dict[str, Callable[[Any], Any]] = {
    "negate": lambda x: -x,
    "halve": lambda x: x * 0.5,
    "square": lambda x: x * x,
    "root": lambda x: np.sqrt(np.abs(x)),
    "transpose": lambda x: x.T,
    "reverse": lambda x: x[::-1],
    "flatten": lambda x: x.reshape(-1).reshape(x.shape[::-1]),
    "largest": lambda x: x - np.maximum.reduce(x, axis=-1, keepdims=True),
    "smallest": lambda x: x + np.minimum.reduce(x, axis=0),
    "choose": lambda x: np.where(x > 0.25, x, -1),
    "step": lambda x: (x > 0).astype(x.dtype) - 0.5,
    "cut": lambda x: np.clip(x, -1, 1.5),
    "narrow": lambda x: (x + 1).astype(np.float32).astype(np.float64) / 3,
    "part": lambda x: np.concatenate([x[1:], x[:1]]),
    "column": lambda x: x / (1 + np.abs(x[:, :1])),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "times": lambda x, y: x * y,
    "over": lambda x, y: x / (y * y + 1),
    "larger": lambda x, y: np.where(x >= y, x, y),
    "mixed": lambda x, y: np.where(x < 0, y, x - y),
}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    shape=st.sampled_from([(1, 1), (1, 5), (4, 4), (3, 7), (8, 1), (2, 33)]),
    seed=st.integers(0, 99),
    moves=st.lists(
        st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 99), st.integers(0, 99)),
        min_size=1,
        max_size=14,
    ),
)
def test_random_programs(shape: Any, seed: int, moves: list[tuple[str, int, int]]) -> None:
    rng = np.random.default_rng(seed)
    arrays = [np.round(rng.standard_normal(shape), 3) for _ in range(2)]

    def function(*given_: Any) -> Any:
        values = list(given_)
        for name, first, second in moves:
            x, y = values[first % len(values)], values[second % len(values)]
            if name in UNARY:
                values.append(UNARY[name](x))
            else:
                values.append(BINARY[name](x, y if y.shape == x.shape else y.T))
        return tuple(values[2:])

    for found, wanted in zip(run(function, *arrays), expected(function, *arrays), strict=True):
        assert_same_bits(found + 0.0, wanted + 0.0)


def test_a_chain_is_one_loop() -> None:
    text = source_of(recorded(lambda x: np.exp(np.sin(x) * 2) - x, np.zeros(100)))
    assert text.count("for (long") == 1


def test_a_softmax_is_one_nest() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - np.maximum.reduce(x, axis=1, keepdims=True))
        return e / np.add.reduce(e, axis=1, keepdims=True)

    text = source_of(recorded(softmax, np.zeros((6, 50))))
    assert text.count("for (long i0") == 1
    assert text.count("for (long i1") == 3
