"""Tensors on memory of others: buffers, DLPack capsules, whatever NumPy makes an array of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from ..core.entrance import check_dtype
from ..core.tensor import Tensor
from ..core.user_warnings import warn_once
from .creation import as_tensor, float_dtype, from_numpy, leaf
from .creation_options import PLACE, creates


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of one dimension on the memory of a buffer, `count` elements from a byte on.

    ValueError where the buffer is empty or too short, and for what is no buffer.
    """
    wanted = check_dtype(np.dtype(dtype))
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError(
            f"object does not implement Python buffer protocol: {type(buffer).__name__}"
        ) from None
    size = view.nbytes
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % wanted.itemsize:
        raise ValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({wanted.itemsize})"
        )
    if count > 0 and count * wanted.itemsize > size - offset:
        raise ValueError(
            f"requested buffer length ({count} * {wanted.itemsize} bytes) after offset "
            f"({offset} bytes) must not be greater than actual buffer length ({size} bytes)"
        )
    if view.readonly:
        warn_once(
            "The given buffer is not writable: in-place ops on the tensor fail. Give a copy, such "
            "as bytearray(buffer)."
        )
    return leaf(np.frombuffer(buffer, wanted, count, offset), requires_grad)


@creates(*PLACE)
def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one dimension, of `size` elements, on the memory of a file.

    With `shared` what is written to the tensor is written to the file, which is made, or made
    longer, where needed; else the file stays as it is. RuntimeError for a file that is not there or
    too short, and for a negative size.
    """
    wanted = float_dtype(None) if dtype is None else check_dtype(np.dtype(dtype))
    count = size or 0
    if count < 0:
        raise RuntimeError(f"from_file: size must not be negative, got {count}")
    path, length = Path(filename), count * wanted.itemsize
    if not shared and not path.exists():
        raise RuntimeError(f"unable to open file <{filename}> in read-only mode")
    found = path.stat().st_size if path.exists() else 0
    if found < length:
        if not shared:
            raise RuntimeError(
                f"file <{filename}> size <{found}> is smaller than the required mapping size "
                f"<{length}>"
            )
        with path.open("ab") as file:
            file.truncate(length)
    if not count:  # which no memory can be mapped to
        return leaf(np.empty(0, wanted), requires_grad)
    mapped = np.memmap(path, wanted, "r+" if shared else "c", shape=(count,))
    return leaf(np.asarray(mapped), requires_grad)


@creates("device")
def asarray(
    obj: Any, *, dtype: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """`obj` as a tensor: on the same memory if it is a tensor, an array or a buffer.

    `copy=True` makes a copy, `copy=False` raises ValueError where one is needed. A tensor keeps its
    history unless `requires_grad` is False; a leaf that is returned as it is changes its own.
    """
    wanted = None if dtype is None else np.dtype(dtype)
    shared: Tensor | None = None
    if isinstance(obj, Tensor):
        shared = obj
    elif isinstance(obj, np.ndarray):
        shared = from_numpy(obj)
    elif hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        shared = from_dlpack(obj)
    elif isinstance(obj, bytes | bytearray | memoryview):
        shared = frombuffer(obj, dtype=np.float32 if wanted is None else wanted)
    if shared is None:
        if copy is False and isinstance(obj, np.generic):
            raise RuntimeError("can't alias NumPy scalars: leave copy=False out, or give an array.")
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return leaf(as_tensor(obj, dtype=dtype).array, bool(requires_grad))
    made = shared if wanted is None else shared.to(wanted)
    if copy is False and made is not shared:
        raise ValueError(f"can't alias tensor with dtype '{shared.dtype}' into dtype '{wanted}'.")
    if copy and made is shared:
        made = shared.clone()
    if requires_grad is None:
        return made
    if not (requires_grad or made.is_leaf):
        return made.detach()
    if made.is_leaf:
        made.requires_grad = requires_grad
    return made


_CPU: Final = (1, 0)
"""The CPU, by DLPack's numbers."""


class _Capsule:
    """Source from which NumPy reads a bare capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


class _Writable:
    """The memory of an array, for another array that may write to it."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array  # keeps the memory
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _of_capsule(capsule: Any) -> np.ndarray[Any, Any]:
    has_version = '"dltensor"' not in repr(capsule)
    array = np.from_dlpack(_Capsule(capsule))
    # Capsules of the first version do not say whether they may be written to, and NumPy says no.
    return array if has_version else np.asarray(_Writable(array))


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor on the memory of an array of another library, given by the DLPack protocol.

    It takes the array, or the capsule that `to_dlpack` has made of it, which serves once. TypeError
    for anything else.
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        return from_numpy(_of_capsule(ext_tensor))
    if not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(
            "from_dlpack() takes a capsule or an object with __dlpack__, such as an array or a "
            f"tensor, not {type(ext_tensor).__name__}"
        )
    return from_numpy(np.from_dlpack(ext_tensor))


def to_dlpack(tensor: Tensor) -> Any:
    """The DLPack capsule of a tensor's memory; BufferError if gradients flow to it."""
    return dlpack_of(tensor)


def dlpack_of(self: Tensor, *, stream: Any = None, **options: Any) -> Any:
    """Return the capsule by which another library takes over the memory, by the array API.

    BufferError for a tensor that requires grad; TypeError for what can be no `stream` anywhere,
    AssertionError for one of a device.
    """
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be int or None")
    if stream not in (None, -1):  # -1: without synchronisation
        raise AssertionError("stream should be None on cpu.")
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self.array.__dlpack__(**options)


class ForeignMemoryMethods:
    """Methods of `Tensor` by which other libraries take over its memory."""

    __slots__ = ()

    __dlpack__ = dlpack_of

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        """Return the CPU, by DLPack's numbers."""
        found: tuple[int, int] = self.array.__dlpack_device__()
        return found
