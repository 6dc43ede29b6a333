"""Switches of a library for a device that is not there."""

from collections.abc import Iterator as _Iterator
from contextlib import contextmanager as _contextmanager

from ..core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Return False."""
    return False


def version() -> None:
    """Return None: there is no such library."""


@_contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> _Iterator[None]:
    """Set the switches for a block: context manager and decorator."""
    wanted = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    switches = globals()
    before = {name: switches[name] for name in wanted}
    switches.update(wanted)
    try:
        yield
    finally:
        switches.update(before)
