"""First calls of compiled programs in fresh processes: `python -m benchmarks.first_call NAME...`.

Each turn is a process of its own that finds the programs of the one before in the disk cache. The
clock runs from before the first call to after its backward pass; that of the processor says what it
would take on a machine that does nothing else. What is imported before is reported apart: gradspec
with SciPy, which eager calls would load as well. The stages are measured in other turns, in time of
the processor, as a wrapper around each of them takes time, too; a stage is without those inside of
it.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

from .fresh import output
from .libraries import LIBRARIES
from .workloads import WORKLOADS, with_data

PROCESSES: Final = 10
PROGRAMS: Final = ("mlp-32-64-128-10", "lenet-32", "transformer-8-64-128")

STAGES: Final = {
    "sources": ("compiler.function", "CompiledFunction._sources"),
    "capture": ("compiler.function", "trace"),
    "engine": ("autograd.run_backward", "execute"),
    "key": ("compiler.c.plans", "plans_of"),
    "look-up": ("compiler.c.plans", "Plans.found"),
    "load": ("compiler.c.forms", "loaded"),
    "bind": ("compiler.c.forms", "connected"),
    "optimise": ("compiler.executable", "divided"),
    "lower": ("compiler.c.source", "unit_of"),
    "text": ("compiler.c.source", "written"),
    "build": ("compiler.c.toolchain", "program"),
    "prepare": ("compiler.function", "CompiledFunction._prepare"),
    "run": ("compiler.function", "_run"),
}
"""The functions that are stages, by modules of gradspec; `imports` are another one."""


def main(names: tuple[str, ...]) -> None:
    """Print the times of programs: the least, and the median."""
    for name in names or PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"XDG_CACHE_HOME": folder}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            cold = _turn(environment, name)  # which leaves bytecode, too
            calls = [_turn(environment, name) for _ in range(PROCESSES)]
            staged = [_turn(environment, name, "--stages") for _ in range(PROCESSES)]
        print(f"{WORKLOADS[name].title}: {1e3 * cold['call']:.0f} ms with an empty cache")
        for figure in calls[0]:
            _print_line(figure, [turn[figure] for turn in calls])
        for stage in ("imports", *STAGES):
            _print_line(f"  {stage}", [turn[stage] for turn in staged])


def _print_line(name: str, times: list[float]) -> None:
    print(
        f"  {name:<12}{1e3 * min(times):8.1f} ms at least,{1e3 * median(times):8.1f} in the median"
    )


def _turn(environment: dict[str, str], *arguments: str) -> dict[str, float]:
    figures: dict[str, float] = json.loads(
        output("-m", "benchmarks.first_call", "--turn", *arguments, environment=environment)
    )
    return figures


# ---- in a fresh process


def turn(name: str, *, with_stages: bool) -> None:
    """Print the times of this process, which has compiled nothing yet."""
    start = perf_counter()
    for module in ("gradspec.nn.functional", "gradspec.optim", "scipy.special"):
        importlib.import_module(module)
    figures = {"import": perf_counter() - start}
    run = LIBRARIES["compiled"].prepare(with_data(name))
    with _measured() if with_stages else _nothing() as stages:
        start, busy = perf_counter(), process_time()
        run()
        figures["call"] = perf_counter() - start
        figures["processor"] = process_time() - busy
    print(json.dumps(figures | dict(stages)))


@contextmanager
def _nothing() -> Iterator[Mapping[str, float]]:
    yield {}


@contextmanager
def _measured() -> Iterator[Mapping[str, float]]:
    """Measure stages, each without those that it calls."""
    found = dict.fromkeys(("imports", *STAGES), 0.0)
    inner: list[float] = []

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            inner.append(0.0)
            start = process_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = process_time() - start
                found[stage] += took - inner.pop()
                if inner:
                    inner[-1] += took

        return call

    left = dict(STAGES)

    def wrap() -> None:
        for stage, (module, path) in list(left.items()):
            holder: Any = sys.modules.get(f"gradspec.{module}")
            *outer, last = path.split(".")
            for part in outer:
                holder = getattr(holder, part, None)
            if hasattr(holder, last):
                setattr(holder, last, timed(stage, getattr(holder, last)))
                del left[stage]

    bootstrap: Any = importlib._bootstrap
    find_and_load = timed("imports", bootstrap._find_and_load)

    def load(*args: Any) -> Any:
        module = find_and_load(*args)
        wrap()
        return module

    wrap()
    bootstrap._find_and_load = load
    yield found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--turn"]:
        turn(sys.argv[2], with_stages="--stages" in sys.argv)
    else:
        main(tuple(sys.argv[1:]))
