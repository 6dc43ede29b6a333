"""PyTorch's `torch.multiprocessing`: Python's `multiprocessing`, and `spawn`.

Tensors that are sent to other processes are copied there, not shared.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403
from typing import Any

from .core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)


class ProcessRaisedException(Exception):
    """The exception of a process that `spawn` has started."""


class SpawnContext:
    """The processes that `spawn` has started."""

    def __init__(self, processes: Sequence[Any]) -> None:
        self.processes = list(processes)

    def pids(self) -> list[int]:
        """Return the numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait for the processes; return whether all have ended.

        ProcessRaisedException if one has failed.
        """
        for index, process in enumerate(self.processes):
            process.join(timeout)
            if process.exitcode:
                raise ProcessRaisedException(
                    f"process {index} terminated with exit code {process.exitcode}"
                )
        return all(process.exitcode is not None for process in self.processes)


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> SpawnContext | None:
    """Call `fn(index, *args)` in `nprocs` processes; wait for them, or return them."""
    context: Any = _multiprocessing.get_context(start_method)
    processes = [
        context.Process(target=fn, args=(index, *args), daemon=daemon) for index in range(nprocs)
    ]
    for process in processes:
        process.start()
    started = SpawnContext(processes)
    if not join:
        return started
    started.join()
    return None
