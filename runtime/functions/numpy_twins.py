"""NumPy's functions on tensors: `np.sin(x)` is `gs.sin(x)`, and a gradient flows through it.

`UFUNCS` and `FUNCTIONS` name the function of this library that is the same one, for the same
arguments once `axis` is called `dim`; `ADAPTED` are those with other defaults, or others order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..core.lazy import LazyModule
from ..core.tensor import Tensor
from ..dispatch.registry import ops
from . import composites, creation, elements, splitting, unique

if TYPE_CHECKING:
    from . import einsum as contraction
else:
    contraction = LazyModule(".einsum", globals(), "contraction")


def _same(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


UFUNCS: Final = {
    **_same(
        "add arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
        "ceil copysign cos cosh deg2rad divide exp exp2 expm1 float_power floor floor_divide fmax "
        "fmin fmod gcd greater greater_equal heaviside hypot isfinite isinf isnan lcm ldexp less "
        "less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
        "logical_xor matmul maximum minimum multiply negative nextafter not_equal rad2deg "
        "reciprocal remainder sign signbit sin sinh sqrt square subtract tan tanh trunc vecdot"
    ),
    "absolute": "abs",
    "fabs": "abs",
    "conjugate": "conj",
    "equal": "eq",
    "invert": "bitwise_not",
    "power": "pow",
    "rint": "round",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    **{f"arc{name}": f"a{name}" for name in ["cos", "cosh", "sin", "sinh", "tan", "tanh"]},
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
    "mod": "remainder",
}
"""The op by the name of the ufunc."""

FUNCTIONS: Final = {
    **_same(
        "all any argmax argmin argsort broadcast_to count_nonzero cumprod diag diagonal "
        "diff flip fliplr flipud inner isclose mean nan_to_num nansum nanmean outer prod roll "
        "rot90 sinc sum swapaxes tile tril triu vdot angle imag real i0 where stack"
    ),
    "amax": "amax",
    "amin": "amin",
    "max": "amax",
    "min": "amin",
    "concatenate": "cat",
    "copy": "clone",
    "concat": "cat",
    "around": "round",
}
"""The op by the name of the function in `numpy`."""

LINALG: Final = {
    **_same("cholesky det eigh eigvalsh inv pinv slogdet solve svd svdvals matmul"),
}
"""The op, without `linalg_`, by the name of the function in `numpy.linalg`."""

_COMPOSED: Final[dict[str, Callable[..., Any]]] = {
    "atleast_1d": composites.atleast_1d,
    "atleast_2d": composites.atleast_2d,
    "atleast_3d": composites.atleast_3d,
    "column_stack": composites.column_stack,
    "dstack": composites.dstack,
    "empty_like": creation.empty_like,
    "hstack": composites.hstack,
    "isreal": elements.isreal,
    "kron": composites.kron,
    "moveaxis": composites.moveaxis,
    "ones_like": creation.ones_like,
    "ravel": composites.ravel,
    "take_along_axis": splitting.take_along_dim,
    "vstack": composites.vstack,
    "zeros_like": creation.zeros_like,
}
"""Functions that are no ops of the table, by their names in `numpy`."""


def _flat(a: Any, dim: Any) -> tuple[Any, Any]:
    """Return a tensor and a dimension: all elements in one where NumPy's `axis` is None."""
    return (composites.ravel(a), 0) if dim is None else (a, dim)


def _cumsum(a: Any, dim: Any = None, dtype: Any = None) -> Any:
    a, dim = _flat(a, dim)
    return ops.cumsum(a, dim, dtype=dtype)


def _variance(a: Any, dim: Any = None, *, ddof: int = 0, keepdim: bool = False) -> Any:
    return ops.var(a, dim, correction=ddof, keepdim=keepdim)


def _deviation(a: Any, dim: Any = None, *, ddof: int = 0, keepdim: bool = False) -> Any:
    return ops.std(a, dim, correction=ddof, keepdim=keepdim)


def _quantile(a: Any, q: Any, dim: Any = None, *, keepdim: bool = False) -> Any:
    return ops.quantile(a, q, dim, keepdim)


def _median(a: Any, dim: Any = None, *, keepdim: bool = False) -> Any:
    return ops.quantile(a, 0.5, dim, keepdim)  # the mean of the two in the middle


def _sort(a: Any, dim: Any = -1) -> Any:
    a, dim = _flat(a, dim)
    return ops.sort(a, dim).values


