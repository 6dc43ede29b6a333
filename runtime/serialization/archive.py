"""The format of `gradspec.save`: a zip of arrays, as `.npy` files, and a JSON index.

In the index numbers, texts, lists, None, True and False are themselves; anything else is an object
`{"type": ..., ...}`, of one of the types below. Arrays are named by number. They are not
compressed, so that reading a file takes no more memory than its size.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from math import prod
from typing import IO, Any, Final, TypeAlias

import numpy as np

from ..core.tensor import Size, Tensor
from ..functions.pickling import leaf_parts, rebuild
from ..nn.module import Module
from ..nn.module_state import State
from .errors import FormatError

Array: TypeAlias = np.ndarray[Any, Any]

INDEX: Final = "gradspec.json"
VERSION: Final = 1
KINDS: Final = "biufc"
"""The kinds of dtypes of arrays in files."""

_DAMAGES: Final = (
    *(zipfile.BadZipFile, struct.error, EOFError, KeyError, ValueError),
    *(NotImplementedError, RuntimeError),  # versions and encryption that a changed byte asks for
)
"""Exceptions of `zipfile` where the bytes of an archive are not what it expects."""


def write_archive(obj: Any, file: IO[bytes]) -> None:
    """Write an object; see `gradspec.save`."""
    writer = _Writer()
    index = {"version": VERSION, "root": writer.encode(obj, "object")}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(INDEX, json.dumps(index, allow_nan=False, ensure_ascii=False))
        for number, array in enumerate(writer.arrays):
            with archive.open(f"arrays/{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_archive(archive: zipfile.ZipFile) -> Any:
    """Read an object; FormatError for what `write_archive` cannot have written."""
    try:
        index = json.loads(stored(archive, INDEX))
        if index["version"] != VERSION:
            raise FormatError(
                f"the file has version {index['version']} of the format; this version of gradspec "
                f"reads {VERSION}"
            )
        return _Reader(archive).decode(index["root"])
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise FormatError(f"the file is damaged: {type(error).__name__}: {error}") from None


def open_archive(file: Any) -> zipfile.ZipFile:
    """Open a zip file for reading; BadZipFile, with the cause, for one that is damaged."""
    try:
        return zipfile.ZipFile(file)
    except _DAMAGES as error:
        raise zipfile.BadZipFile(str(error)) from None


def stored(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a member of a zip file that is not compressed; its checksum is verified."""
    try:
        if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
            raise FormatError(f"{name} is compressed, which no checkpoint is")
        return archive.read(name)
    except FormatError:
        raise
    except (*_DAMAGES, OSError) as error:  # OSError: a place before the beginning of the file
        raise FormatError(f"the file is damaged: {error}") from None


