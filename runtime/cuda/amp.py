"""PyTorch's older names of `gs.amp` for the device `cuda`, which is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import amp
from ..core.missing import explaining as _explaining
from ..dtypes.names import float16

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = _explaining(__name__)


class autocast(amp.autocast):
    """`gs.amp.autocast("cuda")`: it warns, and casts nothing."""

    def __init__(
        self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`gs.amp.GradScaler("cuda")`: it warns, and scales nothing."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Any:
    """Decorate the `forward` of a `Function`, which stays what it is."""
    return amp.custom_fwd(fwd, device_type="cuda")


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the `backward` of a `Function`, which stays what it is."""
    return bwd
