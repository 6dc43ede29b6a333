"""PyTorch's type promotion on NumPy dtypes.

NumPy and PyTorch disagree: for NumPy `int64 + float32` is float64, for PyTorch the category wins
and it is float32. Operands have three priorities: arrays with dimensions, then 0-dim arrays, then
Python numbers. One of lower priority decides only if its category (bool < int < float < complex)
is higher.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from .kinds import COMPLEX_KINDS, is_symbolic

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]
Number: TypeAlias = bool | int | float | complex

_CATEGORIES: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3, "O": 4}
"""The category of each `dtype.kind`; objects are the symbols of a proof and win over everything."""

_NAMES: Final = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


class _Default:
    """The dtype of Python floats, and the complex one that goes with it."""

    __slots__ = ("complex", "float")

    def __init__(self) -> None:
        self.float: DType = np.dtype(np.float32)
        self.complex: DType = np.dtype(np.complex64)


_default: Final = _Default()


def get_default_dtype() -> DType:
    """The dtype that Python floats become: float32 unless it was changed."""
    return _default.float


def set_default_dtype(dtype: Any) -> None:
    """Change the dtype that Python floats become; TypeError unless it is a real floating one."""
    chosen = np.dtype(dtype)
    if chosen.kind != "f" or chosen.itemsize > 8:
        raise TypeError(
            "only floating-point types are supported as the default type, "
            f"got gradspec.{chosen.name}"
        )
    _default.float = chosen
    _default.complex = _complex_of(chosen)


def default_complex_dtype() -> DType:
    """The dtype that Python complex numbers become."""
    return _default.complex


def type_name(dtype: DType) -> str:
    """PyTorch's word for a dtype, as its messages use it: `Float`, `Long`."""
    return _NAMES.get(dtype.name, dtype.name)


_PYTHON_NUMBERS: Final = frozenset((int, bool, complex, float, type(None)))


def plain_number(value: Any) -> Any:
    """Python's number for one of NumPy, or for a tensor without dimensions.

    Anything else as it is; TypeError for other tensors.
    """
    if type(value) in _PYTHON_NUMBERS:
        return value
    if hasattr(value, "grad_fn"):
        refused = differentiated(value)
        if value.ndim or refused:
            raise TypeError(
                f"this argument must be Number, not Tensor{refused}: give item(), or an op that "
                "takes a tensor there"
            )
        return value.item()
    return without_numpy(value)


def differentiated(tensor: Any) -> str:
    """Say in words which derivative is lost if a tensor counts as a number; empty if none."""
    if tensor.requires_grad:
        return " that requires grad"
    return " with a tangent" if hasattr(tensor, "primal") else ""


def without_numpy(value: Any) -> Any:
    """Python's number for one of NumPy; anything else as it is."""
    if isinstance(value, np.longdouble):  # whose `item` is itself
        return float(value)
    if isinstance(value, np.clongdouble):
        return complex(value)
    return value.item() if isinstance(value, np.generic) else value


@cache
def promote_types(first: DType, second: DType) -> DType:
    """The smallest dtype that holds both, by PyTorch's table.

    Raises TypeError for dtypes that are not numeric.
    """
    for dtype in (first, second):
        if dtype.kind not in _CATEGORIES:
            raise TypeError(f"{dtype} is not a dtype that tensors can have")
    integral = "bui"
    if first.kind in integral and second.kind not in integral:
        return second
    if second.kind in integral and first.kind not in integral:
        return first
    return np.promote_types(first, second)


def result_dtype(*values: Array | Number | np.generic) -> DType:
    """The dtype in which an op computes on these operands.

    Arrays are ranked as dimensioned or 0-dim, Python and NumPy numbers come last; a float among
    integers becomes the default dtype. TypeError for anything else.
    """
    dimensioned: DType | None = None
    zero_dim: DType | None = None
    number: DType | None = None
    for value in values:
        if not isinstance(value, np.ndarray):
            number = _promote_optional(number, _dtype_of_number(value))
        elif value.ndim:
            dimensioned = _promote_optional(dimensioned, value.dtype)
        else:
            zero_dim = _promote_optional(zero_dim, value.dtype)
    found = _let_category_win(dimensioned, _let_category_win(zero_dim, number))
    if found is None:
        raise TypeError("there is no dtype without operands")
    return found


