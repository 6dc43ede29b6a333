"""Backward passes started inside of backward passes, to any depth.

Every nesting takes several frames of Python's stack. After a few levels a pass continues in a fresh
thread, which has a stack of its own, while the thread that asked for it waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from ..core.modes import inherit_modes

LEVELS_PER_THREAD: Final = 20
"""The depth to which passes are nested in one thread."""


def run_in_fresh_thread(run: Callable[..., None], *args: object) -> None:
    """Call `run(*args)` in another thread, in this one's modes; what it raises is raised here."""
    raised: list[BaseException] = []
    enter_modes = inherit_modes()

    def work() -> None:
        try:
            with enter_modes():
                run(*args)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="gradspec-nested-backward")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
