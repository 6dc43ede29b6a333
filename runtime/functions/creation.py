"""Tensors from data, and tensors filled with something."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..batching.batched import Batched, batch, of_each_example
from ..core.apply_modes import apply_modes_to_leaf
from ..core.entrance import admitted, check_dtype, native_copy
from ..core.modes import mode
from ..core.numel import check_bytes
from ..core.strides import in_order_of
from ..core.tensor import Tensor, wrap
from ..core.torch_function import type_name
from ..core.user_warnings import warn, warn_of_lost_gradient, warn_once
from ..dtypes.number_conversion import converted, converted_array
from ..dtypes.promotion import (
    default_complex_dtype,
    differentiated,
    get_default_dtype,
    plain_number,
    promote_types,
)
from ..dtypes.whole_numbers import whole_number
from .creation_options import PLACE, creates

Array: TypeAlias = np.ndarray[Any, Any]
DType: TypeAlias = np.dtype[Any]
Number: TypeAlias = bool | int | float | complex

_BYTE: Final = np.dtype(np.uint8)


@creates("device", "pin_memory")
def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: a number, an array, a tensor, or nested sequences of them.

    Python floats become the default dtype, ints int64, bools bool; arrays keep their dtype.
    Raises ValueError for sequences of different lengths, TypeError for those of different depths
    and for what is not made of numbers.
    """
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use source.detach().clone(), or "
            "source.detach().clone().requires_grad_(True), rather than tensor(source)."
        )
    made = _copy_of(data, dtype)
    if requires_grad:
        made.requires_grad = True
    return made


def _copy_of(data: Any, dtype: Any) -> Tensor:
    """A tensor with a copy of `data`, inside `vmap` of that of all examples."""
    if type(data) is Batched:
        return batch(_copy_of(data.physical, dtype), data.level)
    return leaf(_array_of(data, dtype), False)


@creates("device")
def array(data: Any, dtype: Any = None) -> Tensor:
    """A tensor with a copy of `data`, as `numpy.array` makes it: of a tensor, too."""
    return _copy_of(data.detach() if isinstance(data, Tensor) else data, dtype)


@creates("device")
def as_tensor(data: Any, *, dtype: Any = None) -> Tensor:
    """`data` as a tensor: itself if it is one, on the same memory if it is an array.

    A tensor of another dtype is cast, and gradients flow back through that.
    """
    if isinstance(data, Tensor):
        cast: Tensor = data if dtype is None else data.to(np.dtype(dtype))
        return cast
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = np.from_dlpack(data)
    if isinstance(data, np.ndarray) and data.dtype.isnative:
        chosen = data.dtype if dtype is None else np.dtype(dtype)
        if chosen == data.dtype:
            return from_numpy(data)
    return leaf(_array_of(data, dtype), False)


def from_numpy(array: Array) -> Tensor:
    """A tensor on the memory of a NumPy array; TypeError for anything else.

    Of a subclass, such as a matrix or a masked array, the plain array counts. ValueError for bytes
    in another order than the machine's.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    plain = admitted(array)
    if not array.flags.writeable:
        warn_once(
            "The given NumPy array is not writable: in-place ops on the tensor fail, or write to "
            "it where it is shared. Give a copy: from_numpy(array.copy())."
        )
    return wrap(plain)


@creates(*PLACE, "out")
def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Zeros, of the default dtype: `zeros(2, 3)` or `zeros((2, 3))`."""
    chosen = float_dtype(dtype)
    return leaf(np.zeros(size_of("zeros", size, named, chosen), chosen), requires_grad)


