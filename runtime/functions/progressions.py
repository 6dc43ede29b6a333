"""Evenly spaced numbers, and powers of them: `arange`, `range`, `linspace`, `logspace`."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ..batching.batched import Level
from ..batching.exposed import batches_of, expose, hide
from ..core.tensor import Tensor
from ..dispatch.numbers_given import number_given, real_given
from ..dtypes.promotion import (
    can_cast,
    default_complex_dtype,
    differentiated,
    get_default_dtype,
    type_name,
)
from ..dtypes.whole_numbers import whole_number
from ..forward_ad.dual import tangents_of
from .creation import leaf
from .creation_options import PLACE, creates

Real: TypeAlias = int | float


@creates(*PLACE, "out")
def arange(
    start: Real | None = None,
    end: Real | None = None,
    step: Real = 1,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`start, start + step, ...` before `end`; `arange(n)` counts from 0.

    int64 if all arguments are integers, else the default dtype. As in PyTorch the bounds are
    truncated before they are counted where int64 is asked for, and after where another dtype of
    integers is. RuntimeError for a step of zero or in the wrong direction, and for bounds that are
    not finite, or complex.
    """
    if end is None:
        start, end = None, start
    if end is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    bounds = {"start": 0 if start is None else start, "end": end, "step": step}
    given = [_bound("arange", *each) for each in bounds.items()]
    integral = all(isinstance(value, int) for value in given)
    chosen = np.dtype(np.int64) if integral else get_default_dtype()
    if dtype is not None:
        chosen = np.dtype(dtype)
    if chosen.kind in "bc":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{type_name(chosen)}'")
    first, last, by = _checked(*given, truncates=chosen == np.int64)
    if integral or chosen == np.int64:
        count = -((first - last) // by)
    else:
        count = math.ceil((last - first) / by)
    if chosen.kind in "iu":
        first, by = int(first), int(by)
    return leaf((first + np.arange(count) * by).astype(chosen), requires_grad)


@creates(*PLACE, "out")
def range(
    start: Real,
    end: Real | None = None,
    step: Real = 1,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`start, start + step, ...` up to `end`, which is included; `arange` leaves it out.

    Of the default dtype; errors are those of `arange`.
    """
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    bounds = {"start": start, "end": end, "step": step}
    first, last, by = _checked(*(_bound("range", *each) for each in bounds.items()))
    values = first + np.arange(int((last - first) / by) + 1) * by
    return leaf(values.astype(get_default_dtype() if dtype is None else dtype), requires_grad)


def _checked(first: Any, last: Any, by: Any, *, truncates: bool = False) -> tuple[Real, Real, Real]:
    """Return the bounds and the step, as integers if it `truncates`; RuntimeError for none."""
    if any(isinstance(value, complex) for value in (first, last, by)):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first} -> {last}")
    if truncates:
        first, last, by = int(first), int(last), int(by)
    if not abs(by) > 0:
        raise RuntimeError("step must be nonzero")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return first, last, by


def _bound(name: str, argument: str, value: Any) -> Any:
    """An argument as a Python number, so that integers are told from floats by type."""
    if isinstance(value, Tensor) and value.numel() == 1 and not differentiated(value):
        value = value.item()
    return number_given(name, argument, value)


@creates(*PLACE, "out")
@np.errstate(all="ignore")
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included.

    Complex if one of these is. RuntimeError for a dtype that would lose imaginary parts.
    """
    first, last, chosen, batches = _ends("linspace", start, end, steps, dtype)
    values = np.linspace(first, last, steps, axis=-1).astype(chosen)
    return hide(leaf(values, requires_grad), batches)


@creates(*PLACE, "out")
@np.errstate(all="ignore")
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from `base**start` to `base**end`, in constant ratio.

    Complex if one of these is. RuntimeError for a dtype that would lose imaginary parts.
    """
    first, last, chosen, batches = _ends("logspace", start, end, steps, dtype)
    base = real_given("logspace", "base", base)
    if chosen.kind in "iu" and steps != 1:  # as in PyTorch, whose exponents have the dtype
        first, last = np.trunc(first), np.trunc(last)
    values = np.logspace(first, last, steps, base=base, axis=-1).astype(chosen)
    return hide(leaf(values, requires_grad), batches)


def _ends(
    name: str, start: Any, end: Any, steps: int, dtype: Any
) -> tuple[Any, Any, np.dtype[Any], tuple[Level, ...]]:
    """The first and the last number, the dtype of all, and the calls of `vmap` they belong to."""
    steps = whole_number(name, "steps", steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    for word, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value.array.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {word} with "
                f"{value.array.ndim} dimension(s)."
            )
    batches = batches_of(*(v for v in (start, end) if isinstance(v, Tensor)))
    first, last = (
        _values(name, expose(v, batches)) if isinstance(v, Tensor) else number_given(name, word, v)
        for word, v in (("start", start), ("end", end))
    )
    is_complex = np.iscomplexobj(first) or np.iscomplexobj(last)
    inferred = default_complex_dtype() if is_complex else get_default_dtype()
    chosen = inferred if dtype is None else np.dtype(dtype)
    if is_complex and not can_cast(inferred, chosen):
        raise RuntimeError(
            f"torch.{name}(): inferred dtype {type_name(inferred)} can't be safely cast to passed "
            f"dtype {type_name(chosen)}"
        )
    return first, last, chosen, batches


def _values(name: str, bound: Tensor) -> Any:
    if tangents_of(bound):
        raise NotImplementedError(
            f"Trying to use forward AD with aten::{name} that does not support it: give item(), or "
            "compute the numbers by ops"
        )
    return bound.array[()]