def _transpose(a: Any, axes: Any = None) -> Any:
    return ops.permute(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def _round(a: Any, decimals: int = 0) -> Any:
    return ops.round(a, decimals=decimals)


def _reshape(a: Any, shape: Any) -> Any:
    return ops.reshape(a, (shape,) if isinstance(shape, int) else shape)


def _squeeze(a: Any, dim: Any = None) -> Any:
    return ops.squeeze(a) if dim is None else ops.squeeze(a, dim)


def _expand_dims(a: Any, dim: Any) -> Any:
    dims = [dim] if isinstance(dim, int) else list(dim)
    ndim = a.ndim + len(dims)
    for place in sorted(each % ndim for each in dims):
        a = ops.unsqueeze(a, place)
    return a


def _repeat(a: Any, repeats: Any, dim: Any = None) -> Any:
    return splitting.repeat_interleave(a, repeats, dim)


def _flip(m: Any, dim: Any = None) -> Any:
    dims = range(m.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    return ops.flip(m, list(dims))


def _take(a: Any, indices: Any, dim: Any = None) -> Any:
    chosen = indices if isinstance(indices, Tensor) else creation.tensor(indices)
    if dim is None:
        return ops.take(a, chosen)
    picked = ops.index_select(a, dim, composites.ravel(chosen))
    return ops.unflatten(picked, dim, tuple(chosen.shape)) if chosen.ndim != 1 else picked


def _dot(a: Any, b: Any) -> Any:
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if b.ndim == 1 or (a.ndim <= 2 and b.ndim <= 2):
        return ops.matmul(a, b)
    return contraction.tensordot(a, b, ([-1], [-2]))


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if not isinstance(axes, int):
        axes = tuple([dim] if isinstance(dim, int) else list(dim) for dim in axes)
    return contraction.tensordot(a, b, axes)


def _einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    return contraction.einsum(subscripts, *operands)


def _trace(a: Any, offset: int = 0) -> Any:
    return ops.sum(ops.diagonal(a, offset, 0, 1), -1)


def _cross(a: Any, b: Any, dim: int = -1) -> Any:
    return ops.linalg_cross(a, b, dim=dim)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    return ops.clamp(a, low, high)


def _split(ary: Any, indices_or_sections: Any, dim: int = 0) -> list[Any]:
    if isinstance(indices_or_sections, int) and ary.shape[dim] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return list(splitting_of(ary, indices_or_sections, dim))


def _array_split(ary: Any, indices_or_sections: Any, dim: int = 0) -> list[Any]:
    return list(splitting_of(ary, indices_or_sections, dim))


splitting_of: Final = composites.tensor_split


def _nonzero(a: Any) -> Any:
    return composites.nonzero(a, as_tuple=True)


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    return creation.full_like(a, fill_value, dtype=dtype)


def _meshgrid(*xi: Any, indexing: str = "xy") -> Any:
    return splitting.meshgrid(*xi, indexing=indexing)


def _unique(ar: Any, *, return_inverse: bool = False, return_counts: bool = False) -> Any:
    return unique.unique(ar, True, return_inverse, return_counts)


def _shape(a: Tensor) -> tuple[int, ...]:
    return tuple(a.shape)


def _ndim(a: Tensor) -> int:
    return a.ndim


def _size(a: Tensor, dim: int | None = None) -> int:
    return a.numel() if dim is None else a.shape[dim]


def _allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    first, second = _tensors(a, b)
    return bool(ops.all(ops.isclose(first, second, rtol, atol, equal_nan)))


def _array_equal(a1: Any, a2: Any) -> bool:
    first, second = _tensors(a1, a2)
    return first.shape == second.shape and bool(ops.all(ops.eq(first, second)))


def _tensors(*values: Any) -> Sequence[Tensor]:
    return [value if isinstance(value, Tensor) else creation.tensor(value) for value in values]


ADAPTED: Final[dict[str, Callable[..., Any]]] = {
    **_COMPOSED,
    "allclose": _allclose,
    "array_equal": _array_equal,
    "array_split": _array_split,
    "clip": _clip,
    "cross": _cross,
    "cumsum": _cumsum,
    "dot": _dot,
    "einsum": _einsum,
    "expand_dims": _expand_dims,
    "flip": _flip,
    "full_like": _full_like,
    "median": _median,
    "meshgrid": _meshgrid,
    "ndim": _ndim,
    "nonzero": _nonzero,
    "quantile": _quantile,
    "repeat": _repeat,
    "reshape": _reshape,
    "around": _round,
    "round": _round,
    "shape": _shape,
    "size": _size,
    "sort": _sort,
    "split": _split,
    "squeeze": _squeeze,
    "std": _deviation,
    "take": _take,
    "tensordot": _tensordot,
    "trace": _trace,
    "transpose": _transpose,
    "permute_dims": _transpose,
    "unique": _unique,
    "var": _variance,
}
"""Functions of `numpy` whose arguments differ from those of the twin."""


def _norm(x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    return composites.linalg.norm(x, ord, dim, keepdim)


def _matrix_power(a: Any, n: int) -> Any:
    return composites.matrix_power(a, n)


ADAPTED_LINALG: Final[dict[str, Callable[..., Any]]] = {
    "norm": _norm,
    "matrix_power": _matrix_power,
}
"""Functions of `numpy.linalg` that are no ops of the table."""
