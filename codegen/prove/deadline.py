"""A limit on the time a computation may take."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TimeUp(BaseException):
    """The time is over. Not an `Exception`: no handler below may swallow it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeUp in the block after so many seconds; limits may nest.

    Only a main thread can be interrupted, elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeUp

    started = time.monotonic()
    outer_handler = signal.signal(signal.SIGALRM, stop)
    outer_left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    if 0 < outer_left < seconds:
        signal.setitimer(signal.ITIMER_REAL, outer_left)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, outer_handler)
        if outer_left:
            left = outer_left - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
