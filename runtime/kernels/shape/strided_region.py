"""The region of its base that a view covers: which elements, in which order."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..elementwise.complex_numbers import view_as_complex, view_as_real

Array: TypeAlias = np.ndarray[Any, Any]


class Region:
    """The elements of a base that a view shows, as positions in the flattened base.

    Where one of the two is complex and the other is not, complex numbers count as their two parts.
    The positions are computed when a gradient first needs them.
    """

    def __init__(self, base: Array, view: Array) -> None:
        self.splits_base = base.dtype.kind == "c" and view.dtype.kind == "f"
        self.splits_view = view.dtype.kind == "c" and base.dtype.kind == "f"
        base, view = self._parts_of_base(base), self._parts_of_view(view)
        if base.dtype.itemsize != view.dtype.itemsize:
            raise RuntimeError(
                f"a view of dtype {view.dtype} of a tensor of dtype {base.dtype} cannot be "
                "modified by a recorded in-place operation: use the out-of-place op"
            )
        item = max(base.dtype.itemsize, 1)
        self.base_shape = base.shape
        self.view_shape = view.shape
        self._base_strides = tuple(stride // item for stride in base.strides)
        self._view_strides = tuple(stride // item for stride in view.strides)
        self._offset = (_address(view) - _address(base)) // item

    @cached_property
    def positions(self) -> Array:
        """For each element of the view its place in the base, counted in row-major order."""
        first, last = _span(self.base_shape, self._base_strides)
        memory = np.zeros(first + last + 1, np.int64)
        count = np.arange(np.prod(self.base_shape, dtype=np.int64))
        _laid(memory, first, self.base_shape, self._base_strides)[...] = count.reshape(
            self.base_shape
        )
        start = first + self._offset
        return _laid(memory, start, self.view_shape, self._view_strides).copy()

    def take(self, array: Array) -> Array:
        """The elements of the region, in the shape of the view; a copy."""
        found = np.asanyarray(self._parts_of_base(array).reshape(-1)[self.positions])
        return view_as_complex(found) if self.splits_view else found

    def put(self, array: Array, values: Any) -> Array:
        """A copy of `array` with other values in the region."""
        flat = self._parts_of_base(array).reshape(-1).copy()
        flat[self.positions] = self._parts_of_view(values)
        return self._as_base(flat)

    def scatter(self, values: Array) -> Array:
        """Zeros of the base's shape with `values` added in the region."""
        values = self._parts_of_view(values)
        flat = np.zeros_like(values, order="C", shape=int(np.prod(self.base_shape)))
        np.add.at(flat, self.positions.reshape(-1), values.reshape(-1))
        return self._as_base(flat)

    def _parts_of_base(self, base: Array) -> Array:
        return view_as_real(base) if self.splits_base else base

    def _parts_of_view(self, view: Any) -> Any:
        return view_as_real(view) if self.splits_view and isinstance(view, np.ndarray) else view

    def _as_base(self, flat: Array) -> Array:
        whole = flat.reshape(self.base_shape)
        return view_as_complex(whole) if self.splits_base else whole


class Memory:
    """Zeros that can be seen as an array, and views of it, see theirs: at the same strides."""

    def __init__(self, array: Array) -> None:
        self._first, last = _span(array.shape, array.strides)
        self._start = _address(array)
        self._bytes = np.zeros(self._first + last + array.dtype.itemsize, np.uint8)

    def show(self, view: Array) -> Array:
        """Return the elements at the strides and offset of `view`."""
        if view.size == 0:
            return np.zeros(view.shape, view.dtype)
        offset = self._first + _address(view) - self._start
        return np.ndarray(view.shape, view.dtype, self._bytes, offset, view.strides)


def same_layout(array: Array, other: Array) -> bool:
    """Return whether the strides are the same in dimensions longer than one."""
    return array.shape == other.shape and all(
        stride == step or length == 1
        for stride, step, length in zip(array.strides, other.strides, array.shape, strict=True)
    )


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Return the extent of the elements before and after the first one."""
    reach = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _laid(memory: Array, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """The elements of `memory` from `start` on, seen through strides counted in elements."""
    if 0 in shape:
        return np.zeros(shape, memory.dtype)
    return as_strided(memory[start:], shape, [stride * memory.itemsize for stride in strides])
