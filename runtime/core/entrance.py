"""Admission of arrays as the memory of a tensor: one rule for all functions that take them.

Kernels count on plain arrays: `*` of a `np.matrix` is a product of matrices, a masked array hides
elements, and NumPy takes another path for bytes in foreign order.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]

_DTYPES: Final = frozenset(
    np.dtype(name)
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)
"""The dtypes that PyTorch has, too, in the byte order of the machine."""


def is_supported(dtype: Any) -> bool:
    """Return whether tensors can have a dtype, given in any way that NumPy knows."""
    return np.dtype(dtype) in _DTYPES


def check_dtype(dtype: DType) -> DType:
    """The dtype itself; TypeError for one that tensors cannot have."""
    if dtype not in _DTYPES:
        kind = dtype.type.__name__ + ("" if dtype.isnative else " in foreign byte order")
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{kind}: the supported types are float16 to "
            "float64, complex64, complex128, integers of 8 to 64 bits and bool"
        )
    return dtype


def admitted(array: Array) -> Array:
    """A user's array as tensors hold one: of `np.ndarray` itself, on the same memory.

    TypeError for a dtype that tensors cannot have; ValueError for bytes in another order than the
    machine's and for elements that lie apart by parts of an element: a copy mends both.
    """
    check_dtype(array.dtype.newbyteorder("="))
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order: convert it "
            'with array.astype(array.dtype.newbyteorder("="))'
        )
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size: pass array.copy()"
        )
    return np.asarray(array)


def operand(array: Array) -> Array:
    """A user's array where only its values count: what is not admitted is copied."""
    if not array.dtype.isnative or any(stride % array.itemsize for stride in array.strides):
        return native_copy(array, None)
    return admitted(array)


def native_copy(array: Any, dtype: DType | None) -> Array:
    """A plain copy of a user's array or scalar; TypeError for a dtype that tensors cannot have."""
    native = check_dtype(array.dtype.newbyteorder("="))
    return np.array(array, dtype or native)
