"""Exact numbers take part in NumPy code, and their models are the functions they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy import special

from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.symbolic import numpy_models as models
from gradspec_codegen.prove.symbolic.decisions import ProofError, tracing
from gradspec_codegen.prove.symbolic.symbols import Sym, SymArray, expressions, sym_array

X = [sympy.Symbol(f"x_{n}", real=True) for n in range(6)]
VALUES = [sympy.Rational(text) for text in ("3/10", "-6/5", "7/4", "2", "-1/8", "5")]
POINT = Point(dict(zip(X, VALUES, strict=True)))


def symbols(shape: tuple[int, ...] = (2, 3)) -> SymArray:
    return sym_array(X[: int(np.prod(shape))], shape)


def at_point(array: object) -> np.ndarray:
    exact = expressions(array)
    values = [float(POINT.value(expr)) for expr in exact.flat]
    return np.array(values).reshape(exact.shape)


FLOATS = np.array([float(v) for v in VALUES]).reshape(2, 3)

ARGUMENTS = {
    "arcsin": [0.25],
    "iv": [2, 0.75],
    "ive": [2, 0.75],
    "arccos": [0.25],
    "arctanh": [-0.5],
    "arccosh": [1.75],
    "log": [0.3],
    "log2": [0.3],
    "log10": [0.3],
    "log1p": [-0.4],
    "sqrt": [1.75],
    "logit": [0.25],
    "erfinv": [0.25],
    "ndtri": [0.75],
    "entr": [0.3],
    "xlogy": [-1.5, 0.3],
    "xlog1py": [-1.5, 0.3],
    "power": [1.75, -1.5],
    "float_power": [1.75, -1.5],
    "clip": [2.5, -1.0, 2.0],
    "heaviside": [-0.3, 0.5],
    "_zeta": [3, 1.75],
    "zeta": [3, 1.75],
    "gamma": [1.75],
    "gammainc": [1.75, 0.5],
    "gammaincc": [1.75, 0.5],
    "gammaln": [1.75],
    "psi": [1.75],
    "digamma": [1.75],
    "beta": [1.75, 0.5],
    "betaln": [1.75, 0.5],
    "gammaincinv": [1.75, 0.5],
    **{name: [1.25] for name in ("k0", "k0e", "k1", "k1e", "y0", "y1")},
    **{name: [0.5, 1.25] for name in ("jv", "kv", "kve", "yv")},
}
DEFAULTS = [[-1.2, 0.75], [2.5, -0.4], [0.5, 0.5]]


def numeric(name: str) -> np.ufunc | None:
    if name == "clip":
        return np._core.umath.clip
    found = getattr(np, name, None)
    if not isinstance(found, np.ufunc):
        found = getattr(special, name, None) or getattr(special._ufuncs, name)
    return found


@pytest.mark.parametrize("name", models.NUMBERS)
def test_model_is_the_ufunc(name: str) -> None:
    ufunc = numeric(name)
    for default in DEFAULTS:
        arguments = ARGUMENTS.get(name) or default[: ufunc.nin]
        exact = [sympy.Rational(str(argument)) for argument in arguments]
        with tracing(Point({})) as trace:
            value = models.NUMBERS[name](*exact)
            values = value if isinstance(value, tuple) else (value,)
            found = [float(trace.point.value(each)) for each in values]
        assert found == pytest.approx(list(np.atleast_1d(ufunc(*arguments))), rel=1e-12)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal"])
def test_comparison_is_decided_at_the_witness(name: str) -> None:
    with tracing(POINT):
        found = getattr(np, name)(symbols(), symbols()[::-1])
    assert type(found) is np.ndarray
    assert found.tolist() == getattr(np, name)(FLOATS, FLOATS[::-1]).tolist()


ARRAY_FUNCTIONS = {
    "add number": lambda x: x + 0.5,
    "subtract from number": lambda x: 2 - x,
    "sum": lambda x: x.sum(axis=0, keepdims=True),
    "sum of all": lambda x: np.sum(x),
    "mean": lambda x: x.mean(axis=1),
    "var": lambda x: np.var(x, axis=1, ddof=1),
    "prod": lambda x: x.prod(axis=1),
    "max": lambda x: x.max(axis=1, keepdims=True),
    "amax over two": lambda x: np.maximum.reduce(x, (0, 1)),
    "min where": lambda x: np.minimum.reduce(x, axis=1, where=x > -1, initial=9),
    "argmax": lambda x: np.argmax(x, axis=1),
    "argsort": lambda x: np.argsort(x, axis=1),
    "sort": lambda x: np.sort(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumprod": lambda x: x.cumprod(0),
    "where": lambda x: np.where(x > 0, x, 0.5),
    "clip": lambda x: np.clip(x, -1, 1.5),
    "matmul": lambda x: x @ x.T,
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "tensordot": lambda x: np.tensordot(x, x, ([1], [1])),
    "dot": lambda x: np.dot(x[0], x[1]),
    "outer": lambda x: np.outer(x[0], x[1]),
    "concatenate": lambda x: np.concatenate([x, np.zeros((1, 3)), x]),
    "stack": lambda x: np.stack([x, x], axis=1),
    "pad": lambda x: np.pad(x, ((0, 0), (1, 2))),
    "take": lambda x: np.take_along_axis(x, np.array([[2], [0]]), 1),
    "roll": lambda x: np.roll(x, 1, axis=1),
    "flip": lambda x: np.flip(x, 1),
    "tril": lambda x: np.tril(x),
    "broadcast": lambda x: np.broadcast_to(x, (2, 2, 3)).sum((0, 1)),
    "diff": lambda x: np.diff(x),
    "norm": lambda x: np.linalg.norm(x),
    "inverse": lambda x: np.linalg.inv(x[:, :2]),
    "determinant": lambda x: np.linalg.det(x[:, :2]),
    "solve": lambda x: np.linalg.solve(x[:, :2], x[:, 2]),
    "sinc": lambda x: np.sinc(x),
    "erf": lambda x: special.erf(x),
    "element": lambda x: x[1, 2],
    "negative step": lambda x: x[:, ::-1],
    "mask": lambda x: x[x > 0],
    "any": lambda x: (x > 4).any(),
    "floor": lambda x: np.floor(x),
    "to float": lambda x: x.astype(np.float64),
    "logsumexp": lambda x: np.logaddexp.reduce(x, axis=1),
}


@pytest.mark.parametrize("name", ARRAY_FUNCTIONS)
def test_numpy_functions_run_on_symbols(name: str) -> None:
    function = ARRAY_FUNCTIONS[name]
    with tracing(POINT):
        found = function(symbols())
    wanted = function(FLOATS)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(at_point(found), wanted, rtol=1e-12, atol=1e-15)


def test_arrays_without_dimensions_stay_arrays() -> None:
    x = symbols()
    for found in (x[0, 0], x.sum(), np.exp(x[0, 1]), x[0, 0] * 2):
        assert type(found) is SymArray
        assert found.shape == ()


def test_writing_in_place() -> None:
    x, y = symbols(), symbols()
    np.add(x, y, out=x)
    x += 1
    x[0, 0] = y[1, 1]
    np.add.at(x, ([1, 1], [2, 2]), y[0, :2])
    plain = np.zeros((2,), dtype=object)
    np.add.at(plain, [0, 0], y[0, :2])
    wanted = 2 * FLOATS + 1
    wanted[0, 0] = FLOATS[1, 1]
    wanted[1, 2] += FLOATS[0, 0] + FLOATS[0, 1]
    np.testing.assert_allclose(at_point(x), wanted)
    np.testing.assert_allclose(at_point(plain), [FLOATS[0, 0] + FLOATS[0, 1], 0])


def test_decisions_are_logged_once_and_with_their_sign() -> None:
    with tracing(POINT) as trace:
        np.maximum(symbols((2,)), 0)
        np.abs(symbols((2,)))
    assert [(d.difference, d.positive) for d in trace.decisions.values()] == [
        (X[0], True),
        (X[1], False),
    ]


def test_floats_are_taken_for_the_simplest_rational() -> None:
    x = symbols((1,))
    assert expressions(x * 0.1)[0] == X[0] / 10
    assert expressions(x + 1 / 3)[0] == X[0] + sympy.Rational(1, 3)
    assert expressions(x * 0.044715)[0] == X[0] * sympy.Rational(44715, 10**6)


def test_a_function_without_a_model_is_refused_by_name() -> None:
    with pytest.raises(ProofError, match="`struve` has no exact model"):
        special.struve(1, symbols())
    with pytest.raises(ProofError, match="eigh"):
        np.linalg.eigh(symbols((2, 2)))


def test_rounding_is_refused() -> None:
    floats = np.zeros(3)
    with pytest.raises(ProofError, match="rounded to a float"):
        floats[0] = Sym(X[0])


def test_a_comparison_outside_of_a_run_is_refused() -> None:
    with pytest.raises(ProofError, match="outside of a run"):
        _ = symbols() > 0


@pytest.mark.parametrize(("offset", "expected"), [(-1, -441), (0, -440), (1, -440)])
def test_floor_is_exact_where_a_float_is_not(offset: int, expected: int) -> None:
    x = sympy.Symbol("x", real=True)
    value = -440 + sympy.Rational(offset, 10**20)
    assert float(value) == -440
    with tracing(Point({x: value})):
        assert models.NUMBERS["floor"](x) == expected
