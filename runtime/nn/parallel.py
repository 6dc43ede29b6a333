"""PyTorch's wrappers that divide batches: there is one device and one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.missing import explaining as _explaining
from .module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]

__getattr__ = _explaining(__name__)


class DataParallel(Module):
    """Module that calls `module`, on the one device that there is."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    """Module that calls `module`, in the one process that there is.

    RuntimeError if no parameter requires a gradient.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters "
                "that require a gradient."
            )
        self.module = module
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.device_ids = None
        self.output_device = None

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Block in which processes would not exchange gradients."""
        yield

    @contextmanager
    def join(self, *_: Any, **__: Any) -> Iterator[None]:
        """Block in which processes may have different numbers of batches."""
        yield
