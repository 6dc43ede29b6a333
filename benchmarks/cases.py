"""The rows of the table: the workloads, and what fresh processes tell."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .fresh import codegen_times, import_times, import_times_without_bytecode, memory_peaks
from .libraries import GRADSPEC, LIBRARIES, Library
from .race import Effort, race
from .report import Row
from .workload import Workload
from .workloads import WORKLOADS

Report = Callable[[str], None]
MEMORY = ("mlp-256-784-512-512-10", "lenet-32")
MEMORY_PROCESSES = 3
"""Memory hardly differs from run to run."""
ONE_IS_ENOUGH = ("torch-1", "torch-compile")
"""Libraries that differ from another by threads only: no rows of their own in fresh processes."""
IMPORTED_AS_ANOTHER = ("torch-1", "torch-compile", "compiled")
"""Those that differ in what is imported neither."""


@dataclass(frozen=True, slots=True)
class Case:
    """The names that `--case` takes."""

    name: str
    doc: str
    libraries: tuple[str, ...]
    """Return the libraries that can take part, installed or not; gradspec alone without a ratio."""
    measure: Callable[[Sequence[Library], Effort, Report], list[Row]]
    slow: bool = False
    """Left out of quick runs unless it is asked for by name."""


def _workload(workload: Workload) -> Case:
    def measure(libraries: Sequence[Library], effort: Effort, report: Report) -> list[Row]:
        seconds = race(workload, libraries, effort, report)
        return [Row(workload.name, workload.title, workload.doc, "s", seconds)]

    libraries = tuple(name for name in LIBRARIES if name not in workload.absent)
    return Case(workload.name, workload.doc, libraries, measure, workload.slow)


def _imports() -> Case:
    def measure(libraries: Sequence[Library], effort: Effort, report: Report) -> list[Row]:
        report("import: fresh processes")
        warm = import_times(libraries, effort.processes)
        few = [library for library in libraries if library.name in ("gradspec", "numpy")]
        cold = import_times_without_bytecode(few, effort.processes)
        return [
            Row("import", "import", "import, in a fresh process", "s", warm),
            Row(
                "import-cold",
                "import, no bytecode",
                "import where every module is compiled from source",
                "s",
                cold,
            ),
        ]

    imported = tuple(name for name in LIBRARIES if name not in IMPORTED_AS_ANOTHER)
    return Case("import", "time of `import` in fresh processes", imported, measure)


def _memory(workload: Workload) -> Case:
    name = f"memory-{workload.name}"

    def measure(libraries: Sequence[Library], effort: Effort, report: Report) -> list[Row]:
        report(f"memory of {workload.title}: fresh processes")
        peaks = memory_peaks(workload.name, libraries, MEMORY_PROCESSES)
        return [Row(name, f"memory, {workload.title}", f"memory peak: {workload.doc}", "B", peaks)]

    return Case(name, f"memory peak of: {workload.doc}", _ONCE, measure)


def _codegen() -> Case:
    def measure(libraries: Sequence[Library], effort: Effort, report: Report) -> list[Row]:
        report("codegen: every formula is proved")
        times = codegen_times(effort.processes)
        docs = {"cold": "every formula is proved", "warm": "nothing has changed"}
        return [
            Row(
                f"codegen-{key}",
                f"codegen, {key}",
                f"`gradspec codegen`, {docs[key]}",
                "s",
                {GRADSPEC.name: seconds},
            )
            for key, seconds in times.items()
        ]

    return Case("codegen", "time of `gradspec codegen`", (GRADSPEC.name,), measure, slow=True)


_ONCE = tuple(name for name in LIBRARIES if name not in ONE_IS_ENOUGH)
_HAS_RESOURCE = importlib.util.find_spec("resource") is not None  # not on Windows
CASES = {
    case.name: case
    for case in (
        *map(_workload, WORKLOADS.values()),
        _imports(),
        *(_memory(WORKLOADS[name]) for name in MEMORY if _HAS_RESOURCE),
        _codegen(),
    )
}
