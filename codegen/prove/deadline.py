"""A limit on the time a computation may take."""

from __future__ import annotations

import math
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PROOF_SECONDS = 60.0
"""An op whose proof takes longer is given up."""

GRACE_SECONDS = 5.0
"""Time that a step may take that cannot be interrupted, before its process is ended."""


class TimeUp(BaseException):
    """The time is over. Not an `Exception`: no handler below may swallow it."""


_AGAIN = 1.0
"""TimeUp is raised again after so long: what swallowed the first, such as a finalizer, is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeUp in the block after `seconds` of computing; limits may nest.

    The time of other processes does not count, so that a busy machine proves what an idle one does.
    Only a main thread can be interrupted, elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeUp

    started = time.process_time()
    outer_handler = signal.signal(signal.SIGPROF, stop)
    outer_left, _ = signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    if 0 < outer_left < seconds:
        signal.setitimer(signal.ITIMER_PROF, outer_left, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, outer_handler)
        if outer_left:
            left = outer_left - (time.process_time() - started)
            signal.setitimer(signal.ITIMER_PROF, max(left, 0.001), _AGAIN)


@contextmanager
def hard_limit(seconds: float) -> Iterator[None]:
    """End this process after `seconds` of computing, for steps that nothing can interrupt.

    A power of huge integers is one instruction for Python: no handler runs before it is done.
    """
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    ends = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (ends if most < 0 else min(ends, most), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def limit_memory(size: int) -> None:
    """Let this process take no more bytes: it gets a MemoryError, and the machine stays usable."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if most < 0 else min(size, most), most))
