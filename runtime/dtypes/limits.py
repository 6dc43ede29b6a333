"""What a floating-point dtype can hold, as Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .promotion import get_default_dtype


class finfo:
    """Limits of a floating-point dtype; of a complex one, those of its parts.

    They are numbers of Python, as PyTorch's are, which leave the dtype of what they are computed
    with as it is, and overflow in no narrow dtype. TypeError for other dtypes.
    """

    bits: int
    dtype: np.dtype[Any]
    eps: float
    max: float
    min: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __init__(self, type: Any = None) -> None:
        dtype = np.dtype(get_default_dtype() if type is None else type)
        if dtype.kind not in "fc":
            raise TypeError(
                "gs.finfo() requires a floating point input type. Use gs.iinfo to handle "
                f"'{dtype.name}'"
            )
        info = np.finfo(dtype)
        self.bits, self.dtype = info.bits, info.dtype
        self.resolution = 10.0**-info.precision
        for name in ("eps", "max", "min", "smallest_normal", "tiny"):
            setattr(self, name, getattr(info, name).item())

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype.name})"
        )
