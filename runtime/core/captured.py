"""Arrays without values: those that `gs.compile` records, and the shapes of `vmap`'s tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .tensor import Tensor


def has_values(array: Any) -> bool:
    """Return whether an array, or a number, can be looked at: not while it is captured."""
    return not isinstance(array, np.ndarray) or type(array) is np.ndarray


def is_any(condition: Any) -> bool:
    """Return whether a condition holds for any element; False where there are no values yet."""
    return has_values(condition) and bool(np.any(condition))


def is_captured(array: Any) -> bool:
    """Return whether `gs.compile` records what is computed of an array."""
    return hasattr(array, "adopt")


def is_of_numbers(array: Any) -> bool:
    """Return whether an array holds NumPy's numbers, or stands for such: no symbols of a proof."""
    return type(array) is np.ndarray or is_captured(array)


def numbers_of(tensor: Tensor) -> Any:
    """Return the values of a tensor to compute with, which a capture records."""
    return tensor.array if is_captured(tensor.array) else tensor.numpy()


def as_number(array: Any) -> Any:
    """Return the only element as a number; a recorded one stays part of the record."""
    recorded = getattr(array, "as_number", None)
    return array.item() if recorded is None else recorded()
