"""`x.double()` and its kin: the methods of `Tensor` that are named after dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import dtypes

if TYPE_CHECKING:
    from .tensor import Tensor


class ConversionMethods:
    """Mixed into `Tensor`. Apart, because inside this class `float` and `int` mean the methods."""

    __slots__ = ()

    if TYPE_CHECKING:
        to: Any  # the op `to` of the table

    def half(self) -> Tensor:
        """In float16."""
        return self.to(dtypes.float16)

    def float(self) -> Tensor:
        """In float32."""
        return self.to(dtypes.float32)

    def double(self) -> Tensor:
        """In float64."""
        return self.to(dtypes.float64)

    def cfloat(self) -> Tensor:
        """In complex64."""
        return self.to(dtypes.complex64)

    def cdouble(self) -> Tensor:
        """In complex128."""
        return self.to(dtypes.complex128)

    def int(self) -> Tensor:
        """In int32."""
        return self.to(dtypes.int32)

    def long(self) -> Tensor:
        """In int64."""
        return self.to(dtypes.int64)

    def bool(self) -> Tensor:
        """In bool."""
        return self.to(dtypes.bool)
