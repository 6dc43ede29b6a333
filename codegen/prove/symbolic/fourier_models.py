"""Exact models of `np.fft`: sums of products with roots of unity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import sympy
from sympy import Expr, I, pi

from .complex_numbers import conjugate, real_part
from .exact_arrays import expressions, sym_array


def _along(array: Any, axis: int, function: Callable[[Sequence[Expr]], list[Expr]]) -> Any:
    """An array with every line along an axis replaced."""
    lines = np.moveaxis(expressions(array), axis, -1)
    replaced = [function(list(lines[place])) for place in np.ndindex(*lines.shape[:-1])]
    shape = (*lines.shape[:-1], len(replaced[0]))
    elements = (element for line in replaced for element in line)
    return np.moveaxis(sym_array(elements, shape), -1, axis)


def _root(power: int, count: int) -> Expr:
    angle = 2 * pi * sympy.Rational(power % count, count)
    return sympy.cos(angle) + I * sympy.sin(angle)


def _transformed(line: Sequence[Expr], sign: int, scale: Expr) -> list[Expr]:
    count = len(line)
    return [
        sympy.expand(scale * sum(x * _root(sign * k * n, count) for n, x in enumerate(line)))
        for k in range(count)
    ]


def _real_back(half: Sequence[Expr], size: int, scale: Expr) -> list[Expr]:
    """The sums over a whole line, of which the second half is the conjugate of the first."""
    whole = [half[k] if k <= size // 2 else conjugate(half[size - k]) for k in range(size)]
    own = {0, size // 2} if size % 2 == 0 else {0}
    whole = [real_part(x) if k in own else x for k, x in enumerate(whole)]
    return _transformed(whole, 1, scale)


def _scale(norm: str | None, count: int, *, inverse: bool) -> Expr:
    """The factor of each sum of `count` terms under one of NumPy's normalizations."""
    if norm == "ortho":
        return 1 / sympy.sqrt(count)
    return sympy.Rational(1, count) if (norm == "forward") is not inverse else sympy.S.One


def _fftn(array: Any, *, axes: Sequence[int], norm: str | None = None) -> Any:
    for axis in axes:
        scale = _scale(norm, array.shape[axis], inverse=False)
        array = _along(array, axis, partial(_transformed, sign=-1, scale=scale))
    return array


def _ifftn(array: Any, *, axes: Sequence[int], norm: str | None = None) -> Any:
    for axis in axes:
        scale = _scale(norm, array.shape[axis], inverse=True)
        array = _along(array, axis, partial(_transformed, sign=1, scale=scale))
    return array


def _rfftn(array: Any, *, axes: Sequence[int], norm: str | None = None) -> Any:
    whole = _fftn(array, axes=axes, norm=norm)
    index = [slice(None)] * whole.ndim
    index[axes[-1]] = slice(whole.shape[axes[-1]] // 2 + 1)
    return whole[tuple(index)]


def _irfftn(array: Any, *, s: Sequence[int], axes: Sequence[int], norm: str | None = None) -> Any:
    array = _ifftn(array, axes=axes[:-1], norm=norm)
    scale = _scale(norm, s[-1], inverse=True)
    return _along(array, axes[-1], lambda line: _real_back(line, s[-1], scale))


FOURIER_MODELS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.fft.fftn: _fftn,
    np.fft.ifftn: _ifftn,
    np.fft.rfftn: _rfftn,
    np.fft.irfftn: _irfftn,
}
