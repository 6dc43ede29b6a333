"""A kernel that PyTorch cannot look into: it goes through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_cap(x: Any, cap: Any) -> Any:
    """Compute cap * tanh(x / cap) of a tensor."""
    values = cap * np.tanh(x.numpy(force=True) / cap)
    return x.new_tensor(values)
