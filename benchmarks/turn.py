"""One library on one workload, in a process of its own: `python -m benchmarks.turn LIBRARY NAME`.

It prepares, computes once and warms up, and then measures whenever it is its turn. It talks to its
parent in pickles: the results of the first call, and for each request (the seconds a turn takes)
the times of the calls.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from time import perf_counter
from typing import BinaryIO

from .libraries import LIBRARIES, as_arrays
from .workload import Run
from .workloads import with_data

BATCH_SECONDS = 0.002
"""Seconds timed at once: long beside a reading of the clock, short beside most interruptions."""
WARM_UP_SECONDS = 0.3
SLOW_SECONDS = 2
"""A first call that takes longer is warm-up enough, whether it compiled or computed."""


def main(library: str, name: str) -> None:
    """Answer requests until there are no more."""
    with own_output() as answers:
        run = LIBRARIES[library].prepare(with_data(name))
        start = perf_counter()
        answer(answers, as_arrays(run()))
        calls = warm_up(run) if perf_counter() - start < SLOW_SECONDS else 1
        gc.collect()
        while True:
            try:
                seconds = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            answer(answers, turn(run, calls, seconds))


def own_output() -> BinaryIO:
    """The pipe to the parent, kept from what a library may print: that goes to stderr."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(pipe, "wb")


def answer(pipe: BinaryIO, content: object) -> None:
    """Send one pickle."""
    pickle.dump(content, pipe)
    pipe.flush()


def warm_up(run: Run) -> int:
    """Call until caches and compilers have settled; how many calls fill a batch."""
    calls, fastest, until = 1, float("inf"), perf_counter() + WARM_UP_SECONDS
    while perf_counter() < until:
        fastest = min(fastest, batch(run, calls))
        calls = max(1, round(BATCH_SECONDS / fastest))
    return calls


def turn(run: Run, calls: int, seconds: float) -> list[float]:
    """The times of a call, batch by batch.

    Where a call is short one batch goes first unmeasured: others have used the caches since. The
    garbage collector runs as it does for users.
    """
    until = perf_counter() + seconds
    times = [batch(run, calls)]
    while perf_counter() < until:
        times.append(batch(run, calls))
    return times[1:] or times


def batch(run: Run, calls: int) -> float:
    """The mean time of some calls."""
    start = perf_counter()
    for _ in range(calls):
        run()
    return (perf_counter() - start) / calls


if __name__ == "__main__":
    main(*sys.argv[1:])
