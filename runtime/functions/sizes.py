"""Sums and products of shapes, which are shapes: `x.shape + (2,)`.

Slices stay plain tuples: a `__getitem__` in Python would slow down every `x.shape[0]`.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from ..core.tensor import Size

_sum, _product = tuple.__add__, tuple.__mul__


class SizeMethods:
    """Operators of `Size`."""

    __slots__ = ()

    def __add__(self: Any, other: tuple[int, ...]) -> Any:
        """The lengths of both; TypeError unless `other` is a tuple."""
        return Size(_sum(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self: Any, other: tuple[int, ...]) -> Any:
        """The lengths of both, those of a tuple on the left first."""
        return Size(_sum(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self: Any, times: SupportsIndex) -> Any:
        """The lengths again and again."""
        return Size(_product(self, times))

    __rmul__ = __mul__
