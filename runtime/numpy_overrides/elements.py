"""Functions of NumPy that treat each element by itself, or choose between elements."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..functions import composites, creation, elements, splitting
from .arguments import array_of, as_tensor, as_tensors, flat, values_of


def _round(a: Any, decimals: int = 0) -> Any:
    return ops.round(as_tensor(a), decimals=decimals)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    a = as_tensor(a)
    if low is None and high is None:
        return ops.clone(a)
    if any(isinstance(bound, Tensor | np.ndarray) for bound in (low, high)):
        low, high = (None if bound is None else as_tensor(bound) for bound in (low, high))
    return ops.clamp(a, low, high)


def _angle(z: Any, deg: bool = False) -> Any:
    found = ops.angle(as_tensor(z))
    return ops.rad2deg(found) if deg else found


def _real(val: Any) -> Any:
    return ops.real(as_tensor(val))


def _imag(val: Any) -> Any:
    val = as_tensor(val)
    return ops.imag(val) if val.is_complex() else creation.zeros_like(val)


def _real_if_close(a: Any, tol: float = 100) -> Any:
    a = as_tensor(a)
    if not a.is_complex():
        return a
    least = tol * np.finfo(a.array.dtype).eps if tol > 1 else tol
    return ops.real(a) if bool(ops.all(ops.abs(ops.imag(a)) < least)) else a


def _isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    first, second = splitting.broadcast_tensors(*_one_dtype(a, b))
    return ops.isclose(first, second, rtol, atol, equal_nan)


def _one_dtype(a: Any, b: Any) -> list[Tensor]:
    first, second = as_tensor(a), as_tensor(b)
    dtype = np.result_type(first.array.dtype, second.array.dtype)
    return [first.to(dtype), second.to(dtype)]


def _allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    return bool(ops.all(_isclose(a, b, rtol, atol, equal_nan)))


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    first, second = as_tensor(a1), as_tensor(a2)
    if first.shape != second.shape:
        return False
    same = ops.eq(first, second)
    if equal_nan:
        same = same | (ops.ne(first, first) & ops.ne(second, second))
    return bool(ops.all(same))


def _array_equiv(a1: Any, a2: Any) -> bool:
    first, second = as_tensor(a1), as_tensor(a2)
    try:
        np.broadcast_shapes(tuple(first.shape), tuple(second.shape))
    except ValueError:
        return False
    return bool(ops.all(ops.eq(first, second)))


def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    if not copy:
        raise TypeError("nan_to_num of a tensor makes a copy: leave out copy=False")
    return ops.nan_to_num(as_tensor(x), nan, posinf, neginf)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return composites.nonzero(as_tensor(condition), as_tuple=True)
    condition = as_tensor(condition)
    if condition.array.dtype.kind != "b":
        condition = ops.ne(condition, 0)
    return ops.where(condition, _operand(x), _operand(y))


def _operand(value: Any) -> Any:
    """A number as it is, which does not decide the dtype; an array as a tensor."""
    return value if isinstance(value, int | float | complex) else as_tensor(value)


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    found = _operand(default)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        found = ops.where(as_tensor(condition), _operand(choice), found)
    return found


def _choose(a: Any, choices: Sequence[Any], *, mode: str = "raise") -> Any:
    tensors = as_tensors(choices)
    count = len(tensors)
    wanted = array_of(a)
    if mode == "raise" and ((wanted < 0) | (wanted >= count)).any():
        raise ValueError("invalid entry in choice array")
    wanted = wanted % count if mode == "wrap" else wanted.clip(0, count - 1)
    index, *spread = splitting.broadcast_tensors(as_tensor(wanted), *tensors)
    return ops.gather(ops.stack(spread, 0), 0, ops.unsqueeze(index, 0))[0]


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **named: Any) -> Any:
    x = as_tensor(x)
    given = condlist if isinstance(condlist, list | tuple) else [condlist]
    conditions = [ops.ne(as_tensor(each), 0) for each in given]
    if conditions[0].ndim == 0 and x.ndim:
        conditions = [ops.stack(conditions, 0)]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~functools.reduce(ops.logical_or, conditions))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    found = creation.zeros_like(x)
    for where, function in zip(conditions, funclist, strict=True):
        if callable(function):
            some = function(ops.masked_select(x, where), *args, **named)
            found = ops.masked_scatter(found, where, as_tensor(some).to(x.dtype))
        else:
            found = ops.where(where, function, found)
    return found


def _isin(
    element: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    return elements.isin(as_tensor(element), as_tensor(test_elements), invert=invert)


def _iscomplex(x: Any) -> Any:
    return ops.ne(_imag(x), 0)


def _unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi
) -> Any:
    """The elements and steps of whole periods, which have no slope."""
    p = as_tensor(p)
    values = values_of(p)
    return p + as_tensor(np.unwrap(values, discont, axis, period=period) - values)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    return x.astype(dtype, copy=copy)


def _copy(a: Any, order: str = "K") -> Any:
    return ops.clone(as_tensor(a))


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    return creation.full_like(a, fill_value, dtype=dtype)


def _sinc(x: Any) -> Any:
    return ops.sinc(x)


def _i0(x: Any) -> Any:
    return ops.i0(x)


def _fix(x: Any) -> Any:
    return ops.trunc(x)


def _sort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    a, axis = flat(a, axis)
    return ops.sort(a, axis).values if a.ndim else ops.clone(a)


def _argsort(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    return ops.argsort(*flat(a, axis))


def _sort_complex(a: Any) -> Any:
    a = as_tensor(a)
    order = np.argsort(values_of(a), -1, kind="stable")
    found = ops.gather(a, -1, as_tensor(order))
    return found if found.is_complex() else found.to(np.complex128)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "allclose": _allclose,
    "angle": _angle,
    "argsort": _argsort,
    "around": _round,
    "array_equal": _array_equal,
    "array_equiv": _array_equiv,
    "astype": _astype,
    "choose": _choose,
    "clip": _clip,
    "copy": _copy,
    "empty_like": creation.empty_like,
    "fix": _fix,
    "full_like": _full_like,
    "i0": _i0,
    "imag": _imag,
    "isclose": _isclose,
    "iscomplex": _iscomplex,
    "isin": _isin,
    "isneginf": lambda x: ops.isneginf(x),
    "isposinf": lambda x: ops.isposinf(x),
    "isreal": elements.isreal,
    "nan_to_num": _nan_to_num,
    "ones_like": creation.ones_like,
    "piecewise": _piecewise,
    "real": _real,
    "real_if_close": _real_if_close,
    "round": _round,
    "select": _select,
    "sinc": _sinc,
    "sort": _sort,
    "sort_complex": _sort_complex,
    "unwrap": _unwrap,
    "where": _where,
    "zeros_like": creation.zeros_like,
}
"""The overrides by their names in `numpy`."""