@creates(*PLACE, "out")
def ones(*size: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Ones, of the default dtype: `ones(2, 3)` or `ones((2, 3))`."""
    chosen = float_dtype(dtype)
    return leaf(np.ones(size_of("ones", size, named, chosen), chosen), requires_grad)


@creates(*PLACE, "out", "memory_format")
def empty(*size: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """A tensor whose elements are not set."""
    chosen = float_dtype(dtype)
    return leaf(np.empty(size_of("empty", size, named, chosen), chosen), requires_grad)


@creates(*PLACE)
def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor whose elements are not set, with these distances between its neighbours.

    Distances count elements. RuntimeError for lists of other lengths, and for a negative number.
    """
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    if any(number < 0 for number in (*size, *stride)):
        raise RuntimeError(
            f"empty_strided: size {list(size)} and stride {list(stride)} must not be negative"
        )
    wanted = float_dtype(dtype)
    reach = sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    count = 1 + reach if all(size) else 0
    if count * wanted.itemsize >= 1 << 63:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    memory = np.empty(count, wanted)
    steps = [step * wanted.itemsize for step in stride]
    return leaf(np.lib.stride_tricks.as_strided(memory, tuple(size), steps), requires_grad)


@creates(*PLACE)
def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor whose elements are not set, with its dimensions in an order in memory.

    `physical_layout` names them from the outermost to the innermost; RuntimeError unless each is
    there once.
    """
    layout = list(physical_layout)
    if len(size) != len(layout):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(layout)}"
        )
    for place, dim in enumerate(layout):
        if not 0 <= dim < len(layout):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(layout) - 1}, but got "
                f"{dim} at index {place}): dimensions are counted from the front"
            )
    if len(set(layout)) < len(layout):
        raise RuntimeError("Duplicate dim not allowed")
    lengths = size_of("empty_permuted", (size,), {})
    memory = np.empty([lengths[dim] for dim in layout], float_dtype(dtype))
    return leaf(memory.transpose([layout.index(dim) for dim in range(len(layout))]), requires_grad)


@creates(*PLACE, "out")
@np.errstate(all="ignore")
def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`fill_value` everywhere; its kind decides the dtype."""
    if not isinstance(size, list | tuple):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    value = _fill_value("full", fill_value)
    chosen = _dtype_of(value) if dtype is None else np.dtype(dtype)
    value = converted(value, chosen)
    return leaf(np.full(size_of("full", (size,), {}, chosen), value, chosen), requires_grad)


@creates(*PLACE, "memory_format")
@of_each_example
def zeros_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the shape and dtype of `input`."""
    like = array_like("zeros_like", input)
    return leaf(in_order_of(like, np.zeros_like(like, dtype=dtype)), requires_grad)


@creates(*PLACE, "memory_format")
@of_each_example
def ones_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of the shape and dtype of `input`."""
    like = array_like("ones_like", input)
    return leaf(in_order_of(like, np.ones_like(like, dtype=dtype)), requires_grad)


@creates(*PLACE, "memory_format")
@of_each_example
def empty_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Elements that are not set, of the shape and dtype of `input`."""
    like = array_like("empty_like", input)
    return leaf(in_order_of(like, np.empty_like(like, dtype=dtype)), requires_grad)


@creates(*PLACE, "memory_format")
@of_each_example
@np.errstate(all="ignore")
def full_like(
    input: Tensor, fill_value: Number | Tensor, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """`fill_value` everywhere, of the shape and dtype of `input`."""
    value = _fill_value("full_like", fill_value)
    like = array_like("full_like", input)
    value = converted(value, like.dtype if dtype is None else np.dtype(dtype))
    return leaf(in_order_of(like, np.full_like(like, value, dtype=dtype)), requires_grad)


@creates(*PLACE, "out")
def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The identity matrix, `n` by `m`."""
    n = whole_number("eye", "n", n)
    m = None if m is None else whole_number("eye", "m", m)
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"n and m must be greater or equal to 0, got {n} and {m}")
    return leaf(np.eye(n, m, dtype=float_dtype(dtype)), requires_grad)


# ---- what creating functions share, those of random numbers included


def leaf(array: Array, requires_grad: bool) -> Tensor:
    """A new leaf on `array`; TypeError for a dtype that tensors cannot have.

    RuntimeError if the dtype cannot require a gradient.
    """
    if type(array) is np.ndarray:  # the symbols of a proof are not
        check_dtype(array.dtype)
    made = wrap(array)
    if mode.flags:
        apply_modes_to_leaf(made)
    if requires_grad:
        made.requires_grad = True
    return made


def float_dtype(dtype: Any) -> DType:
    """The given dtype, or the default one."""
    return get_default_dtype() if dtype is None else np.dtype(dtype)


def size_of(
    name: str, size: tuple[Any, ...], named: dict[str, Any], dtype: DType = _BYTE
) -> tuple[int, ...]:
    """The size that was spread, given as one sequence, or by name.

    Raises TypeError for lengths that are not integers, RuntimeError for negative ones and for more
    bytes than 63 bits count.
    """
    if named:
        unknown = sorted(named.keys() - {"size"})
        if unknown or size:
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{(unknown or ['size'])[0]}'"
            )
        size = (named["size"],)
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = tuple(size[0])
    try:
        lengths = tuple(operator.index(length) for length in size)
        if size and isinstance(size[0], bool):
            raise TypeError
    except TypeError:
        kinds = ", ".join(type(length).__name__ for length in size)
        raise TypeError(
            f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kinds}"
        ) from None
    if any(length < 0 for length in lengths):
        raise RuntimeError(f"{name}: Dimension size must be non-negative, got {list(lengths)}.")
    check_bytes(lengths, dtype.itemsize)
    return lengths


