"""Files in the safetensors format, by the library of that name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.numpy_warnings import import_quietly
from ..core.tensor import Tensor, wrap
from .atomic import replaced


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
    """Read a dict of tensors."""
    return {name: wrap(np.array(array)) for name, array in _library().load_file(path).items()}


def _library() -> Any:
    try:
        return import_quietly("safetensors.numpy", None)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "files in the safetensors format need the safetensors library: "
            "pip install 'gradspec[safetensors]'"
        ) from None
