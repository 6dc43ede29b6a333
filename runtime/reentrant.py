"""Backward passes started inside of backward passes, as deep as anybody likes.

Every nesting takes several frames of Python's stack. After a few levels a pass goes on in a fresh
thread, which has a stack of its own, while the thread that asked for it waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from .modes import inherit_modes

_LEVELS_PER_THREAD: Final = 20


class _Depth(threading.local):
    """How many passes are nested in this thread."""

    levels = 0


_thread: Final = _Depth()


def run_nested(run: Callable[[], None]) -> None:
    """Call `run`, in this thread or in a fresh one; what it raises is raised here."""
    if _thread.levels >= _LEVELS_PER_THREAD:
        _run_in_fresh_thread(run)
        return
    _thread.levels += 1
    try:
        run()
    finally:
        _thread.levels -= 1


def _run_in_fresh_thread(run: Callable[[], None]) -> None:
    raised: list[BaseException] = []
    enter_modes = inherit_modes()

    def work() -> None:
        try:
            with enter_modes():
                run_nested(run)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="gradspec-nested-backward")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
