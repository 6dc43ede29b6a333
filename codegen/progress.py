"""The progress bar of a run: shown on a terminal, silent elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .prove.verdict import OpVerdict
from .spec.model import OpSpec


class ProofProgress:
    """One step an op; the name of the last one proved stands beside the bar."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("Proving"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[last]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: int | None = None

    def __enter__(self) -> ProofProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._progress.stop()

    def begin(self, stale: Sequence[OpSpec]) -> None:
        """So many ops have to be proved."""
        if stale:
            self._task = self._progress.add_task("", total=len(stale), last="")
            self._progress.start()

    def advance(self, verdict: OpVerdict) -> None:
        """One op is done."""
        if self._task is not None:
            self._progress.update(self._task, advance=1, last=f"{verdict.name}: {verdict.status}")
