"""Modules of padding: a base for each kind and a class for each number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.tensor import Tensor
from . import functional as F
from .module import Module


class _Pad(Module):
    """Base of padding of the last `spatial` dimensions, by `mode` of `nn.functional.pad`."""

    spatial: int
    mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        given = (padding,) * (2 * self.spatial) if isinstance(padding, int) else tuple(padding)
        if len(given) != 2 * self.spatial:
            raise ValueError(
                f"{type(self).__name__} needs {2 * self.spatial} widths, two a dimension from the "
                f"last one on, but got {len(given)}"
            )
        self.padding = given

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded tensor."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Show the widths."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded tensor."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Show the widths and the number."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding of the last dimension with a number."""

    spatial = 1


class ConstantPad2d(_ConstantPad):
    """Padding of the last two dimensions with a number."""

    spatial = 2


class ConstantPad3d(_ConstantPad):
    """Padding of the last three dimensions with a number."""

    spatial = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Show the widths."""
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Padding of the last dimension with zeros."""

    spatial = 1


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Padding of the last two dimensions with zeros."""

    spatial = 2


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Padding of the last three dimensions with zeros."""

    spatial = 3


class _ReflectionPad(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """Padding of the last dimension by reflection at the edges."""

    spatial = 1


class ReflectionPad2d(_ReflectionPad):
    """Padding of the last two dimensions by reflection at the edges."""

    spatial = 2


class ReflectionPad3d(_ReflectionPad):
    """Padding of the last three dimensions by reflection at the edges."""

    spatial = 3


class _ReplicationPad(_Pad):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPad):
    """Padding of the last dimension with its outermost elements."""

    spatial = 1


class ReplicationPad2d(_ReplicationPad):
    """Padding of the last two dimensions with their outermost elements."""

    spatial = 2


class ReplicationPad3d(_ReplicationPad):
    """Padding of the last three dimensions with their outermost elements."""

    spatial = 3


class _CircularPad(_Pad):
    mode = "circular"


class CircularPad1d(_CircularPad):
    """Padding of the last dimension from the opposite side."""

    spatial = 1


class CircularPad2d(_CircularPad):
    """Padding of the last two dimensions from the opposite side."""

    spatial = 2


class CircularPad3d(_CircularPad):
    """Padding of the last three dimensions from the opposite side."""

    spatial = 3