def array_like(name: str, input: Tensor) -> Array:
    """The array of the tensor that is imitated; TypeError for anything else."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return input.array


def _fill_value(name: str, value: object) -> Any:
    if isinstance(value, Tensor) and not (value.ndim or differentiated(value)):
        return value.item()
    if not isinstance(value, bool | int | float | complex | np.number | np.bool_):
        raise TypeError(
            f"{name}(): argument 'fill_value' (position 2) must be Number, "
            f"not {type_name(value)}{differentiated(value) if isinstance(value, Tensor) else ''}"
        )
    return plain_number(value)


# ---- arrays from data


def _array_of(data: Any, dtype: Any) -> Array:
    """A new array with the values of `data`."""
    chosen = None if dtype is None else np.dtype(dtype)
    if isinstance(data, Tensor):
        return np.array(data.array, chosen)
    if isinstance(data, np.ndarray | np.generic):
        return native_copy(data, chosen)
    if hasattr(data, "__dlpack__"):
        return native_copy(np.from_dlpack(data), chosen)
    try:
        nested, found, shape = _examine(data, 0)
    except RecursionError:
        raise TypeError("self-referential lists are incompatible with tensors") from None
    try:
        if chosen is not None and chosen.kind in "iu" and found is not None and found.kind in "iuf":
            array = converted_array(np.array(nested, found), chosen)
        else:
            array = np.array(nested, chosen or found or get_default_dtype())
    except OverflowError as error:
        raise ValueError(f"Overflow when unpacking long long: {error}") from None
    return array.reshape(shape)


def _examine(data: Any, depth: int) -> tuple[Any, DType | None, tuple[int, ...]]:
    """`data` without tensors, its dtype (None where there is no element), and its shape."""
    if isinstance(data, Tensor):
        if depth and data.array.size != 1:
            kind = TypeError if data.array.dtype.kind in "biu" else ValueError
            raise kind("only one element tensors can be converted to Python scalars")
        if depth and data.grad_node is not None:
            warn_of_lost_gradient()
        return data.array.item(), data.array.dtype, ()
    if isinstance(data, np.ndarray):
        return data, check_dtype(data.dtype), data.shape
    if not _is_sequence(data):
        return data, _dtype_of(data), ()
    if not isinstance(data, Sequence):
        data = _items(data)
    if set(map(type, data)) == {float}:  # so common, and so long, that it has a short cut
        return data, get_default_dtype(), (len(data),)
    if data and isinstance(data[0], str):
        raise ValueError("too many dimensions 'str': a tensor is made of numbers")
    parts = [_examine(item, depth + 1) for item in data]
    dtype: DType | None = None
    for _, found, shape in parts:
        if shape != parts[0][2]:
            raise _ragged(parts[0][2], shape, depth + 1)
        if found is not None:
            dtype = found if dtype is None else promote_types(dtype, found)
    return [part[0] for part in parts], dtype, (len(data), *(parts[0][2] if parts else ()))


def _is_sequence(data: Any) -> bool:
    """Return whether elements are counted from 0, also by a class that does not say so."""
    if isinstance(data, str | bytes | Mapping | np.generic):
        return False
    return isinstance(data, Sequence) or (
        hasattr(type(data), "__len__") and hasattr(type(data), "__getitem__")
    )


def _items(data: Any) -> list[Any]:
    try:
        return [data[position] for position in range(len(data))]
    except Exception as error:
        kind = type(data).__name__
        raise ValueError(f"could not determine the shape of object type '{kind}'") from error


def _ragged(expected: tuple[int, ...], found: tuple[int, ...], depth: int) -> Exception:
    for dim, (first, other) in enumerate(zip(expected, found, strict=False), depth):
        if first != other:
            return ValueError(f"expected sequence of length {first} at dim {dim} (got {other})")
    return TypeError(
        f"expected {'a sequence' if len(expected) > len(found) else 'a number'} at dim "
        f"{depth + min(len(expected), len(found))}: the nested sequences have different depths"
    )


def _dtype_of(value: object) -> DType:
    """The dtype that a number becomes."""
    if isinstance(value, np.generic):
        return check_dtype(value.dtype)
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return np.dtype(np.int64)
    if isinstance(value, float):
        return get_default_dtype()
    if isinstance(value, complex):
        return default_complex_dtype()
    kind = type(value).__name__
    if isinstance(value, str | bytes):
        raise TypeError(f"invalid data type '{kind}': a tensor is made of numbers")
    raise RuntimeError(f"Could not infer dtype of {kind}: a tensor is made of numbers")
