"""The choice among PyTorch's implementations of attention; there is one here, by definition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class SDPBackend(IntEnum):
    """PyTorch's implementations of `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[None]:
    """Accept a choice of implementations inside the block: all compute the same."""
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, list | tuple):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackends")
    if any(not isinstance(each, SDPBackend) for each in chosen):
        raise TypeError(f"sdpa_kernel: expected SDPBackends, but got {backends}")
    yield
