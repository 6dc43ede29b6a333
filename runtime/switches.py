"""Switches of PyTorch that programs turn, which choose nothing here: there is one way to compute.

Each remembers what it was set to, so that programs that read it back go on.
"""

from __future__ import annotations

from typing import Any, Final

from .core.user_warnings import warn as _warn


class _Settings:
    """Settings of the switches."""

    __slots__ = ("deterministic", "interop_threads", "matmul_precision", "warns_always")

    def __init__(self) -> None:
        self.deterministic = "default"
        self.interop_threads = 1
        self.matmul_precision = "highest"
        self.warns_always = False


_settings: Final = _Settings()
_MODES: Final = ("default", "warn", "error")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for results that are the same every time, as all of this library's are."""
    _settings.deterministic = ("warn" if warn_only else "error") if mode else "default"


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` was called."""
    return _settings.deterministic != "default"


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` was called with `warn_only`."""
    return _settings.deterministic == "warn"


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set what `use_deterministic_algorithms` sets, by a word or its number."""
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode).__name__}")
    chosen: Any = _MODES[debug_mode] if debug_mode in (0, 1, 2) else debug_mode
    if chosen not in _MODES:
        raise RuntimeError(
            f"invalid value of debug_mode: {debug_mode!r}, must be one of {', '.join(_MODES)}, or "
            "its number"
        )
    _settings.deterministic = chosen


def get_deterministic_debug_mode() -> int:
    """Return the number of the word of `set_deterministic_debug_mode`."""
    return _MODES.index(_settings.deterministic)


def set_flush_denormal(mode: bool) -> bool:
    """Return False: denormal numbers are always kept."""
    return False


def set_float32_matmul_precision(precision: str) -> None:
    """Set how exact products of matrices may be at least; they are always of the highest."""
    if precision not in ("highest", "high", "medium"):
        _warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the precision stays.")
        return
    _settings.matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` was given."""
    return _settings.matmul_precision


def set_num_interop_threads(num: int) -> None:
    """Set a number of threads for work of PyTorch's that there is none of."""
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _settings.interop_threads = num


def get_num_interop_threads() -> int:
    """Return what `set_num_interop_threads` was given; 1 otherwise."""
    return _settings.interop_threads


def set_warn_always(b: bool, /) -> None:
    """Set what `is_warn_always_enabled` returns; warnings are given as before."""
    _settings.warns_always = bool(b)


def is_warn_always_enabled() -> bool:
    """Return what `set_warn_always` was given."""
    return _settings.warns_always


def is_storage(obj: Any, /) -> bool:
    """Return whether it is the memory of a tensor, as `Tensor.storage` returns it."""
    return type(obj).__name__ in ("TypedStorage", "UntypedStorage")


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return False: ops compute in the dtype of their arguments."""
    return False


def typename(obj: Any, /) -> str:
    """Return the name of the type of a tensor or of anything else, with its module."""
    if hasattr(obj, "grad_fn"):
        return str(obj.type())
    kind = obj if isinstance(obj, type) or callable(obj) else type(obj)
    module = getattr(kind, "__module__", "")
    prefix = "" if module in ("", "builtins", "__builtin__", None) else f"{module}."
    return prefix + str(getattr(kind, "__qualname__", type(kind).__qualname__))
