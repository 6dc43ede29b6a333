"""`z.real` and `z.imag`, which are attributes in PyTorch and not methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..core.tensor import Tensor


class ComplexParts:
    """Mixed into `Tensor`."""

    __slots__ = ()

    @property
    def real(self) -> Tensor:
        """A view of the real parts; a real tensor itself."""
        from ..generated.complex_numbers import real

        return real(cast("Tensor", self))

    @property
    def imag(self) -> Tensor:
        """A view of the imaginary parts; RuntimeError for a real tensor, which has none."""
        from ..generated.complex_numbers import imag

        return imag(cast("Tensor", self))
