"""The libraries take turns, each in a fresh process, so that a slow moment hits all of them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .libraries import Library, as_arrays
from .workload import Workload, check_agreement
from .workloads import with_data

ROOT = Path(__file__).parents[1]
PAUSE = 0.25
"""Between turns, in seconds: threads of BLAS and OpenMP go on spinning for 200 ms after their work,
and would take a core from the next library."""

LONG_ROUND = 30.0
"""Seconds of a round, from which on two rounds are enough."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The time to measure."""

    name: str
    rounds: int
    fewest_rounds: int
    turn_seconds: float
    seconds: float
    """Seconds for a case: a slow one gets fewer rounds, though at least `fewest_rounds`."""
    processes: int
    """Fresh processes for each library's import time."""


QUICK = Effort("quick", 10, fewest_rounds=3, turn_seconds=0.06, seconds=5, processes=3)
THOROUGH = Effort("thorough", 60, fewest_rounds=5, turn_seconds=0.2, seconds=20, processes=15)


class Racer:
    """A library's process: see `benchmarks.turn` for what it answers."""

    def __init__(self, library: Library, workload: Workload) -> None:
        self.library = library
        self.times: list[float] = []
        self._command = ["-m", "benchmarks.turn", library.name, workload.name]
        self._process = subprocess.Popen(
            [sys.executable, *self._command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )

    def answer(self) -> Any:
        """The next answer; RuntimeError if the process ended instead."""
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except EOFError:
            status = self._process.wait()
            command = " ".join(["python", *self._command])
            raise RuntimeError(f"`{command}` ended with status {status}") from None

    def take_turn(self, seconds: float) -> None:
        """Measure for about so long."""
        assert self._process.stdin is not None
        pickle.dump(seconds, self._process.stdin)
        self._process.stdin.flush()
        self.times += self.answer()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def race(
    workload: Workload,
    libraries: Sequence[Library],
    effort: Effort,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, float]:
    """The median time of a call in seconds, by library name.

    Raises ValueError if a library's results are not those of the derivative written by hand,
    RuntimeError if its process fails.
    """
    expected = as_arrays(with_data(workload.name).by_hand()())
    with ExitStack() as stack:
        racers = []
        for library in libraries:
            report(f"{workload.title}: {library.title} prepares")
            racer = stack.enter_context(closing(Racer(library, workload)))
            check_agreement(library.title, racer.answer(), expected, workload.tolerance)
            racers.append(racer)
        number, rounds = 0, 1
        while number < rounds:
            report(f"{workload.title}: round {number + 1} of {rounds}")
            taken = one_round(racers, number, effort.turn_seconds)
            if number == 0:
                fitting = int(effort.seconds / taken)
                fewest = effort.fewest_rounds if taken < LONG_ROUND else 2
                rounds = max(fewest, min(effort.rounds, fitting))
            number += 1
    return {racer.library.name: median(racer.times) for racer in racers}


def one_round(racers: Sequence[Racer], number: int, turn_seconds: float) -> float:
    """A turn of each, another one first every time; how long that took."""
    start = time.perf_counter()
    first = number % len(racers)
    for racer in [*racers[first:], *racers[:first]]:
        racer.take_turn(turn_seconds)
        time.sleep(PAUSE)
    return time.perf_counter() - start
