"""Arrays without values: those that `gs.compile` records, and the shapes of `vmap`'s tensors."""

from __future__ import annotations

from typing import Any

import numpy as np


def has_values(array: Any) -> bool:
    """Return whether an array, or a number, can be looked at: not while it is captured."""
    return not isinstance(array, np.ndarray) or type(array) is np.ndarray


def is_any(condition: Any) -> bool:
    """Return whether a condition holds for any element; False where there are no values yet."""
    return has_values(condition) and bool(np.any(condition))
