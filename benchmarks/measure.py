"""Timing: the libraries take turns, so that a slow moment of the machine hits all of them."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np

from .cases import Workload


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds_per_round: float
    seconds: float
    """Of a whole case: a slow one gets fewer rounds, though never less than `FEWEST_ROUNDS`."""


FEWEST_ROUNDS = 5
# Many short rounds: most fit between two interruptions by other programs, so the median does too.
QUICK = Effort(rounds=51, seconds_per_round=0.002, seconds=1)
THOROUGH = Effort(rounds=501, seconds_per_round=0.002, seconds=10)


def check_agreement(workloads: Mapping[str, Workload]) -> None:
    """Raise ValueError unless every library computes the gradients of the first one."""
    (reference_name, reference), *others = workloads.items()
    expected = reference()
    for name, workload in others:
        for own, wanted in zip(workload(), expected, strict=True):
            tolerance = 1e-9 if own.dtype == np.float64 else 1e-4
            if not np.allclose(own, wanted, rtol=tolerance, atol=tolerance):
                raise ValueError(f"{name} and {reference_name} compute different gradients")


def measure(workloads: Mapping[str, Workload], effort: Effort) -> dict[str, float]:
    """The median time of a call in seconds, by library."""
    calls, round_seconds = {}, 0.0
    for name, workload in workloads.items():
        calls[name], taken = _calls_within(workload, effort.seconds_per_round)
        round_seconds += calls[name] * taken
    rounds = max(FEWEST_ROUNDS, min(effort.rounds, int(effort.seconds / round_seconds)))
    times: dict[str, list[float]] = {name: [] for name in workloads}
    names = list(workloads)
    gc.collect()
    gc.disable()  # as timeit does
    try:
        for number in range(rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                times[name].append(_time(workloads[name], calls[name]))
    finally:
        gc.enable()
    return {name: median(samples) for name, samples in times.items()}


def _calls_within(workload: Workload, seconds: float) -> tuple[int, float]:
    """How many calls fill a round, and the time of one; warms caches up on the way."""
    calls = 1
    while (taken := _time(workload, calls)) * calls < seconds / 2:
        calls *= 2
    return max(1, round(seconds / taken)), taken


def _time(workload: Workload, calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        workload()
    return (perf_counter() - start) / calls