class _Writer:
    """Encodes objects for the index, and collects the arrays."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.numbers: dict[int, int] = {}
        self.open: set[int] = set()

    def encode(self, value: Any, place: str) -> Any:
        """Encode an object; `place` says where it is, for errors."""
        if value is None or (isinstance(value, bool | int | str) and type(value) in _PLAIN):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"type": "float", "value": repr(value)}
        if id(value) in self.open:
            raise ValueError(f"cannot save {place}, which contains itself")
        self.open.add(id(value))
        try:
            return self._encode_object(value, place)
        finally:
            self.open.discard(id(value))

    def _encode_object(self, value: Any, place: str) -> Any:
        if isinstance(value, Tensor):
            return self._encode_tensor(value)
        kind = type(value)
        if kind is list:
            return [self.encode(item, f"{place}[{i}]") for i, item in enumerate(value)]
        if kind in _SEQUENCES:
            items = [self.encode(item, f"{place}[{i}]") for i, item in enumerate(value)]
            return {"type": _SEQUENCES[kind], "items": items}
        if isinstance(value, dict):
            return self._encode_dict(value, place)
        if kind is complex:
            return {"type": "complex", "value": [value.real.hex(), value.imag.hex()]}
        if kind is bytes:
            return {"type": "bytes", "value": value.hex()}
        if isinstance(value, np.dtype) and value.kind in KINDS:
            return {"type": "dtype", "name": value.name}
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in KINDS:
            kind_name = "ndarray" if isinstance(value, np.ndarray) else "scalar"
            return {"type": kind_name, "array": self._add(np.asarray(value))}
        advice = "save its state_dict()" if isinstance(value, Module) else "save its parts"
        raise TypeError(f"cannot save {place}, a {kind.__qualname__}: {advice}")

    def _encode_dict(self, value: dict[Any, Any], place: str) -> Any:
        name = next((n for kind, n in _DICTS.items() if isinstance(value, kind)), "dict")
        items = [
            [self.encode(key, f"a key of {place}"), self.encode(item, f"{place}[{key!r}]")]
            for key, item in value.items()
        ]
        encoded = {"type": name, "items": items}
        metadata = getattr(value, "_metadata", None)
        if metadata is not None:
            encoded["metadata"] = self.encode(metadata, f"the metadata of {place}")
        return encoded

    def _encode_tensor(self, tensor: Tensor) -> Any:
        leaf = tensor if tensor.is_leaf else tensor.detach()
        memory, grad, requires_grad, is_parameter, span, *_ = leaf_parts(leaf)[1]
        encoded = {"type": "tensor", "array": self._add(memory)}
        if span is not None:
            shape, dtype, offset, strides = span
            encoded["span"] = [list(shape), dtype.name, offset, list(strides)]
        if requires_grad or tensor.requires_grad:
            encoded["requires_grad"] = True
        if is_parameter:
            encoded["is_parameter"] = True
        if grad is not None:
            encoded["grad"] = self._encode_tensor(grad)
        return encoded

    def _add(self, array: Array) -> int:
        if id(array) not in self.numbers:
            self.numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self.numbers[id(array)]


_PLAIN: Final = (bool, int, str)
_SEQUENCES: Final[dict[type, str]] = {
    tuple: "tuple",
    Size: "Size",
    set: "set",
    frozenset: "frozenset",
}
_DICTS: Final[dict[type, str]] = {
    State: "State",
    OrderedDict: "OrderedDict",
    Counter: "Counter",
}


class _Reader:
    """Decodes the index."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.arrays: dict[int, Array] = {}

    def decode(self, value: Any) -> Any:
        """Decode an object."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        decoder = _DECODERS.get(value["type"])
        if decoder is None:
            raise FormatError(f"the file holds a {value['type']!r}, which is not known")
        return decoder(self, value)

    def array(self, number: Any) -> Array:
        """Read an array, once."""
        if type(number) is not int:
            raise FormatError(f"{number!r} is no number of an array")
        if number not in self.arrays:
            self.arrays[number] = _array_of(stored(self.archive, f"arrays/{number}.npy"))
        return self.arrays[number]

    def _items(self, value: dict[str, Any]) -> list[Any]:
        return [self.decode(item) for item in value["items"]]

    def _mapping(self, value: dict[str, Any]) -> dict[Any, Any]:
        made = _MAPPINGS[value["type"]]()
        for key, item in value["items"]:
            made[self.decode(key)] = self.decode(item)
        if "metadata" in value:
            made._metadata = self.decode(value["metadata"])
        return made

    def _tensor(self, value: dict[str, Any]) -> Tensor:
        span = value.get("span")
        if span is not None:
            shape, dtype, offset, strides = span
            span = tuple(shape), _dtype_of(dtype), offset, tuple(strides)
        return rebuild(
            self.array(value["array"]),
            self._tensor(value["grad"]) if "grad" in value else None,
            value.get("requires_grad") is True,
            value.get("is_parameter") is True,
            span,
        )


_MAPPINGS: Final[dict[str, type[Any]]] = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "Counter": Counter,
    "State": State,
}

_DECODERS: Final[dict[str, Callable[[_Reader, dict[str, Any]], Any]]] = {
    **dict.fromkeys(_MAPPINGS, _Reader._mapping),
    "tensor": _Reader._tensor,
    "tuple": lambda reader, value: tuple(reader._items(value)),
    "Size": lambda reader, value: Size(reader._items(value)),
    "set": lambda reader, value: set(reader._items(value)),
    "frozenset": lambda reader, value: frozenset(reader._items(value)),
    "float": lambda reader, value: float(value["value"]),
    "complex": lambda reader, value: complex(*map(float.fromhex, value["value"])),
    "bytes": lambda reader, value: bytes.fromhex(value["value"]),
    "dtype": lambda reader, value: _dtype_of(value["name"]),
    "ndarray": lambda reader, value: reader.array(value["array"]),
    "scalar": lambda reader, value: reader.array(value["array"])[()],
}


def _dtype_of(name: Any) -> np.dtype[Any]:
    dtype = np.dtype(name) if isinstance(name, str) else None
    if dtype is None or dtype.kind not in KINDS:
        raise FormatError(f"{name!r} is no dtype of tensors")
    return dtype


def _array_of(data: bytes) -> Array:
    """Read an `.npy` file; the header must describe exactly what follows it."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise FormatError(f"an array has version {version} of the npy format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    start = file.tell()
    if dtype.kind not in KINDS or min(shape, default=0) < 0:
        raise FormatError(f"an array has the dtype {dtype} and the shape {shape}")
    if prod(shape) * dtype.itemsize != len(data) - start:
        raise FormatError(f"an array of shape {shape} has {len(data) - start} bytes")
    values = np.frombuffer(data, dtype, offset=start).copy()
    return values.reshape(shape, order="F" if is_fortran else "C")
