"""`z.real` and `z.imag`, which are attributes in PyTorch and not methods."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import table_op


class ComplexParts:
    """Attributes of `Tensor` that are views of the parts of complex numbers."""

    __slots__ = ()

    @property
    def real(self: Any) -> Tensor:
        """A view of the real parts; a real tensor itself."""
        return table_op("real")(self)

    @property
    def imag(self: Any) -> Tensor:
        """A view of the imaginary parts; RuntimeError for a real tensor, which has none."""
        return table_op("imag")(self)
