"""A call, or several, of every function of NumPy that has an override for tensors.

Each is a function of one array. `SMOOTH` are differentiable; `FLAT` have no slope, or no array as
their answer. Names are NumPy's, with a note after a space where a function is called several ways.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.runtime.numpy_overrides.arrays import A, B, Call, N, R, S, T, V, W, many
from tests.runtime.numpy_overrides.matrices import MATRICES

_NUMPY, _FOURIER = vars(np), vars(np.fft)


ELEMENTS: dict[str, tuple[Call, Any]] = {
    **{
        name: (getattr(np, name), A)
        for name in [
            "absolute",
            "arcsin",
            "arccos",
            "arctan",
            "arcsinh",
            "arctanh",
            "cbrt",
            "cos",
            "cosh",
            "deg2rad",
            "degrees",
            "exp",
            "exp2",
            "expm1",
            "fabs",
            "log1p",
            "negative",
            "positive",
            "rad2deg",
            "radians",
            "sin",
            "sinc",
            "sinh",
            "square",
            "tan",
            "tanh",
            "reciprocal",
            "i0",
            "conjugate",
        ]
    },
    **{name: (getattr(np, name), B**2 + 0.1) for name in ("sqrt", "log", "log2", "log10")},
    "arccosh": (np.arccosh, B**2 + 1.1),
    **{
        name: (lambda x, f=_NUMPY[name]: f(x, B), A)
        for name in [
            "add",
            "subtract",
            "multiply",
            "divide",
            "true_divide",
            "arctan2",
            "copysign",
            "fmax",
            "fmin",
            "fmod",
            "hypot",
            "logaddexp",
            "logaddexp2",
            "maximum",
            "minimum",
            "mod",
            "remainder",
        ]
    },
    **{
        f"{name} from the right": (lambda x, f=_NUMPY[name]: f(B, x), A)
        for name in ("add", "subtract", "multiply", "divide", "arctan2", "hypot", "maximum")
    },
    **many("power", B**2 + 0.1, lambda x: np.power(x, 3), lambda x: np.power(x, A)),
    "float_power": (lambda x: np.float_power(x, 2.5), B**2 + 0.1),
    "ldexp": (lambda x: np.ldexp(x, 3), A),
    "divmod": (lambda x: np.divmod(x, 0.33)[1], A),
    "modf": (lambda x: np.modf(x)[0], 3 * B),
    "frexp": (lambda x: np.frexp(x)[0], A + 0.03),
    "heaviside": (lambda x: x * np.heaviside(x, 0.5), A),
    **many(
        "clip",
        A,
        lambda x: np.clip(x, -0.2, 0.45),
        lambda x: np.clip(x, None, 0.45),
        lambda x: np.clip(x, -0.2, None),
        lambda x: np.clip(x, a_min=-0.2, a_max=0.45),
        lambda x: np.clip(x, min=-0.2 * np.ones((2, 1)), max=np.full(3, 0.45)),
        lambda x: np.clip(x),
    ),
    "nan_to_num": (lambda x: np.nan_to_num(x, nan=2.0), N),
    "real": (np.real, A),
    "real of complex ones": (lambda x: np.real(x * (1 + 2j)), A),
    "imag": (lambda x: np.imag(x * (1 + 2j)), A),
    "imag of real ones": (lambda x: x + np.imag(x), A),
    "angle": (lambda x: np.angle(x + 0.3j, deg=True), A),
    "real_if_close": (lambda x: np.real_if_close(x + 0j), A),
    "copy": (np.copy, A),
    "astype": (lambda x: np.astype(x, np.float64), A),
    "unwrap": (np.unwrap, R),
    "unwrap of a period": (lambda x: np.unwrap(x, period=4), R),
    **many(
        "where",
        A,
        lambda x: np.where(A > 0, x, x * x),
        lambda x: np.where(A > 0, x, 0.0),
        lambda x: np.where([True, False, True], 1, x),
    ),
    "select": (lambda x: np.select([A > 0.3, A > 0], [x, x * x], 0.25), A),
    "choose": (lambda x: np.choose([[0, 1, 0], [1, 1, 0]], [x, 2 * x]), A),
    "choose clip": (lambda x: np.choose([5, -1, 0], [x, 2 * x], mode="clip"), A),
    "piecewise": (lambda x: np.piecewise(x, [A > 0.3, A < 0], [np.exp, lambda y: y * y, 0.5]), A),
    **many(
        "sort",
        A,
        np.sort,
        lambda x: np.sort(x, axis=None),
        lambda x: np.sort(x, 0, kind="stable"),
    ),
    "sort_complex": (lambda x: np.abs(np.sort_complex(x + 0.1j)), W),
    "multiply.outer": (lambda x: np.multiply.outer(x, B), W),
    "add.reduce": (np.add.reduce, A),
    "multiply.reduce": (lambda x: np.multiply.reduce(x, axis=1, keepdims=True), A),
    "maximum.reduce": (np.maximum.reduce, A),
    "minimum.reduce": (lambda x: np.minimum.reduce(x, axis=None), A),
    "add.accumulate": (lambda x: np.add.accumulate(x, 1), A),
    "multiply.accumulate": (np.multiply.accumulate, A),
    "maximum.accumulate": (np.maximum.accumulate, A),
    "minimum.accumulate": (np.minimum.accumulate, A),
}

_WITH_AXES = [
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "amax",
    "amin",
    "max",
    "min",
    "ptp",
    "median",
    "nansum",
    "nanprod",
    "nanmean",
    "nanmax",
    "nanmin",
    "nanstd",
    "nanvar",
    "nanmedian",
    "average",
]

REDUCTIONS: dict[str, tuple[Call, Any]] = {
    **{name: (getattr(np, name), A) for name in _WITH_AXES},
    **{
        f"{name} of an axis": (lambda x, f=_NUMPY[name]: f(x, axis=-1, keepdims=True), A)
        for name in _WITH_AXES
    },
    **{
        f"{name} of two axes": (lambda x, f=_NUMPY[name]: f(x, axis=(0, 2)), T)
        for name in _WITH_AXES
    },
    **{
        f"{name} with nan": (lambda x, f=_NUMPY[name]: f(x, axis=1), N)
        for name in _WITH_AXES
        if name.startswith("nan")
    },
    "var ddof": (lambda x: np.var(x, axis=0, ddof=1), A),
    "std correction": (lambda x: np.std(x, 1, correction=1), A),
    "nanvar ddof": (lambda x: np.nanvar(x, 1, ddof=1), np.c_[A, N]),
    "average weights": (lambda x: np.average(x, 0, weights=[2.0, 0.5]), A),
    "average of weights": (lambda x: np.average(B, weights=x), np.abs(A)),
    "average returned": (lambda x: np.average(x, 1, weights=W**2, returned=True)[0], A),
    "quantile": (lambda x: np.quantile(x, 0.3), A),
    "quantile of several": (lambda x: np.quantile(x, [0.1, 0.7], axis=1), A),
    "quantile method": (lambda x: np.quantile(x, 0.3, 0, method="lower", keepdims=True), A),
    "percentile": (lambda x: np.percentile(x, 30, axis=(0, 1)), A),
    "nanquantile": (lambda x: np.nanquantile(x, 0.3, axis=1), N),
    "nanpercentile": (lambda x: np.nanpercentile(x, [30, 60]), N),
    **{
        f"{name}{note}": (lambda x, f=_NUMPY[name], o=options: f(x, **o), A)
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")
        for note, options in (("", {}), (" of an axis", {"axis": 0}))
    },
    "nancumsum with nan": (np.nancumsum, N),
    "nancumprod with nan": (lambda x: np.nancumprod(x, 1), N),
    "cumulative_sum": (lambda x: np.cumulative_sum(x, axis=1, include_initial=True), A),
    "cumulative_prod": (np.cumulative_prod, V),
    **many(
        "trapezoid",
        A,
        np.trapezoid,
        lambda x: np.trapezoid(x, dx=0.5, axis=0),
        lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]),
    ),
    "trapezoid of places": (lambda x: np.trapezoid(V, x), np.array([0.1, 0.5, 0.6, 1.3])),
}

SHAPES: dict[str, tuple[Call, Any]] = {
    "append": (lambda x: np.append(x, x), A),
    "append of an axis": (lambda x: np.append(x, B, axis=0), A),
    "apply_along_axis": (lambda x: np.apply_along_axis(lambda r: r * r.sum(), 0, x), A),
    "apply_along_axis of numbers": (lambda x: np.apply_along_axis(np.prod, 1, x), T),
    "apply_over_axes": (lambda x: np.apply_over_axes(np.sum, x, [0, 2]), T),
    "array_split": (lambda x: np.array_split(x, 2)[0], W),
    "atleast_1d": (lambda x: np.atleast_1d(x, x)[1], np.array(0.4)),
    "atleast_2d": (np.atleast_2d, W),
    "atleast_3d": (np.atleast_3d, A),
    "block": (lambda x: np.block([[x, np.zeros((2, 1))], [np.ones((1, 4))]]), A),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, A)[0], W),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 3)), W),
    "column_stack": (lambda x: np.column_stack([x, 2 * x]), W),
    "concat": (lambda x: np.concat([x, B], axis=1), A),
    "concatenate": (lambda x: np.concatenate([x, 2 * x], axis=1), A),
    "concatenate of all": (lambda x: np.concatenate((x, W), axis=None), A),
    "diag": (np.diag, S),
    "diag of a vector": (lambda x: np.diag(x, -1), W),
    "diagflat": (np.diagflat, A),
    "diagonal": (lambda x: np.diagonal(x, 1, axis1=1, axis2=2), T),
    "dsplit": (lambda x: np.dsplit(x, 2)[1], T),
    "hsplit": (lambda x: np.hsplit(x, [1, 2])[1], A),
    "vsplit": (lambda x: np.vsplit(x, 2)[1], A),
    "split": (lambda x: np.split(x, 3, axis=1)[1], A),
    "split by places": (lambda x: np.split(x, [1], axis=-1)[1], A),
    "dstack": (lambda x: np.dstack([x, x * x]), A),
    "hstack": (lambda x: np.hstack([x, A]), A),
    "vstack": (lambda x: np.vstack([x, W]), A),
    "stack": (lambda x: np.stack([x, x * x], axis=2), A),
    "unstack": (lambda x: np.unstack(x, axis=1)[2], A),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), A),
    "squeeze": (lambda x: np.squeeze(np.expand_dims(x, (0, 2))), A),
    "squeeze of an axis": (lambda x: np.squeeze(np.expand_dims(x, (0, 2)), axis=2), A),
    "flip": (np.flip, A),
    "flip of an axis": (lambda x: np.flip(x, axis=1), A),
    "fliplr": (np.fliplr, A),
    "flipud": (np.flipud, A),
    "rot90": (lambda x: np.rot90(x, 3, axes=(1, 0)), A),
    "roll": (lambda x: np.roll(x, 1), A),
    "roll of an axis": (lambda x: np.roll(x, 1, axis=1), A),
    "roll of two axes": (lambda x: np.roll(x, (1, 2), axis=(0, 1)), A),
    "rollaxis": (lambda x: np.rollaxis(x, 2, 1), T),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), T),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 2), T),
    "transpose": (np.transpose, T),
    "transpose of axes": (lambda x: np.transpose(x, (1, 0, 2)), T),
    "permute_dims": (lambda x: np.permute_dims(x, (2, 0, 1)), T),
    "matrix_transpose": (np.matrix_transpose, T),
    "reshape": (lambda x: np.reshape(x, (3, -1)), A),
    "ravel": (np.ravel, A),
    "repeat": (lambda x: np.repeat(x, 2), A),
    "repeat of an axis": (lambda x: np.repeat(x, [2, 0, 1], axis=1), A),
    "resize": (lambda x: np.resize(x, (3, 3)), A),
    "tile": (lambda x: np.tile(x, 2), A),
    "tile of two": (lambda x: np.tile(x, (2, 1)), A),
    "tril": (lambda x: np.tril(x, -1), S),
    "triu": (np.triu, A),
    "meshgrid": (lambda x: np.meshgrid(x, V)[0], W),
    "linspace": (lambda x: np.linspace(x, 2.0, 5), np.array(0.4)),
    "linspace of arrays": (lambda x: np.linspace(W, x, 4, endpoint=False, axis=1), np.array(0.4)),
    "logspace": (lambda x: np.logspace(x, 1.5, 4), np.array(0.4)),
    "geomspace": (lambda x: np.geomspace(x, 7.5, 4), np.array(0.4)),
}

PICKS: dict[str, tuple[Call, Any]] = {
    **many(
        "take",
        A,
        lambda x: np.take(x, np.array([2, 0]), axis=1),
        lambda x: np.take(x, [[5, 1], [0, 3]]),
        lambda x: np.take(x, 1, axis=0),
        lambda x: np.take(x, [7, -1], mode="wrap"),
    ),
    "partition": (lambda x: np.partition(x, 2), A),
    "partition of all": (lambda x: np.partition(x, (1, 3), axis=None), A),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.argsort(A, 1), axis=1), A),
    "compress": (lambda x: np.compress([True, False, True], x, axis=1), A),
    "extract": (lambda x: np.extract(A > 0, x), A),
    "delete": (lambda x: np.delete(x, [0, 2], axis=1), A),
    "delete of all": (lambda x: np.delete(x, slice(1, 4)), A),
    "insert": (lambda x: np.insert(x, 1, 2.5, axis=1), A),
    "insert of tensors": (lambda x: np.insert(x, [1, 1], np.sum(x, axis=1)), A),
    "trim_zeros": (lambda x: np.trim_zeros(x), np.array([0.5, 0.3, 0.1])),
    **many(
        "pad",
        A,
        lambda x: np.pad(x, 2),
        lambda x: np.pad(x, ((1, 0), (2, 1)), constant_values=((1.0, 2.0), (3.0, 4.0))),
        lambda x: np.pad(x, 1, mode="edge"),
        lambda x: np.pad(x, (1, 2), mode="wrap"),
        lambda x: np.pad(x, ((0, 1), (1, 2)), mode="reflect"),
        lambda x: np.pad(x, ((2, 1), (0, 2)), mode="symmetric"),
    ),
    "unique": (np.unique, A),
    "unique of rows": (lambda x: np.unique(x, axis=0), A),
    "unique with counts": (lambda x: np.unique(x, return_counts=True)[0], A),
    "unique_all": (lambda x: np.unique_all(x).values, A),
    "unique_counts": (lambda x: np.unique_counts(x).values, A),
    "unique_inverse": (lambda x: np.unique_inverse(x).values, A),
    "unique_values": (np.unique_values, W),
    "union1d": (lambda x: np.union1d(x, V), A),
    "intersect1d": (lambda x: np.intersect1d(x, np.append(x, 9.5)), A),
    "setdiff1d": (lambda x: np.setdiff1d(x, np.array([7.5])), A),
    "setxor1d": (lambda x: np.setxor1d(x, V), A),
}

SERIES: dict[str, tuple[Call, Any]] = {
    **many(
        "diff",
        A,
        np.diff,
        lambda x: np.diff(x, 2, axis=1),
        lambda x: np.diff(x, axis=0, prepend=0.5, append=B[:1]),
    ),
    "ediff1d": (lambda x: np.ediff1d(x, to_begin=[0.5], to_end=0.25), A),
    **many(
        "gradient",
        T,
        lambda x: np.gradient(x, axis=1),
        lambda x: np.gradient(x)[0],
        lambda x: np.gradient(x, 0.5, [0.0, 0.4, 1.0], 2.0)[1],
        lambda x: np.gradient(x, [0.0, 0.5, 0.7, 1.9], axis=2, edge_order=2),
    ),
    "gradient of places": (lambda x: np.gradient(V, x), np.array([0.1, 0.5, 0.6, 1.3])),
    **many(
        "interp",
        np.array([[0.2, 0.55], [2.5, -1.0]]),
        lambda x: np.interp(x, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0]),
        lambda x: np.interp(x, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0], left=-5.0, right=7.0),
        lambda x: np.interp(x, [0.9, 0.25, 0.5], [1.0, 3.0, 2.0], period=1.3),
    ),
    "interp of values": (lambda x: np.interp([0.3, 0.5, 4.0], [0.0, 0.5, 1.0], x), W),
    "interp of places": (lambda x: np.interp([0.3, 0.7], x, W), np.array([0.1, 0.5, 0.8])),
    **{
        f"{name} {mode}": (lambda x, f=_NUMPY[name], m=mode: f(x, W, m), V)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
    },
    **{
        f"{name} {mode} of a shorter one": (lambda x, f=_NUMPY[name], m=mode: f(x, V, m), W)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
    },
    **many(
        "cov",
        A,
        np.cov,
        lambda x: np.cov(x, rowvar=False, ddof=0),
        lambda x: np.cov(x[0], x[1], bias=True),
        lambda x: np.cov(x, B, aweights=[0.5, 1.0, 2.0]),
    ),
    "corrcoef": (np.corrcoef, A),
    "vander": (lambda x: np.vander(x, 3, increasing=True), W),
    "polyval": (lambda x: np.polyval(x, A), W),
    "polyval of places": (lambda x: np.polyval([2.0, -1.0, 0.5], x), A),
    "polyadd": (lambda x: np.polyadd(x, V), W),
    "polysub": (lambda x: np.polysub(x, [2.0]), W),
    "polymul": (lambda x: np.polymul(x, V), W),
    "polyder": (lambda x: np.polyder(x, 2), V),
    "polyint": (lambda x: np.polyint(x, 2, k=[1.0, 2.0]), V),
    "polydiv": (lambda x: np.polydiv(x, [2.0, 1.0])[0], V),
    "polydiv remainder": (lambda x: np.polydiv(V, x)[1], W),
    "poly": (np.poly, W),
    "roots": (np.roots, np.array([1.0, -6.5, 11.0, -4.0])),
    "roots with zeros": (lambda x: np.roots(np.concatenate([[0.0], x, [0.0]])), W),
    "roots of no reals": (lambda x: np.abs(np.roots(x) + 0.5), np.array([1.0, 1.0, 3.0])),
    "polyfit": (lambda x: np.polyfit([0.0, 1.0, 2.5, 3.0], x, 2), V),
    "polyfit of places": (lambda x: np.polyfit(x, V, 1, w=[1.0, 2.0, 1.0, 0.5]), R),
    "bincount": (lambda x: np.bincount([0, 2, 2, 1], weights=x, minlength=5), V),
}


def _parts(z: Any) -> Any:
    """Both parts of complex numbers, as the slope of each is compared."""
    return np.concatenate([np.real(z), np.imag(z)])


FOURIER: dict[str, tuple[Call, Any]] = {
    **{
        f"fft.{name}": (lambda x, f=_FOURIER[name]: _parts(f(x)), A)
        for name in ("fft", "ifft", "rfft", "ihfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn")
    },
    "fft.rfftn": (lambda x: _parts(np.fft.rfftn(x, s=(2, 4), axes=(0, 1), norm="ortho")), A),
    "fft.fft of a length": (lambda x: _parts(np.fft.fft(x, 4, axis=0, norm="forward")), A),
    **{
        f"fft.{name}": (lambda x, f=_FOURIER[name]: f(x + 0.3j), A)
        for name in ("irfft", "hfft", "irfft2", "irfftn")
    },
    "fft.irfft of a length": (lambda x: np.fft.irfft(x, n=5), A),
    "fft.fftshift": (np.fft.fftshift, A),
    "fft.ifftshift": (lambda x: np.fft.ifftshift(x, axes=1), A),
}

SMOOTH = {**ELEMENTS, **REDUCTIONS, **SHAPES, **PICKS, **SERIES, **MATRICES, **FOURIER}

WHOLE = np.array([[5, 2, 7], [1, 12, 3]])


def _fix(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's own, from 2.5 on
        return np.fix(x)


FLAT: dict[str, tuple[Call, Any]] = {
    "fix": (_fix, A),
    **{
        name: (getattr(np, name), A)
        for name in [
            "ceil",
            "floor",
            "rint",
            "trunc",
            "sign",
            "signbit",
            "isnan",
            "isinf",
            "isfinite",
            "isneginf",
            "isposinf",
            "iscomplex",
            "isreal",
            "round",
            "around",
            "argmax",
            "argmin",
            "argsort",
            "argwhere",
            "flatnonzero",
            "nonzero",
            "count_nonzero",
            "zeros_like",
            "ones_like",
            "ndim",
            "shape",
            "size",
            "iscomplexobj",
            "isrealobj",
            "array_str",
            "array_repr",
            "array2string",
            "common_type",
            "nanargmax",
            "nanargmin",
            "spacing",
            "min_scalar_type",
            "result_type",
        ]
    },
    **{
        name: (lambda x, f=_NUMPY[name]: f(x, B), A)
        for name in [
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "equal",
            "not_equal",
            "nextafter",
            "floor_divide",
            "allclose",
            "isclose",
            "array_equal",
            "array_equiv",
            "may_share_memory",
            "shares_memory",
            "logical_and",
            "logical_or",
            "logical_xor",
        ]
    },
    **{
        name: (lambda x, f=_NUMPY[name]: f(x, 2), WHOLE)
        for name in [
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "gcd",
            "lcm",
            "left_shift",
            "right_shift",
        ]
    },
    "invert": (np.invert, WHOLE),
    "bitwise_count": (np.bitwise_count, WHOLE),
    "logical_not": (np.logical_not, A),
    "logical_and.reduce": (np.logical_and.reduce, A > 0),
    "logical_or.reduce": (lambda x: np.logical_or.reduce(x, axis=1), A > 0),
    "all": (lambda x: np.all(x, axis=(0, 1)), A > -1),
    "any": (lambda x: np.any(x, axis=0, keepdims=True), A > 0.5),
    "argmax of an axis": (lambda x: np.argmax(x, axis=1, keepdims=True), A),
    "count_nonzero of an axis": (lambda x: np.count_nonzero(x, axis=0), A > 0),
    "round decimals": (lambda x: np.round(x, 1), A),
    "where of a condition": (lambda x: np.where(x)[1], A > 0),
    "isin": (lambda x: np.isin(x, [2, 7], invert=True), WHOLE),
    "searchsorted": (lambda x: np.searchsorted(x, [0.3, 0.9]), np.array([0.1, 0.5, 0.8])),
    "digitize": (lambda x: np.digitize(x, [0.0, 0.3]), A),
    "lexsort": (lambda x: np.lexsort((x, np.array([1, 1, 0]))), W),
    "packbits": (lambda x: np.packbits(x), np.array([1, 0, 1, 1], np.uint8)),
    "unpackbits": (lambda x: np.unpackbits(x), np.array([11], np.uint8)),
    "ravel_multi_index": (lambda x: np.ravel_multi_index((x, [2, 0]), (2, 3)), np.array([1, 0])),
    "unravel_index": (lambda x: np.unravel_index(x, (2, 3))[1], np.array([5, 1])),
    "tril_indices_from": (lambda x: np.tril_indices_from(x)[0], S),
    "triu_indices_from": (lambda x: np.triu_indices_from(x, 1)[1], S),
    "diag_indices_from": (lambda x: np.diag_indices_from(x)[0], S),
    "ix_": (lambda x: np.ix_(x, [0, 1])[0], np.array([1, 0])),
    "can_cast": (lambda x: np.can_cast(x.dtype if isinstance(x, np.ndarray) else A.dtype, "f4"), A),
    "argpartition": (lambda x: np.argpartition(x, 1), A),
    "einsum_path": (lambda x: np.einsum_path("ij,jk->ik", x, A.T)[0], A),
    "empty_like": (lambda x: np.shape(np.empty_like(x)), A),
    "full_like": (lambda x: np.full_like(x, 2.5), A),
    "histogram": (lambda x: np.histogram(x, 3)[0], A),
    "histogram2d": (lambda x: np.histogram2d(x, W, 2)[0], W),
    "histogramdd": (lambda x: np.histogramdd(x, 2)[0], A),
    "histogram_bin_edges": (lambda x: np.histogram_bin_edges(x, 3), A),
    "linalg.matrix_rank": (np.linalg.matrix_rank, S),
    "linalg.matrix_rank of a vector": (np.linalg.matrix_rank, W),
}
