"""Transforms for functions of NumPy arrays: called with arrays, they return arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..functions.creation import from_numpy
from .trees import leaves_of, map_leaves


def takes_arrays(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of tensors take NumPy arrays, and return arrays then.

    Arrays become tensors on the same memory where no argument is a tensor; what is returned,
    and what functions that are returned return, become arrays, or NumPy's numbers.
    """

    @wraps(call)
    def with_arrays(*args: Any, **kwargs: Any) -> Any:
        if not _are_arrays(args, kwargs):
            return call(*args, **kwargs)
        args, kwargs = map_leaves(_as_tensor, (args, kwargs))
        return map_leaves(_as_array, call(*args, **kwargs))

    return with_arrays


def _are_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if any(isinstance(arg, Tensor) for arg in args):
        return False
    leaves = leaves_of((args, kwargs))
    is_array = any(isinstance(leaf, np.ndarray | np.generic) for leaf in leaves)
    return is_array and not any(isinstance(leaf, Tensor) for leaf in leaves)


def _as_tensor(leaf: Any) -> Any:
    if not isinstance(leaf, np.ndarray | np.generic):
        return leaf
    array = np.asarray(leaf)
    return from_numpy(array if array.flags.writeable else array.copy())


def _as_array(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return leaf.detach().numpy()[()]
    return takes_arrays(leaf) if callable(leaf) else leaf
