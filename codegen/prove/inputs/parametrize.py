"""Ops defined by an equation, proved by their answers instead of a closed form.

An example such as `{cholesky: [2, 2]}` starts from symbols for the factors and multiplies them out.
The input is then an array of expressions in these parameters, and the exact model of the
factorization knows the factors it was made of. The identities hold along the parameters `p`:

    VJP             sum of grad_in * d in/dp     =  sum of g * d out/dp
    JVP             of the tangent sum of d in/dp * t:  sum of d out/dp * t
    double backward by g: the JVP again;  by the input: the derivative of the first VJP along p

Rotations are rational in one parameter, so no root and no angle occurs anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from sympy import Expr, Matrix, Symbol

from ..symbolic.complex_numbers import is_complex, parameters
from ..symbolic.decisions import ProofError, value
from ..symbolic.derivatives import Derivatives
from ..symbolic.exact_arrays import SymArray, expressions, sym_array

if TYPE_CHECKING:
    from ..identities.run import Run
    from .draw import Inputs

Bounds = tuple[float, float]

_ANY: Bounds = (-np.inf, np.inf)
_POSITIVE: Bounds = (0.0, np.inf)
_UNIT: Bounds = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Factors:
    """A matrix and what it is the product of."""

    product: Matrix
    parts: tuple[Matrix, ...]


class _Parameters:
    """Makes the symbols of one matrix."""

    def __init__(self, name: str, known: dict[Symbol, Bounds]) -> None:
        self._name = name
        self._known = known

    def make(self, label: str, bounds: Bounds = _ANY) -> Symbol:
        sign = {"positive": True} if bounds[0] >= 0 else {}
        symbol = Symbol(f"{self._name}_{label}", real=True, **sign)
        self._known[symbol] = bounds
        return symbol

    def rotation(self, label: str, size: int) -> Matrix:
        """An orthogonal matrix; for two dimensions by the tangent of half the angle."""
        if size == 1:
            return sympy.eye(1)
        if size != 2:
            raise ValueError("factors of more than two dimensions are not parametrized")
        t = self.make(label)
        cosine, sine = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
        return Matrix([[cosine, -sine], [sine, cosine]])


def _cholesky(make: _Parameters, rows: int, columns: int) -> Factors:
    def element(i: int, j: int) -> Expr:
        return make.make(f"{i}{j}", _POSITIVE if i == j else _ANY) if i >= j else sympy.S.Zero

    lower = Matrix(rows, columns, element)
    return Factors(lower * lower.T, (lower,))


def _eigh(make: _Parameters, rows: int, columns: int) -> Factors:
    values = [make.make("v0")]
    for number in range(1, rows):
        values.append(values[-1] + make.make(f"v{number}", _POSITIVE))
    vectors = make.rotation("t", rows)
    return Factors(vectors * sympy.diag(*values) * vectors.T, (Matrix(values), vectors))


def _svd(make: _Parameters, rows: int, columns: int, least: Expr | None = None) -> Factors:
    count = min(rows, columns)
    values = [make.make("s0", _POSITIVE) if least is None else least]
    for number in range(1, count):
        values.insert(0, values[0] + make.make(f"s{number}", _POSITIVE))
    left, right = make.rotation("u", rows), make.rotation("v", columns)
    product = left[:, :count] * sympy.diag(*values) * right[:, :count].T
    return Factors(product, (left, Matrix(values), right.T))


def _singular(make: _Parameters, rows: int, columns: int) -> Factors:
    """For `svd` as well; the smallest singular value is zero."""
    return _svd(make, rows, columns, sympy.S.Zero)


def _qr(make: _Parameters, rows: int, columns: int) -> Factors:
    def element(i: int, j: int) -> Expr:
        return make.make(f"{i}{j}", _POSITIVE if i == j else _ANY) if i <= j else sympy.S.Zero

    q, r = make.rotation("q", rows), Matrix(rows, columns, element)
    return Factors(q * r, (q, r))


def _lu(make: _Parameters, rows: int, columns: int) -> Factors:
    """With multipliers below one, so that pivoting finds them; the rows are moved round by one."""
    count = min(rows, columns)

    def lower(i: int, j: int) -> Expr:
        return make.make(f"l{i}{j}", _UNIT) if i > j else sympy.Integer(i == j)

    def upper(i: int, j: int) -> Expr:
        return make.make(f"u{i}{j}", _POSITIVE if i == j else _ANY) if i <= j else sympy.S.Zero

    order = Matrix(rows, rows, lambda i, j: sympy.Integer((i + 1) % rows == j))
    left, right = Matrix(rows, count, lower), Matrix(count, columns, upper)
    return Factors(order * left * right, (order, left, right))


def _jordan(make: _Parameters, rows: int, columns: int) -> Factors:
    """A matrix with one eigenvalue and one eigenvector, in any basis: of two dimensions."""
    if rows != 2:
        raise ValueError("Jordan blocks of more than two dimensions are not parametrized")
    x, y, eigenvalue = make.make("x"), make.make("y"), make.make("v")
    nilpotent = Matrix([[x * y, -x * x], [y * y, -x * y]])
    return Factors(nilpotent + eigenvalue * sympy.eye(2), (nilpotent,))


_FACTORIZATIONS: dict[str, Callable[[_Parameters, int, int], Factors]] = {
    "cholesky": _cholesky,
    "eigh": _eigh,
    "svd": _svd,
    "singular": _singular,
    "qr": _qr,
    "lu": _lu,
    "jordan": _jordan,
}

_made: dict[tuple[str, tuple[Expr, ...]], Factors] = {}
"""Factors of each product: the expressions of an input name them."""


def parametrized(
    kind: str, name: str, shape: tuple[int, ...], known: dict[Symbol, Bounds]
) -> SymArray:
    """An input given by its factors: matrices of expressions in new symbols, noted in `known`."""
    elements: list[Expr] = []
    batch = shape[:-2]
    for place in np.ndindex(*batch):
        label = "_".join([name, *map(str, place)])
        factors = _FACTORIZATIONS[kind](_Parameters(label, known), *shape[-2:])
        entries = tuple(factors.product)
        _made["svd" if kind == "singular" else kind, entries] = factors
        elements += entries
    return sym_array(elements, shape)


def factors_of(kind: str, matrix: Matrix) -> Factors:
    """The factors that a matrix was made of; ProofError if it was not."""
    found = _made.get((kind, tuple(matrix)))
    if found is None:
        raise ProofError(f"the factors of this matrix are not known: give it as `{{{kind}: ...}}`")
    return found


def signs(exact: Matrix, numeric: Any) -> list[int]:
    """Find the columns that have to change sign to be those that LAPACK chose at the witness."""
    found = []
    for column in range(exact.shape[1]):
        values = [float(np.real(value(entry))) for entry in exact[:, column]]
        found.append(1 if np.dot(values, numeric[:, column]) > 0 else -1)
    return found


def numbers(matrix: Matrix) -> np.ndarray[Any, Any]:
    """A matrix at the witness of the current run."""
    flat = [float(np.real(value(entry))) for entry in matrix]
    return np.array(flat).reshape(matrix.shape)


def is_parametrized(array: np.ndarray[Any, Any]) -> bool:
    """Return whether the elements are made of parameters, instead of being them."""
    return not all(map(parameters, array.flat))


def is_variable(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an input has parameters: constants have none."""
    return not is_parametrized(array) or any(e.free_symbols for e in array.flat)


