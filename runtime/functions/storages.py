"""The memory that tensors lie on: as bytes, and as elements of a dtype."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ..core.devices import CPU
from ..core.tensor import Tensor, wrap
from ..dtypes.promotion import get_default_dtype
from ..inplace.resize import owner_of


class UntypedStorage:
    """The memory of a tensor, with all tensors that share it: bytes, without a dtype.

    Of a number it is new memory of that many bytes, of a sequence of numbers memory with these.
    """

    __slots__ = ("_memory", "tensor")

    def __init__(self, source: Any = 0) -> None:
        self.tensor = _tensor_of(source, np.dtype(np.uint8))
        self._memory = owner_of(self.tensor.array)

    device = CPU

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return address_of(self._memory)

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._memory.nbytes

    size = nbytes
    __len__ = nbytes

    @property
    def filename(self) -> str | None:
        """The file whose bytes the memory is, of `from_file(shared=True)`, or None."""
        base: Any = self._memory.base
        is_file = isinstance(base, np.memmap) and base.mode == "r+"
        return str(base.filename) if is_file else None

    def element_size(self) -> int:
        """Return 1, the bytes of a byte."""
        return 1

    def is_shared(self) -> bool:
        """Return whether other processes share the memory, which none does."""
        return False

    def tolist(self) -> list[int]:
        """Return the bytes as numbers."""
        return list(self._memory.tobytes(order="A"))

    def elements(self, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return the memory as an array of one dimension; RuntimeError where it has gaps."""
        memory = self._memory
        if not (memory.flags.c_contiguous or memory.flags.f_contiguous):
            raise RuntimeError("the memory of this tensor is not its own: clone() the tensor first")
        count = memory.nbytes // dtype.itemsize
        return np.ndarray((count,), dtype, memory.reshape(-1, order="A"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self) -> int:
        return hash((self.data_ptr(), self.nbytes()))

    def __repr__(self) -> str:
        return f"gradspec.UntypedStorage of {self.nbytes()} bytes at {self.data_ptr():#x}"


class TypedStorage:
    """The memory of a tensor, as elements of its dtype: `tensor.storage()`.

    Of a number it is new memory for that many elements, of a sequence memory with these elements.
    """

    __slots__ = ("_bytes", "_elements", "dtype")

    def __init__(self, source: Any = 0, *, dtype: Any = None) -> None:
        tensor = _tensor_of(source, get_default_dtype() if dtype is None else np.dtype(dtype))
        self._bytes = UntypedStorage(tensor)
        self.dtype = tensor.array.dtype
        self._elements = self._bytes.elements(self.dtype)

    device = CPU

    def untyped(self) -> UntypedStorage:
        """Return the same memory as bytes."""
        return self._bytes

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return self._bytes.data_ptr()

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._bytes.nbytes()

    def size(self) -> int:
        """Return the number of elements."""
        return self._elements.size

    __len__ = size

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self.dtype.itemsize

    def is_shared(self) -> bool:
        """Return whether other processes share the memory, which none does."""
        return False

    def tolist(self) -> list[Any]:
        """Return the elements as numbers."""
        found: list[Any] = self._elements.tolist()
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._elements[index].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._elements[index] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements."""
        self._elements[:] = value
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype == other.dtype and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash((self._bytes, self.dtype))

    def __repr__(self) -> str:
        return f"gradspec.TypedStorage of {self.size()} elements, {self.dtype.name}"


class StorageType(type):
    """The class of `FloatStorage` and its kin: memory of elements of one dtype."""

    dtype: np.dtype[Any]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, source: Any = 0) -> TypedStorage:
        """Make memory of so many elements, or of the given ones."""
        return TypedStorage(source, dtype=cls.dtype)


def _type_of(name: str, dtype: str) -> StorageType:
    doc = f"Memory of elements of {dtype}; see `TypedStorage`."
    return StorageType(name, (), {"__doc__": doc, "dtype": np.dtype(dtype)})


BoolStorage: Final = _type_of("BoolStorage", "bool")
ByteStorage: Final = _type_of("ByteStorage", "uint8")
CharStorage: Final = _type_of("CharStorage", "int8")
ShortStorage: Final = _type_of("ShortStorage", "int16")
IntStorage: Final = _type_of("IntStorage", "int32")
LongStorage: Final = _type_of("LongStorage", "int64")
HalfStorage: Final = _type_of("HalfStorage", "float16")
FloatStorage: Final = _type_of("FloatStorage", "float32")
DoubleStorage: Final = _type_of("DoubleStorage", "float64")
ComplexFloatStorage: Final = _type_of("ComplexFloatStorage", "complex64")
ComplexDoubleStorage: Final = _type_of("ComplexDoubleStorage", "complex128")
Storage: Final = FloatStorage


def _tensor_of(source: Any, dtype: np.dtype[Any]) -> Tensor:
    """A tensor as it is, or a new one of a number of elements, or of the given elements."""
    if isinstance(source, Tensor):
        return source
    if isinstance(source, Sequence) and not isinstance(source, str):
        return wrap(np.array(source, dtype))
    return wrap(np.zeros(operator.index(source), dtype))


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


class StorageMethods:
    """Methods of `Tensor` that return its memory, or give it other memory."""

    __slots__ = ()

    def storage(self: Any) -> TypedStorage:
        """Return the memory as elements, shared with other tensors."""
        return TypedStorage(self)

    def untyped_storage(self: Any) -> UntypedStorage:
        """Return the memory as bytes, shared with other tensors."""
        return UntypedStorage(self)
