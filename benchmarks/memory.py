"""Memory of a training step: `python -m benchmarks.memory LIBRARY NAME` prints bytes.

The peak of the process's memory, beyond what it was after steps of the same kind at a small size:
then the library's code is loaded, and what comes is parameters, data, gradients and temporaries.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .libraries import LIBRARIES
from .workloads import SMALL, WORKLOADS, with_data

STEPS = 3
"""A second step can need more than the first: the old gradients are still there."""


def main(library: str, name: str) -> None:
    """Measure in this process, which has to be fresh."""
    small = next(small for small in SMALL.values() if type(small) is type(WORKLOADS[name]))
    step(library, small.name)
    before = peak()
    step(library, name)
    print(peak() - before)


def step(library: str, name: str) -> None:
    """A few steps, from nothing."""
    run = LIBRARIES[library].prepare(with_data(name))
    for _ in range(STEPS):
        run()


def peak() -> int:
    """The most that this process has held in memory, in bytes.

    Linux's `ru_maxrss` would be no less than what the parent had held when it started this.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    from resource import RUSAGE_SELF, getrusage

    unit = 1 if sys.platform == "darwin" else 1024
    return getrusage(RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main(*sys.argv[1:])
