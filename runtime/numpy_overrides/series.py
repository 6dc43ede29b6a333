"""Differences, interpolation, convolutions, covariances and polynomials of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..functions import composites, creation
from ..functions import elements as vandermonde
from .arguments import array_of, as_tensor, as_tensors, axes_of, floats, slices, values_of
from .matrices import eigenvalues


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    a = as_tensor(a)

    def beside(value: Any) -> list[Any]:
        if value is None:
            return []
        tensor = as_tensor(value)
        shape = list(a.shape)
        shape[axis] = 1
        return [tensor if tensor.ndim else ops.broadcast_to(tensor.to(a.dtype), shape)]

    joined = [*beside(prepend), a, *beside(append)]
    found = ops.cat(joined, axis) if len(joined) > 1 else a
    for _ in range(n):
        after, before = slices(found, axis, 1, None), slices(found, axis, None, -1)
        found = ops.ne(after, before) if found.array.dtype.kind == "b" else after - before
    return found


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    differences = _diff(composites.ravel(as_tensor(ary)))
    ends = [
        None if each is None else composites.ravel(as_tensor(each)) for each in (to_begin, to_end)
    ]
    parts = [each for each in (ends[0], differences, ends[1]) if each is not None]
    return ops.cat([each.to(differences.dtype) for each in parts], 0)


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = floats(f)
    axes = axes_of(axis, f.ndim)
    spacing = list(varargs) or [1.0]
    spacing = spacing * len(axes) if len(spacing) == 1 else spacing
    if len(spacing) != len(axes):
        raise TypeError("invalid number of arguments")
    found = [_slope(f, h, each, edge_order) for h, each in zip(spacing, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(f: Tensor, spacing: Any, axis: int, edge_order: int) -> Any:
    """Second-order differences along an axis, of first or second order at its ends."""
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' must be 1 or 2")
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
            "elements are required."
        )
    f = ops.transpose(f, axis, -1)
    where = as_tensor(spacing)
    steps = _diff(where) if where.ndim else where + creation.zeros(f.shape[-1] - 1, dtype=f.dtype)
    left, right = steps[:-1], steps[1:]
    inner = (
        -right / (left * (left + right)) * f[..., :-2]
        + (right - left) / (left * right) * f[..., 1:-1]
        + left / (right * (left + right)) * f[..., 2:]
    )
    if edge_order == 1:
        first = (f[..., 1:2] - f[..., :1]) / steps[:1]
        last = (f[..., -1:] - f[..., -2:-1]) / steps[-1:]
    else:
        first = _edge(f[..., :1], f[..., 1:2], f[..., 2:3], steps[:1], steps[1:2])
        last = -_edge(f[..., -1:], f[..., -2:-1], f[..., -3:-2], steps[-1:], steps[-2:-1])
    return ops.transpose(ops.cat([first, inner, last], -1), axis, -1)


def _edge(f0: Any, f1: Any, f2: Any, near: Any, far: Any) -> Any:
    """The slope at the first of three points, of the parabola through them."""
    both = near + far
    return -(near + both) / (near * both) * f0 + both / (near * far) * f1 - near / (far * both) * f2


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The piecewise linear function through points; differentiable by all of them."""
    x, xp, fp = (floats(each) for each in (x, xp, fp))
    if period is not None:
        period = abs(period)
        x, xp = ops.remainder(x, period), ops.remainder(xp, period)
        order = as_tensor(np.argsort(values_of(xp)))
        xp, fp = ops.index_select(xp, 0, order), ops.index_select(fp, 0, order)
        xp = ops.cat([xp[-1:] - period, xp, xp[:1] + period], 0)
        fp = ops.cat([fp[-1:], fp, fp[:1]], 0)
        left = right = None
    last = len(xp) - 1
    place = np.searchsorted(values_of(xp), values_of(x), "right") - 1
    index = as_tensor(np.clip(place, 0, max(last - 1, 0)).reshape(-1))
    after = as_tensor(np.minimum(values_of(index) + 1, last))

    def at(points: Any, where: Any) -> Any:
        return ops.reshape(ops.index_select(points, 0, where), list(x.shape))

    width = at(xp, after) - at(xp, index) if last else 1.0
    found = at(fp, index) + (at(fp, after) - at(fp, index)) * ((x - at(xp, index)) / width)
    found = ops.where(ops.lt(x, xp[0]), fp[0] if left is None else left, found)
    return ops.where(ops.gt(x, xp[-1]), fp[-1] if right is None else right, found)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = (composites.ravel(each) for each in as_tensors([a, v]))
    if not len(a) or not len(v):
        raise ValueError("a cannot be empty" if not len(a) else "v cannot be empty")
    long, short = (a, v) if len(a) >= len(v) else (v, a)
    return _part(_full(long, short), len(long), len(short), mode, (len(short) - 1) // 2)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = (composites.ravel(each) for each in as_tensors([a, v]))
    if not len(a) or not len(v):
        raise ValueError("a cannot be empty" if not len(a) else "v cannot be empty")
    turned = ops.flip(ops.conj(v), [0])
    if len(a) >= len(v):
        return _part(_full(a, turned), len(a), len(v), mode, (len(v) - 1) // 2)
    return _part(_full(turned, a), len(v), len(a), mode, len(a) // 2)


def _full(long: Tensor, short: Tensor) -> Any:
    """The sums of all products whose places add up to the same."""
    count = len(short)
    padded = np.pad(np.arange(len(long)) + 1, count - 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, count)[:, ::-1]
    zero = long[:1] * 0
    rows = ops.index_select(ops.cat([zero, long], 0), 0, as_tensor(windows.reshape(-1)))
    return ops.sum(ops.reshape(rows, [-1, count]) * short, [1])


def _part(whole: Any, long: int, short: int, mode: str, start: int) -> Any:
    if mode == "full":
        return whole
    if mode == "same":
        return whole[start : start + long]
    if mode == "valid":
        return whole[short - 1 : long]
    raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")


def _cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    rows = _observations(m, y, rowvar, dtype)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if each is None else as_tensor(each) for each in (fweights, aweights)]
    found = ops.cov(rows, correction=correction, fweights=weights[0], aweights=weights[1])
    return ops.squeeze(found)


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
    parts = [floats(each) for each in (m, y) if each is not None]
    parts = [each.to(dtype) for each in parts] if dtype is not None else parts
    rows = [
        each
        if each.ndim == 2 and rowvar
        else ops.transpose(each, 0, 1)
        if each.ndim == 2
        else ops.reshape(each, [1, -1])
        for each in parts
    ]
    return ops.cat(rows, 0) if len(rows) > 1 else rows[0]


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    return ops.squeeze(ops.corrcoef(_observations(x, y, rowvar, dtype)))


def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    return vandermonde.vander(as_tensor(x), N, increasing)


def _coefficients(p: Any) -> Any:
    return composites.ravel(as_tensor(p))


def _polyval(p: Any, x: Any) -> Any:
    x = as_tensor(x)
    found = x * 0
    for coefficient in _coefficients(p):
        found = found * x + coefficient
    return found


def _polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = _coefficients(a1), _coefficients(a2)
    longer, shorter = (a1, a2) if len(a1) >= len(a2) else (a2, a1)
    more = len(longer) - len(shorter)
    return longer + ops.cat([longer[:more] * 0, shorter], 0)


def _polysub(a1: Any, a2: Any) -> Any:
    return _polyadd(a1, -_coefficients(a2))


def _polymul(a1: Any, a2: Any) -> Any:
    return _convolve(a1, a2)


def _polyder(p: Any, m: int = 1) -> Any:
    p = _coefficients(p)
    for _ in range(m):
        p = p[:-1] * as_tensor(np.arange(len(p) - 1, 0, -1))
    return p


def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    p = floats(_coefficients(p))
    constants = as_tensor([0.0] * m if k is None else k).to(p.dtype)
    constants = ops.broadcast_to(ops.reshape(constants, [-1]), [m])
    for each in constants:
        powers = as_tensor(np.arange(len(p), 0, -1))
        p = ops.cat([p / powers, ops.reshape(each, [1])], 0)
    return p


def _polydiv(u: Any, v: Any) -> Any:
    u, v = floats(_coefficients(u)), floats(_coefficients(v))
    quotient: list[Any] = []
    rest = u
    for _ in range(len(u) - len(v) + 1):
        scale = rest[:1] / v[:1]
        quotient.append(scale)
        rest = ops.cat([rest[: len(v)] - scale * v, rest[len(v) :]], 0)[1:]
    nonzero = np.flatnonzero(~np.isclose(values_of(rest), 0, rtol=1e-14, atol=1e-14))
    start = int(nonzero[0]) if nonzero.size else len(rest) - 1
    return (ops.cat(quotient, 0) if quotient else u[:1] * 0), rest[start:]


def _poly(seq_of_zeros: Any) -> Any:
    zeros = floats(seq_of_zeros)
    if zeros.ndim > 1:
        raise TypeError("numpy.poly of a tensor takes zeros in one dimension, not a matrix")
    found: Any = as_tensor([1.0]).to(zeros.dtype)
    for zero in zeros:
        found = _full(
            ops.cat([found, found[:1] * 0], 0), ops.cat([zero.new_ones(1), -zero[None]], 0)
        )
        found = found[:-1]
    return found


def _roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix of the factors, and a zero for each last zero."""
    p = floats(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    given = np.flatnonzero(values_of(p))
    if not given.size:
        return p[:0]
    first, last = int(given[0]), int(given[-1])
    degree = last - first
    zeros = creation.tensor(np.zeros(p.shape[0] - 1 - last))
    if not degree:
        return zeros
    below = creation.tensor(np.eye(degree, k=-1)[1:]).to(p.dtype)
    top = -p[first + 1 : last + 1] / p[first]
    found = eigenvalues(ops.cat([top[None], below], 0))
    return ops.cat([found, zeros.to(found.dtype)], 0)


def _polyfit(x: Any, y: Any, deg: int, *, w: Any = None) -> Any:
    x, y = floats(x), floats(y)
    x = x.to(y.dtype)
    left = vandermonde.vander(x, deg + 1, False)
    right = y if y.ndim == 2 else y[:, None]
    if w is not None:
        weights = floats(w)[:, None]
        left, right = left * weights, right * weights
    scale = ops.sqrt(ops.sum(left * left, [0]))
    found = ops.linalg_lstsq(left / scale, right).solution / scale[:, None]
    return found if y.ndim == 2 else found[:, 0]


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    places = array_of(x)
    counts = as_tensor(np.bincount(places, minlength=minlength))
    if weights is None:
        return counts
    weights = floats(weights)
    zeros = creation.zeros(len(counts), dtype=weights.dtype)
    return ops.index_add(zeros, 0, as_tensor(places), weights)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "bincount": _bincount,
    "convolve": _convolve,
    "corrcoef": _corrcoef,
    "correlate": _correlate,
    "cov": _cov,
    "diff": _diff,
    "ediff1d": _ediff1d,
    "gradient": _gradient,
    "interp": _interp,
    "poly": _poly,
    "polyadd": _polyadd,
    "polyder": _polyder,
    "polydiv": _polydiv,
    "polyfit": _polyfit,
    "polyint": _polyint,
    "polymul": _polymul,
    "polysub": _polysub,
    "polyval": _polyval,
    "roots": _roots,
    "vander": _vander,
}
"""The overrides by their names in `numpy`."""
