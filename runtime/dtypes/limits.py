"""Limits of a dtype, as Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .promotion import get_default_dtype


class _Limits:
    """Limits of a dtype, equal to others of their kind for the same dtype."""

    bits: int
    dtype: np.dtype[Any]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self.bits, self.dtype) == (other.bits, other.dtype)

    def __hash__(self) -> int:
        return hash((type(self), self.bits, self.dtype))


class iinfo(_Limits):
    """Limits of a dtype of integers, as numbers of Python; TypeError for other dtypes."""

    max: int
    min: int

    def __init__(self, type: Any) -> None:
        dtype = np.dtype(type)
        if dtype.kind not in "iu":
            raise TypeError(
                f"gs.iinfo() requires an integer input type. Use gs.finfo to handle '{dtype.name}'"
            )
        info = np.iinfo(dtype)
        self.bits, self.dtype, self.max, self.min = info.bits, dtype, int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype.name})"


class finfo(_Limits):
    """Limits of a floating-point dtype; of a complex one, those of its parts.

    They are numbers of Python, as PyTorch's are, which leave the dtype of what they are computed
    with as it is, and overflow in no narrow dtype. TypeError for other dtypes.
    """

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