def _dtype_of_number(value: object) -> DType:
    if isinstance(value, bool | np.bool_):
        return np.dtype(np.bool_)
    if isinstance(value, int | np.integer):
        return np.dtype(np.int64)
    if isinstance(value, float | np.floating):
        return _default.float
    if isinstance(value, complex | np.complexfloating):
        return _default.complex
    raise TypeError(f"expected a number or an array, not {type(value).__name__}")


def _promote_optional(first: DType | None, second: DType) -> DType:
    if first is None or first is second:
        return second
    return promote_types(first, second)


def _let_category_win(higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of the higher priority, unless the lower one is of a higher category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if _CATEGORIES.get(lower.kind, 0) <= _CATEGORIES.get(higher.kind, 0):
        return higher
    if higher.kind == "f" and lower.kind == "c":
        return _complex_of(higher)  # the higher priority still decides the width
    return promote_types(higher, lower)


def _complex_of(dtype: DType) -> DType:
    """The complex dtype of the width of a real one; NumPy has none for float16."""
    return promote_types(dtype, np.dtype(np.complex64))


LAST_INTEGER: Final = np.dtype(np.ulonglong).num
"""Dtypes up to this number are bools and integers, those above it are inexact (or symbols)."""


FIRST_COMPLEX: Final = np.dtype(np.complex64).num
LAST_COMPLEX: Final = np.dtype(np.clongdouble).num
"""Dtypes with numbers from the one to the other are complex."""


def is_complex(value: Any) -> bool:
    """Return whether an array or a tensor may hold complex numbers; the symbols of a proof may."""
    return value.dtype.kind in COMPLEX_KINDS


def any_complex(arrays: Iterable[Array | None]) -> bool:
    """Return whether one of a list of arrays holds complex numbers."""
    return any(array is not None and array.dtype.kind == "c" for array in arrays)


def promote(*arrays: Array | None) -> tuple[Any, ...]:
    """Cast arrays to the dtype of their result; one that has it already is returned itself.

    An absent argument takes no part and stays absent.
    """
    if _are_alike(arrays):
        return arrays
    return _cast(arrays, result_dtype(*_operands(arrays)))


def promote_to_float(*arrays: Array | None) -> tuple[Any, ...]:
    """`promote`, with integers and bools computed in the default dtype."""
    dtype = result_dtype(*_operands(arrays))
    return _cast(arrays, dtype if dtype.num > LAST_INTEGER else _default.float)


def _are_alike(arrays: tuple[Array | None, ...]) -> bool:
    """Return whether all that is there has one dtype."""
    known: DType | None = None
    for array in arrays:
        if array is None or array.dtype is known:
            continue
        if known is not None:
            return False
        known = array.dtype
    return known is not None


def _operands(arrays: Iterable[Array | None]) -> list[Array]:
    """The arrays that are there; what NumPy made a scalar of is a 0-dim array, not a number."""
    present = [array for array in arrays if array is not None]
    return [np.asarray(array) if isinstance(array, np.generic) else array for array in present]


def _cast(arrays: tuple[Array | None, ...], dtype: DType) -> tuple[Any, ...]:
    cast = tuple(
        array if array is None or array.dtype == dtype else array.astype(dtype, copy=False)
        for array in arrays
    )
    return _among_symbols(cast) if is_symbolic(dtype) else cast


def _among_symbols(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers that are computed with beside the symbols of a proof, in arrays of their class."""
    classes = {type(array) for array in arrays if array is not None} - {np.ndarray}
    if len(classes) != 1:
        return arrays
    return tuple(array.view(*classes) if type(array) is np.ndarray else array for array in arrays)


def to_float(array: Array) -> Array:
    """Integers and bools as the default dtype; everything else as it is."""
    return array.astype(_default.float) if array.dtype.num <= LAST_INTEGER else array


def can_cast(source: DType, target: DType) -> bool:
    """Return whether an in-place op may store `source` in `target`: never to a lower category.

    Widths do not matter (float64 goes into float32), and signs do not either.
    """
    if is_symbolic(target) or is_symbolic(source):
        return is_symbolic(target)
    return _CATEGORIES[source.kind] <= _CATEGORIES[target.kind]


def check_inplace_dtype(result: DType, target: DType) -> None:
    """RuntimeError if an in-place op computes in a dtype that its tensor cannot hold."""
    if not can_cast(result, target):
        raise RuntimeError(
            f"result type {type_name(result)} can't be cast to the desired output type "
            f"{type_name(target)}"
        )
