"""Measurements that need a fresh process: import time, memory, and the generator's times."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from .libraries import Library

ROOT = Path(__file__).parents[1]

IMPORT = "from time import perf_counter as now; start = now(); import {}; print(now() - start)"


def import_times(libraries: Sequence[Library], processes: int) -> dict[str, float]:
    """Seconds that `import` takes in a fresh process; an import before has left bytecode."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    interleaved(libraries, 1, lambda library: _import_time(library, environment))
    return interleaved(libraries, processes, lambda library: _import_time(library, environment))


def import_times_without_bytecode(libraries: Sequence[Library], processes: int) -> dict[str, float]:
    """The same where every module, Python's own too, is compiled from source."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": empty, "PYTHONDONTWRITEBYTECODE": "1"}
        return interleaved(libraries, processes, lambda library: _import_time(library, environment))


def memory_peaks(workload: str, libraries: Sequence[Library], processes: int) -> dict[str, float]:
    """Bytes that training steps need: see `benchmarks.memory`."""
    return interleaved(
        libraries,
        processes,
        lambda library: float(output("-m", "benchmarks.memory", library.name, workload)),
    )


def codegen_times(processes: int) -> dict[str, float]:
    """Seconds of `gradspec codegen` with no lock (every formula is proved) and with nothing to do.

    It works on a copy of the specs; cold is measured once.
    """
    with tempfile.TemporaryDirectory() as folder:
        specs = Path(folder) / "specs"
        shutil.copytree(ROOT / "specs", specs)
        (specs / "proofs.lock").unlink()
        command = ["-m", "gradspec_codegen", "codegen", str(specs / "derivatives.yaml")]
        command += ["--out", str(Path(folder) / "generated"), "--package", "gradspec.generated"]
        cold = _wall_time(command)
        return {"cold": cold, "warm": median(_wall_time(command) for _ in range(processes))}


def interleaved(
    libraries: Sequence[Library], processes: int, measure: Callable[[Library], float]
) -> dict[str, float]:
    """The median of a figure by library name; the libraries take turns."""
    figures: dict[str, list[float]] = {library.name: [] for library in libraries}
    for _ in range(processes):
        for library in libraries:
            figures[library.name].append(measure(library))
    return {name: median(values) for name, values in figures.items()}


def output(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Return the output of Python with these arguments; RuntimeError with its errors."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        check=False,
    )
    if done.returncode:
        command = " ".join(["python", *arguments])
        raise RuntimeError(f"`{command}` ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def _import_time(library: Library, environment: dict[str, str]) -> float:
    return float(output("-c", IMPORT.format(library.module), environment=environment))


def _wall_time(arguments: list[str]) -> float:
    start = time.perf_counter()
    output(*arguments)
    return time.perf_counter() - start
