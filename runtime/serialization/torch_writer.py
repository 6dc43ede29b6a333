"""States written as PyTorch's `torch.load` reads them, also with `weights_only=True`."""

from __future__ import annotations

import struct
import zipfile
from collections import OrderedDict
from typing import IO, Any, Final

import numpy as np

from ..core.tensor import Size, Tensor
from ..functions.pickling import leaf_parts
from .torch_archive import DTYPES

_PREFIX: Final = "archive/"
_STORAGES: Final = {dtype: kind for kind, dtype in DTYPES.items()}


def write_torch_archive(obj: Any, file: IO[bytes]) -> None:
    """Write an object made of tensors, containers, numbers and texts; TypeError for others."""
    writer = _Writer()
    program = b"\x80\x02" + writer.encode(obj) + b"."
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{_PREFIX}data.pkl", program)
        archive.writestr(f"{_PREFIX}byteorder", "little")
        for key, array in enumerate(writer.storages):
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            archive.writestr(f"{_PREFIX}data/{key}", little.tobytes(order="A"))
        archive.writestr(f"{_PREFIX}version", "3\n")


class _Writer:
    """Encodes objects as pickles, and collects the storages."""

    def __init__(self) -> None:
        self.storages: list[np.ndarray[Any, Any]] = []
        self.keys: dict[int, int] = {}

    def encode(self, value: Any) -> bytes:
        """Encode an object."""
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            return b"\x8a" + bytes([len(data)]) + data
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, str):
            text = value.encode()
            return b"X" + struct.pack("<I", len(text)) + text
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, Size):
            return _name("torch", "Size") + self.encode(tuple(value)) + b"\x85R"
        if type(value) is list:
            return b"](" + b"".join(map(self.encode, value)) + b"e"
        if isinstance(value, tuple):
            return b"(" + b"".join(map(self.encode, value)) + b"t"
        if isinstance(value, dict):
            return self._mapping(value)
        raise TypeError(f"cannot save a {type(value).__qualname__} for PyTorch")

    def _mapping(self, value: dict[Any, Any]) -> bytes:
        is_ordered = isinstance(value, OrderedDict)
        start = _name("collections", "OrderedDict") + b")R" if is_ordered else b"}"
        pairs = b"".join(self.encode(key) + self.encode(item) for key, item in value.items())
        encoded = start + b"(" + pairs + b"u"
        metadata = getattr(value, "_metadata", None)
        return (
            encoded if metadata is None else encoded + self.encode({"_metadata": metadata}) + b"b"
        )

    def _tensor(self, tensor: Tensor) -> bytes:
        leaf = tensor if tensor.is_leaf else tensor.detach()
        memory, _, requires_grad, is_parameter, span, *_ = leaf_parts(leaf)[1]
        array, offset = tensor.array, 0
        if span is None and not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = memory = np.ascontiguousarray(array)
        elif span is not None:
            offset = span[2] // array.itemsize
        if array.dtype.name not in _STORAGES or min(array.strides, default=0) < 0:
            raise TypeError(f"PyTorch has no tensors of {array.dtype} with strides {array.strides}")
        strides = tuple(stride // array.itemsize for stride in array.strides)
        parts = (
            self._storage(memory)
            + self.encode(offset)
            + self.encode(array.shape)
            + self.encode(strides)
            + self.encode(requires_grad and not is_parameter)
            + self.encode(OrderedDict())
        )
        encoded = _name("torch._utils", "_rebuild_tensor_v2") + b"(" + parts + b"tR"
        if not is_parameter:
            return encoded
        rest = self.encode(requires_grad) + self.encode(OrderedDict())
        return _name("torch._utils", "_rebuild_parameter") + b"(" + encoded + rest + b"tR"

    def _storage(self, memory: np.ndarray[Any, Any]) -> bytes:
        if id(memory) not in self.keys:
            self.keys[id(memory)] = len(self.storages)
            self.storages.append(memory)
        key = self.encode(str(self.keys[id(memory)]))
        kind = _name("torch", f"{_STORAGES[memory.dtype.name]}Storage")
        rest = self.encode("cpu") + self.encode(memory.size)
        return b"(" + self.encode("storage") + kind + key + rest + b"tQ"


def _name(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()
