"""Mixed precision, for programs that ask for it: what they compute here is in the dtypes they have.

`autocast` is what PyTorch's is where the device is not there: it warns, and casts nothing. On the
CPU it is refused, as PyTorch's would round what this library does not. `GradScaler` scales.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator
from functools import partial
from typing import Any

import numpy as np

from .core.devices import device as _device
from .core.missing import explaining as _explaining
from .core.modes import no_grad
from .core.tensor import Tensor
from .core.user_warnings import warn

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

__getattr__ = _explaining(__name__)


def is_autocast_available(device_type: str) -> bool:
    """Return False: ops compute in the dtype of their arguments."""
    return False


class autocast(ContextDecorator):
    """Block, or decorator, in which nothing is cast.

    Where `enabled`, a device that is not there is warned of (UserWarning), as PyTorch does, and
    RuntimeError raised for the CPU in `float16` or `bfloat16`, which is the default there.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = _device(device_type).type
        if enabled and self.device == "cpu":
            if dtype is None or getattr(dtype, "itemsize", 2) == 2:
                raise RuntimeError(
                    "autocast on the CPU: gradspec computes in the dtype of the arguments. Leave "
                    "it out or give enabled=False, or cast the model and its inputs to float16"
                )
            warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.")
        elif enabled:
            warn(f"{self.device.upper()} is not available. Disabling autocast.")

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Any:
    """Decorate the `forward` of a `Function`; no autocast is ever on, so it stays what it is."""
    return partial(custom_fwd, device_type=device_type) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of a `Function`, which stays what it is."""
    return partial(custom_bwd, device_type=device_type) if bwd is None else bwd


_READY, _UNSCALED, _STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Scaling of losses, so that small gradients do not become zero in half precision.

    The scale grows after `growth_interval` steps without infinite or NaN gradients, and is backed
    off from where there are some; such a step is left out. Disabled, with a warning (UserWarning),
    for the device `cuda`, which is not there: then it passes everything through.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        if enabled and device != "cpu":
            warn(f"GradScaler is enabled, but {device.upper()} is not available. Disabling.")
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled = enabled
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._forget()

    def _forget(self) -> None:
        self._stages: defaultdict[int, str] = defaultdict(lambda: _READY)
        self._overflowed: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or those of an iterable, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, list | tuple):
            return type(outputs)(self.scale(output) for output in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, before clipping.

        RuntimeError where that was done since `update`; ValueError for float16 gradients.
        """
        if not self._enabled:
            return
        stage = self._stages[id(optimizer)]
        if stage != _READY:
            again = "already been called on this optimizer since the last update()."
            raise RuntimeError(
                f"unscale_() has {again}" if stage == _UNSCALED else "unscale_() after step()."
            )
        params = [param for group in optimizer.param_groups for param in group["params"]]
        with no_grad():
            for gradient in (param.grad for param in params if param.grad is not None):
                if gradient.dtype == np.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                finite = bool(np.isfinite(gradient.array).all())
                self._overflowed[id(optimizer)] = not finite or self._overflowed.get(
                    id(optimizer), False
                )
                gradient.mul_(1.0 / self._scale)
        self._stages[id(optimizer)] = _UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call `optimizer.step`, unless gradients are infinite or NaN; None where they are.

        RuntimeError for a closure, and for a second call since `update`; AssertionError where no
        parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._stages[id(optimizer)] == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._stages[id(optimizer)] == _READY:
            self.unscale_(optimizer)
        if id(optimizer) not in self._overflowed:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stages[id(optimizer)] = _STEPPED
        if self._overflowed[id(optimizer)]:
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the scale by what was found since the last call, or to a new one."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._overflowed:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._overflowed.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._forget()

    def is_enabled(self) -> bool:
        """Return whether it scales."""
        return self._enabled

    def get_scale(self) -> float:
        """Return the scale; 1 where it is disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale is backed off."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale is backed off."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return after how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and settings; nothing where it is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned; RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
