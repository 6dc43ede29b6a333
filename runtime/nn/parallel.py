"""PyTorch's wrapper that divides batches among devices: there is one, so it calls the module."""

from __future__ import annotations

from typing import Any

from ..core.missing import explaining as _explaining
from .module import Module

__all__ = ["DataParallel"]

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
