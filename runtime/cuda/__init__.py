"""`gs.cuda`, for programs that ask whether there is such a device: there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import NoReturn

from ..core.lazy import lazy_attributes as _lazy_attributes

if _TYPE_CHECKING:
    from . import amp as amp


def is_available() -> bool:
    """Return False: tensors are NumPy arrays on the CPU."""
    return False


def is_initialized() -> bool:
    """Return False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing, as PyTorch does where there is no such device."""


def manual_seed_all(seed: int) -> None:
    """Do nothing, as PyTorch does where there is no such device."""


def empty_cache() -> None:
    """Do nothing, as PyTorch does where there is no such device."""


def _refused(name: str) -> NoReturn:
    raise AssertionError(f"cuda.{name}: gradspec has no CUDA devices, only the CPU")


def current_device() -> int:
    """Raise AssertionError, as PyTorch does where it has no such device."""
    _refused("current_device")


def set_device(device: object) -> None:
    """Raise AssertionError, as PyTorch does where it has no such device."""
    _refused("set_device")


def synchronize(device: object = None) -> None:
    """Raise AssertionError, as PyTorch does where it has no such device."""
    _refused("synchronize")


def get_device_name(device: object = None) -> str:
    """Raise AssertionError, as PyTorch does where it has no such device."""
    _refused("get_device_name")


__getattr__, __dir__ = _lazy_attributes(globals(), {"amp": (".amp", "")})
