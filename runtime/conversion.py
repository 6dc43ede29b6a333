"""`x.double()` and its kin: the methods of `Tensor` that are named after dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import dtypes

if TYPE_CHECKING:
    from .tensor import Tensor


class ConversionMethods:
    """Mixed into `Tensor`. Apart, because inside this class `float` and `int` mean the methods."""

    __slots__ = ()

    def half(self) -> Tensor:
        """In float16."""
        return _in_dtype(self, dtypes.float16)

    def float(self) -> Tensor:
        """In float32."""
        return _in_dtype(self, dtypes.float32)

    def double(self) -> Tensor:
        """In float64."""
        return _in_dtype(self, dtypes.float64)

    def cfloat(self) -> Tensor:
        """In complex64."""
        return _in_dtype(self, dtypes.complex64)

    def cdouble(self) -> Tensor:
        """In complex128."""
        return _in_dtype(self, dtypes.complex128)

    def int(self) -> Tensor:
        """In int32."""
        return _in_dtype(self, dtypes.int32)

    def long(self) -> Tensor:
        """In int64."""
        return _in_dtype(self, dtypes.int64)

    def bool(self) -> Tensor:
        """In bool."""
        return _in_dtype(self, dtypes.bool)


def _in_dtype(tensor: Any, dtype: Any) -> Any:
    return tensor.to(dtype)  # the op of the table
