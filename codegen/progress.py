"""The progress bar of a run: shown on a terminal, silent elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


class ProofProgress:
    """One step a proof; what came of the last one stands beside the bar."""

    def __init__(self, verb: str = "Proving") -> None:
        self._progress = Progress(
            TextColumn(verb),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[last]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

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

    def begin(self, total: int) -> None:
        """Show the number of proofs to be made."""
        if total:
            self._task = self._progress.add_task("", total=total, last="")
            self._progress.start()

    def advance(self, last: str) -> None:
        """One is done."""
        if self._task is not None:
            self._progress.update(self._task, advance=1, last=last)
