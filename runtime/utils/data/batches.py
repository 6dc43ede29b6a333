"""Iteration over the batches of a loader: in the calling thread, or ahead of it by workers."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ...core.random_generator import Generator, drawing_from
from ...core.user_warnings import warn
from .dataset import random_source

if TYPE_CHECKING:
    from .dataloader import DataLoader

Fetch = Callable[[Any], Any]
"""Makes a batch of what the sampler gave; StopIteration where a stream has ended."""


@dataclass(frozen=True)
class WorkerInfo:
    """A worker: its number, of how many, its seed, and the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker: Final = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """Return what a worker is, in one; None elsewhere."""
    return getattr(_worker, "info", None)


# ---- batches


class Batches:
    """Base of iterators over the batches of a loader; an error leaves those that follow."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._indices: Iterator[Any] = iter(loader.indices)
        self._yielded = 0
        self._length = loader.stream_length

    def __iter__(self) -> Batches:
        return self

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        batch = self._next()
        self._yielded += 1
        if self._length is not None and self._yielded > self._length:
            warn(
                f"Length of IterableDataset {self._loader.dataset} was reported to be "
                f"{self._length} (when accessing len(dataloader)), but {self._yielded} samples "
                "have been fetched."
            )
        return batch

    def _next(self) -> Any:
        raise NotImplementedError


class BatchesHere(Batches):
    """Batches that are made in the calling thread, when they are asked for."""

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        self._fetch = fetcher(loader)

    def _next(self) -> Any:
        return self._fetch(next(self._indices))


class BatchesAhead(Batches):
    """Batches that workers make ahead, some for each; they come in order unless told otherwise.

    A worker gets its next batch to make when one of its own is taken: so each makes the same ones,
    and draws the same random numbers, whichever thread is the fastest.
    """

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(loader)
        seed = int(random_source(loader.generator).integers(2**62))
        # Workers would each read all of a stream: one of them reads, the others are not needed.
        count = 1 if loader.is_stream else loader.num_workers
        infos = [WorkerInfo(i, count, seed + i, loader.dataset) for i in range(count)]
        self._workers = [Worker(info, loader) for info in infos]
        self._waiting: deque[tuple[Worker, Future[Any]]] = deque()
        weakref.finalize(self, _stop, self._workers)
        for number in range(loader.num_workers * (loader.prefetch_factor or 1)):
            self._begin(self._workers[number % count])

    def _begin(self, worker: Worker) -> None:
        for index in islice(self._indices, 1):
            self._waiting.append((worker, worker.make(index)))

    def _next(self) -> Any:
        if not self._waiting:
            _stop(self._workers)
            raise StopIteration
        worker, made = self._take()
        try:
            batch = made.result()
        except StopIteration:
            self._waiting.clear()
            return self._next()
        except BaseException:
            self._begin(worker)
            raise
        finally:
            del made  # it and its error would keep each other, and this iterator
        self._begin(worker)
        return batch

    def _take(self) -> tuple[Worker, Future[Any]]:
        """Wait for the next batch, or for any if they need not come in order."""
        in_order, timeout = self._loader.in_order, self._loader.timeout
        wanted = [self._waiting[0][1]] if in_order else [made for _, made in self._waiting]
        done = wait(wanted, timeout or None, FIRST_COMPLETED).done
        if not done:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds")
        taken = next(each for each in self._waiting if each[1] in done)
        self._waiting.remove(taken)
        return taken


def _stop(workers: list[Worker]) -> None:
    for worker in workers:
        worker.stop()


class Worker:
    """A thread that makes batches, one after the other, with random numbers of its own."""

    def __init__(self, info: WorkerInfo, loader: DataLoader) -> None:
        self._info = info
        self._loader = loader
        self._generator = Generator().manual_seed(info.seed)
        self._executor = ThreadPoolExecutor(1, f"DataLoader_{info.id}")
        self._fetch = self._executor.submit(self._prepare)

    def _prepare(self) -> Fetch:
        _worker.info = self._info
        with drawing_from("DataLoader", self._generator):
            if self._loader.worker_init_fn is not None:
                self._loader.worker_init_fn(self._info.id)
            return fetcher(self._loader)

    def _make(self, index: Any) -> Any:
        fetch = self._fetch.result()  # what failed in the preparation fails in every batch
        with drawing_from("DataLoader", self._generator):
            return fetch(index)

    def make(self, index: Any) -> Future[Any]:
        """Begin to make a batch, after those that were begun before."""
        return self._executor.submit(self._make, index)

    def stop(self) -> None:
        """Let the thread end after the batch that it makes."""
        self._executor.shutdown(wait=False, cancel_futures=True)


# ---- what makes a batch


def fetcher(loader: DataLoader) -> Fetch:
    """Return what makes the batches of a loader; of a stream, beginning at its first example."""
    dataset, collate, size = loader.dataset, loader.collate_fn, loader.batch_size
    if loader.is_stream:
        examples = iter(dataset)
        if size is None:
            return lambda _: collate(next(examples))
        return lambda _: collate(_take_from(examples, size, loader.drop_last))
    if loader.batch_sampler is None:
        return lambda index: collate(dataset[index])
    several = getattr(dataset, "__getitems__", None)
    if several:
        return lambda indices: collate(several(indices))
    return lambda indices: collate([dataset[index] for index in indices])


def _take_from(examples: Iterator[Any], size: int, drop_last: bool) -> list[Any]:
    batch = list(islice(examples, size))
    if not batch or (drop_last and len(batch) < size):
        raise StopIteration
    return batch