def tangents(
    array: np.ndarray[Any, Any], name: str, inputs: Inputs
) -> tuple[SymArray, dict[Symbol, Symbol]]:
    """The tangent of an input, and that of each of its parameters."""
    if not is_parametrized(array):
        fresh = inputs.fresh_like(name, array, is_complex=any(map(is_complex, array.flat)))
        pairs = zip(array.flat, expressions(fresh).flat, strict=True)
        return fresh, {
            p: t
            for element, tangent in pairs
            for (p, _), (t, _) in zip(parameters(element), parameters(tangent), strict=True)
        }
    own = sorted(set().union(*(e.free_symbols for e in array.flat)), key=str)
    fresh = inputs.fresh(name, (len(own),))
    directions = dict(zip(own, expressions(fresh).flat, strict=True))
    return sym_array(along(array, directions).flat, array.shape), directions


def curved(run: Run, q: Symbol) -> Expr:
    """The derivative by one parameter of the first gradients, weighted as in the second pass."""
    return sympy.Add(
        *(
            contracted(expressions(run.weights[leaf]), along(gradient, {q: sympy.S.One}))
            for leaf, gradient in run.gradients.items()
            if gradient is not None
        )
    )


def along(expressions: Any, tangents: Mapping[Symbol, Expr]) -> np.ndarray[Any, Any]:
    """The derivative of every element along the parameters, in the direction `tangents`."""
    out = np.empty(expressions.shape, dtype=object)
    known = Derivatives()
    for index in np.ndindex(expressions.shape):
        out[index] = sympy.Add(*(known.by(expressions[index], p) * t for p, t in tangents.items()))
    return out


def contracted(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Expr:
    """The sum of products, element by element."""
    return sympy.Add(*(x * y for x, y in zip(a.flat, b.flat, strict=True)))
