"""Public functions on the graph: edges, hooks on nodes, hooks on saved tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..core.missing import explaining as _explaining
from ..core.node import Node
from ..core.tensor import Tensor, wrap
from ..graph.saved_tensor_hooks import disable_saved_tensors_hooks, saved_tensors_hooks
from ..inplace.allowed_mutation import AllowedMutation
from ..inplace.ops import mark_written
from .edges import GradientEdge, get_gradient_edge
from .multi_grad import register_multi_grad_hook
from .run_backward import run_backward

_engine_run_backward = run_backward
"""PyTorch's private name."""


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write to the memory by other means than an in-place op."""
    for item in (tensor,) if isinstance(tensor, Tensor) else tensor:
        mark_written(item)


class save_on_cpu(saved_tensors_hooks):
    """Let nodes save copies inside the block; all memory is the CPU's here."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu") -> None:
        super().__init__(lambda tensor: tensor.array.copy(), wrap)


@contextmanager
def save_on_disk(directory: str | Path | None = None) -> Iterator[None]:
    """Write saved tensors to files inside the block, and read them when they are needed.

    Files are removed with their nodes; `directory` is by default a temporary one.
    """
    from tempfile import gettempdir, mkstemp  # few programs need them: `import gradspec` is quick

    folder = gettempdir() if directory is None else directory

    def pack(tensor: Tensor) -> _File:
        handle, path = mkstemp(prefix="gradspec-", suffix=".npy", dir=folder)
        os.close(handle)
        return _File(Path(path), tensor.array)

    with saved_tensors_hooks(pack, _File.read):
        yield


class _File:
    """Saved array on disk; the file is removed with the last reference to this object."""

    def __init__(self, path: Path, array: np.ndarray[Any, Any]) -> None:
        self._path = path
        np.save(path, array)

    def read(self) -> Tensor:
        """Read the array."""
        return wrap(np.load(self._path))

    def __del__(self) -> None:
        self._path.unlink(missing_ok=True)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowedMutation]:
    """Allow writes to saved tensors inside the block: what is overwritten is copied before.

    Backward passes through nodes made there must run in the block, too. RuntimeError if one
    such block is opened inside another.
    """
    if AllowedMutation.active is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    AllowedMutation.active = block = AllowedMutation()
    try:
        with saved_tensors_hooks(block.pack, block.unpack):
            yield block
    finally:
        AllowedMutation.active = None
        block.cloned.clear()


__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "save_on_disk",
    "saved_tensors_hooks",
]

__getattr__ = _explaining(__name__)
