"""PyTorch's `_foreach_*`: an op on each tensor of a list, for optimizers of one's own.

`_foreach_add(self, other)` is made of the method `add` when it is first read. Arguments after the
list are lists as long, of tensors or of numbers, or one number for all, which may be a tensor
without dimensions. Names that end with an underscore change the tensors, and return the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops

PREFIX = "_foreach_"


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """Return the norm of each tensor, of all its elements."""
    return tuple(ops.linalg_vector_norm(t, ord, dtype=dtype) for t in _checked(self))


def _foreach_powsum(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """Return the sum of the powers of the absolute values of each tensor."""
    return tuple((t.abs() ** ord).sum(dtype=dtype) for t in _checked(self))


def _foreach_pow(self: Any, exponent: Any) -> tuple[Any, ...]:
    """Raise each tensor to a power, or a number to the power of each."""
    if isinstance(self, int | float | complex):
        return tuple(self**tensor for tensor in _checked(exponent))
    _check_shared("pow", exponent)
    return tuple(t**e for t, e in _paired(_checked(self), exponent))


def __getattr__(name: str) -> Callable[..., Any]:
    """Make the function of a method; AttributeError where tensors have none."""
    method = _SCALAR_BOUNDS.get(name.removeprefix(PREFIX), name.removeprefix(PREFIX))
    if not name.startswith(PREFIX) or not hasattr(Tensor, method):
        raise AttributeError(f"module 'gradspec.functions.foreach' has no attribute {name!r}")
    made = _for_each(name.removeprefix(PREFIX))
    made.__name__ = made.__qualname__ = name
    globals()[name] = made
    return made


_SCALAR_BOUNDS = {
    "maximum": "clamp_min",
    "minimum": "clamp_max",
    "maximum_": "clamp_min_",
    "minimum_": "clamp_max_",
}
"""Functions for the larger or smaller of a tensor and another one, or a number."""


def _for_each(name: str) -> Callable[..., Any]:
    """Make the function that calls a method of each tensor."""
    method = _SCALAR_BOUNDS.get(name, name)
    writes = name.endswith("_")

    def each(self: Any, *others: Any, **keywords: Any) -> Any:
        tensors = _checked(self)
        if name.rstrip("_") in ("addcmul", "addcdiv"):
            if "scalars" in keywords:
                others = (*others, keywords.pop("scalars"))
            if len(others) == 3:
                *others, scale = others  # type: ignore[assignment]
                keywords["value"] = scale.tolist() if isinstance(scale, Tensor) else scale
        if name == "copy_" and len(others) == 2:
            *others, keywords["non_blocking"] = others  # type: ignore[assignment]
        for other in others:
            _check_shared(name, other)
        columns = [_column(other, len(tensors)) for other in others]
        rows = {key: _column(value, len(tensors)) for key, value in keywords.items()}
        made = [
            getattr(tensor, method)(
                *(next(column) for column in columns),
                **{key: next(column) for key, column in rows.items()},
            )
            for tensor in tensors
        ]
        return self if writes else tuple(made)

    each.__doc__ = f"Call the method `{method}` of each tensor of a list."
    return each


def _checked(tensors: Any) -> Sequence[Tensor]:
    """Return a list of tensors; RuntimeError for an empty one, TypeError for what is no list."""
    if not isinstance(tensors, list | tuple) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError("the first argument of a foreach function must be a list of Tensors")
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return tensors


def _check_shared(name: str, other: Any) -> None:
    """Refuse a tensor beside all others that has dimensions: a TypeError where few ops take one."""
    if not isinstance(other, Tensor) or not other.ndim:
        return
    if name.rstrip("_") not in ("add", "mul", "div"):
        raise TypeError(f"{PREFIX}{name}(): argument must be a tuple of Tensors, not Tensor")
    raise RuntimeError(
        f"scalar tensor expected to be 0 dim but it has {other.ndim} dimensions and "
        f"{other.numel()} elements."
    )


def _paired(tensors: Sequence[Tensor], other: Any) -> Iterator[tuple[Tensor, Any]]:
    return zip(tensors, _column(other, len(tensors)), strict=False)


def _column(value: Any, count: int) -> Iterator[Any]:
    """Return what stands beside each tensor; RuntimeError for a list of another length."""
    if isinstance(value, list | tuple):
        if len(value) != count:
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(value)}"
            )
        return iter(value)
    return repeat(value)
