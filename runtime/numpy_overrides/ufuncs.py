"""NumPy's ufuncs, and their methods `reduce`, `accumulate` and `outer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..functions import composites
from . import reductions
from .arguments import array_of, as_tensor, promoted, values_of


def _same(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


UFUNCS: Final = {
    **_same(
        "add arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
        "ceil copysign cos cosh deg2rad divide exp exp2 expm1 float_power floor floor_divide fmax "
        "fmin fmod gcd greater greater_equal heaviside hypot isfinite isinf isnan lcm ldexp less "
        "less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
        "logical_xor maximum minimum multiply negative nextafter not_equal rad2deg "
        "reciprocal remainder sign signbit sin sinh sqrt square subtract tan tanh trunc"
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


def _cbrt(x: Tensor) -> Any:
    return ops.mul(ops.sign(x), ops.pow(ops.abs(x), 1 / 3))


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return ops.floor_divide(x1, x2), ops.remainder(x1, x2)


def _modf(x: Tensor) -> tuple[Any, Any]:
    whole = ops.trunc(x)
    return ops.sub(x, whole), whole


def _matmul(x1: Any, x2: Any, out: Tensor | None = None) -> Any:
    left, right = promoted(x1, x2)
    return ops.matmul(left, right, out=out)


def _matvec(x1: Any, x2: Any) -> Any:
    matrix, vector = promoted(x1, x2)
    return ops.squeeze(ops.matmul(matrix, ops.unsqueeze(vector, -1)), -1)


def _vecdot(x1: Any, x2: Any) -> Any:
    return ops.linalg_vecdot(*promoted(x1, x2))


def _vecmat(x1: Any, x2: Any) -> Any:
    vector, matrix = promoted(x1, x2)
    return ops.squeeze(ops.matmul(ops.unsqueeze(ops.conj(vector), -2), matrix), -2)


def _counted(ufunc: np.ufunc) -> Callable[..., Any]:
    """A ufunc whose steps have no slope, on the values."""
    return lambda x: wrap(array_of(ufunc(values_of(x))))


ADAPTED: Final[dict[str, Callable[..., Any]]] = {
    "bitwise_count": _counted(np.bitwise_count),
    "cbrt": _cbrt,
    "divmod": _divmod,
    "frexp": ops.frexp,
    "matmul": _matmul,
    "matvec": _matvec,
    "modf": _modf,
    "positive": composites.positive,
    "spacing": _counted(np.spacing),
    "vecdot": _vecdot,
    "vecmat": _vecmat,
}
"""Ufuncs that are no op of the table, or answer with several."""

REFUSED: Final = {"isnat": "there are no tensors of dates"}
"""Ufuncs without an override, and why."""

REDUCE: Final[dict[str, Callable[..., Any]]] = {
    "add": reductions.total,
    "multiply": reductions.product,
    "maximum": reductions.largest,
    "minimum": reductions.smallest,
    "logical_and": reductions.every,
    "logical_or": reductions.some,
}
"""Functions for `reduce` of a ufunc; its axis is the first unless told."""

ACCUMULATE: Final[dict[str, Callable[..., Any]]] = {
    "add": ops.cumsum,
    "multiply": ops.cumprod,
    "maximum": lambda a, axis: ops.cummax(a, axis).values,
    "minimum": lambda a, axis: ops.cummin(a, axis).values,
}
"""Functions for `accumulate` of a ufunc."""


def reduced(name: str, array: Any, axis: Any = 0, *, keepdims: bool = False) -> Any:
    """The reduction by a ufunc."""
    return REDUCE[name](as_tensor(array), axis=axis, keepdims=keepdims)


def accumulated(name: str, array: Any, axis: int = 0) -> Any:
    """The running reduction by a ufunc."""
    return ACCUMULATE[name](as_tensor(array), axis)


def outer(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """A ufunc of every pair of elements."""
    a, b = as_tensor(a), as_tensor(b)
    return function(ops.reshape(a, [*a.shape, *[1] * b.ndim]), b)
