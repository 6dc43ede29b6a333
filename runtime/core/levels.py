"""The open transforms of a thread: levels of forward mode and of `vmap`, outermost first.

A tensor of a transform (a dual, a batched one) belongs to a level. An op on several of them is for
the innermost to handle, which leaves the others to the ops that it calls. Duals lie below batches,
whichever began first: the physical tensor of a batched one may be a dual, and not the other way.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, Final


class Level:
    """One transform that is under way; its tensors mean nothing after it."""

    __slots__ = ("depth", "open", "randomness")

    is_outside = False
    """True of levels whose tensors are taken apart before those of others."""

    def __init__(self, randomness: str = "same") -> None:
        self.depth = -1
        self.open = False
        self.randomness = randomness
        """`same`, `different` or `error`: whether examples of `vmap` share random numbers."""


class _Levels(threading.local):
    """The open levels of one thread."""

    def __init__(self) -> None:
        self.stack: list[Level] = []


_levels: Final = _Levels()


def open_levels() -> tuple[Level, ...]:
    """The levels that are open in this thread, outermost first."""
    return tuple(_levels.stack)


def has_open_levels() -> bool:
    """Return whether a transform is under way in this thread."""
    return bool(_levels.stack)


def enter(level: Level) -> None:
    """Open a level inside those that are open."""
    level.depth = len(_levels.stack)
    level.open = True
    _levels.stack.append(level)


def leave(level: Level) -> None:
    """Close the innermost level; RuntimeError if `level` is another."""
    if not _levels.stack or _levels.stack[-1] is not level:
        raise RuntimeError("levels of transforms must be closed in the reverse of their order")
    _levels.stack.pop().open = False


def of_innermost_level(values: Iterable[Any]) -> Any:
    """The tensor, among `values`, whose transform handles an op; None if there is none."""
    special = [value for value in values if getattr(type(value), "_call_op", None) is not None]
    if len(special) < 2:
        return special[0] if special else None
    return max(special, key=lambda value: (value.level.is_outside, value.level.depth))
