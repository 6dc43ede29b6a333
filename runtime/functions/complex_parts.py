"""`z.real` and `z.imag`, which are attributes in PyTorch and not methods."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops


class ComplexParts:
    """Attributes of `Tensor` that are views of the parts of complex numbers."""

    __slots__ = ()

    @property
    def real(self: Any) -> Tensor:
        """A view of the real parts; a real tensor itself."""
        return ops.real(self)

    @real.setter
    def real(self: Any, value: Any) -> None:
        ops.real(self).copy_(_real_part(value))

    @property
    def imag(self: Any) -> Tensor:
        """A view of the imaginary parts; RuntimeError for a real tensor, which has none."""
        return ops.imag(self)

    @imag.setter
    def imag(self: Any, value: Any) -> None:
        ops.imag(self).copy_(_real_part(value))


def _real_part(value: Any) -> Any:
    """Return what is written to a part; of complex numbers their real part, as PyTorch does."""
    return ops.real(value) if isinstance(value, Tensor) and value.dtype.kind == "c" else value
