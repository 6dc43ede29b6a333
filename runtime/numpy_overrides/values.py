"""Functions of NumPy whose answers have no slope: NumPy computes them of the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor, wrap
from .arguments import array_of, values_of

COUNTED: Final = frozenset(
    [
        "argpartition",
        "diag_indices_from",
        "digitize",
        "ix_",
        "lexsort",
        "nanargmax",
        "nanargmin",
        "packbits",
        "ravel_multi_index",
        "searchsorted",
        "tril_indices_from",
        "triu_indices_from",
        "unpackbits",
        "unravel_index",
    ]
)
"""Functions that answer with places, counts or bits, as tensors."""

TOLD: Final = frozenset(
    [
        "array2string",
        "array_repr",
        "array_str",
        "can_cast",
        "common_type",
        "einsum_path",
        "iscomplexobj",
        "isrealobj",
        "may_share_memory",
        "min_scalar_type",
        "result_type",
        "shares_memory",
    ]
)
"""Functions that tell something of arrays, in Python's types."""

OF_CONSTANTS: Final = frozenset(
    [
        "histogram",
        "histogram2d",
        "histogram_bin_edges",
        "histogramdd",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
    ]
)
"""Functions of tensors that no gradient flows to: the answer would be cut off from them."""


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value, and what lists and tuples hold, changed."""
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if type(value) is tuple:
        return tuple(_each(item, change) for item in value)
    return change(value)


def _wrapped(value: Any) -> Any:
    return wrap(array_of(value)) if isinstance(value, np.ndarray | np.generic) else value


def _constant(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else value


def override_of(name: str) -> Callable[..., Any] | None:
    """Return the function of `numpy` on the values of tensors; None for one with a slope."""
    if name not in COUNTED | TOLD | OF_CONSTANTS:
        return None
    function = getattr(np, name)
    read = _constant if name in OF_CONSTANTS else values_of

    def answer(*args: Any, **named: Any) -> Any:
        given = _each(args, read)
        found = function(*given, **{key: _each(value, read) for key, value in named.items()})
        return found if name in TOLD else _each(found, _wrapped)

    return answer
