"""Files in the safetensors format, by the library of that name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..core.numpy_warnings import import_quietly
from ..core.tensor import Tensor, wrap
from .atomic import replaced
from .errors import FormatError
from .torch_archive import from_bfloat16

_DTYPES: Final = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "C64": "complex64",
    "BOOL": "bool",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
}


def save_safetensors(tensors: Any, path: str) -> None:
    """Write a dict of tensors; TypeError for anything else."""
    if not isinstance(tensors, dict):
        raise TypeError(f"safetensors files hold a dict of tensors, not a {type(tensors).__name__}")
    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise TypeError(
                f"safetensors files hold tensors by name: {name!r} is a {type(tensor).__name__}"
            )
        arrays[name] = np.ascontiguousarray(tensor.array).reshape(tensor.array.shape)
    data = _library().save(arrays)
    with replaced(path) as file:
        file.write(data)


def load_safetensors(path: str) -> dict[str, Tensor]:
    """Read a dict of tensors; bfloat16, which NumPy does not have, becomes float32.

    FormatError for what NumPy has no dtype for, such as floats of 8 bits.
    """
    with open(path, "rb") as file:
        parts = _library().deserialize(file.read())
    return {name: wrap(_array_of(name, **part)) for name, part in parts}


def _array_of(name: str, dtype: str, shape: Sequence[int], data: bytes) -> np.ndarray[Any, Any]:
    if dtype == "BF16":
        return from_bfloat16(np.frombuffer(data, "<u2")).reshape(shape)
    if dtype not in _DTYPES:
        raise FormatError(f"the tensor {name} is of the dtype {dtype}, which NumPy does not have")
    wanted = np.dtype(_DTYPES[dtype])
    return np.frombuffer(data, wanted.newbyteorder("<")).astype(wanted).reshape(shape)


def _library() -> Any:
    try:
        return import_quietly("safetensors.numpy", None)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "files in the safetensors format need the safetensors library: "
            "pip install 'gradspec[safetensors]'"
        ) from None
