"""The number of threads that share the loops of a compiled program.

What is not compiled runs in the thread that calls it; NumPy's products of matrices have threads of
their own, which this does not count.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final


class _Threads:
    """The number, and who follows it."""

    def __init__(self) -> None:
        self.count = _cores()
        self.followers: list[Callable[[int], None]] = []


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_threads: Final = _Threads()


def get_num_threads() -> int:
    """Return the number of threads of compiled programs: initially that of the cores."""
    return _threads.count


def set_num_threads(num: int) -> None:
    """Let `num` threads share the loops of a compiled program; with 1 nothing is shared.

    RuntimeError for a number below 1.
    """
    if isinstance(num, bool) or not isinstance(num, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _threads.count = num
    for follow in _threads.followers:
        follow(num)


def follow_num_threads(follow: Callable[[int], None]) -> None:
    """Call `follow` with the number, now and whenever it is set."""
    _threads.followers.append(follow)
    follow(_threads.count)
