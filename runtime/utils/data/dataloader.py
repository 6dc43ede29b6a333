"""The loader of batches, in the calling thread or by worker threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from .collate import default_collate, default_convert
from .dataset import IterableDataset, random_source
from .sampler import BatchSampler, RandomSampler, SequentialSampler


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


class DataLoader:
    """Batches of the examples of a dataset, in an order, as one tensor for each part.

    `sampler` gives the order, `shuffle` is short for a random one; `batch_sampler` gives whole
    batches, and excludes the other options. `batch_size=None` gives single examples. `collate_fn`
    makes a batch of a list of examples. `generator` is a `numpy.random.Generator`.

    With `num_workers` batches are made ahead, `prefetch_factor` for each worker, by threads: that
    helps where examples wait for files, or NumPy works on large arrays. An iterable dataset is read
    by one of them. `timeout` is in seconds. `pin_memory`, `persistent_workers`,
    `multiprocessing_context` and `pin_memory_device` are accepted, and change nothing.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable workers."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified with num_workers > 0")
        if num_workers == 0 and persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._is_iterable = isinstance(dataset, IterableDataset)
        if self._is_iterable:
            _refuse_for_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None and not self._is_iterable:
            chosen = RandomSampler(dataset, generator=generator) if shuffle else None
            sampler = chosen or SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler or (), batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (
            default_convert if batch_sampler is None else default_collate
        )

    def __iter__(self) -> Iterator[Any]:
        jobs = self._iterable_jobs() if self._is_iterable else self._indexed_jobs()
        return self._by_workers(jobs) if self.num_workers else (job() for job in jobs)

    def __len__(self) -> int:
        if not self._is_iterable:
            indices: Any = self.sampler if self.batch_sampler is None else self.batch_sampler
            return len(indices)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        whole, rest = divmod(count, self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def _indexed_jobs(self) -> Iterator[Callable[[], Any]]:
        """Iterate over functions that make one batch each."""
        if self.batch_sampler is None:
            for index in self.sampler or ():
                yield partial(self._one, index)
        else:
            for indices in self.batch_sampler:
                yield partial(self._several, indices)

    def _one(self, index: Any) -> Any:
        return self.collate_fn(self.dataset[index])

    def _several(self, indices: Any) -> Any:
        several = getattr(self.dataset, "__getitems__", None)
        examples = several(indices) if several else [self.dataset[index] for index in indices]
        return self.collate_fn(examples)

    def _iterable_jobs(self) -> Iterator[Callable[[], Any]]:
        if self.num_workers:
            # Workers would each read everything: one of them reads, the others are not needed.
            info = WorkerInfo(0, 1, 0, self.dataset)
            examples = iter(_in_worker(info, lambda: iter(self.dataset)))
        else:
            examples = iter(self.dataset)
        while True:
            if self.batch_size is None:
                batch = list(islice(examples, 1))
            else:
                batch = list(islice(examples, self.batch_size))
            if not batch or (self.drop_last and len(batch) < (self.batch_size or 1)):
                return
            given = batch[0] if self.batch_size is None else batch
            yield partial(self.collate_fn, given)

    def _by_workers(self, jobs: Iterator[Callable[[], Any]]) -> Iterator[Any]:
        """Iterate over the results of jobs, in order, some of them made ahead by threads."""
        seed = int(random_source(self.generator).integers(2**62))
        numbers = iter(range(self.num_workers))

        def begin() -> None:
            number = next(numbers)
            _worker.info = WorkerInfo(number, self.num_workers, seed + number, self.dataset)
            if self.worker_init_fn is not None:
                self.worker_init_fn(number)

        executor = ThreadPoolExecutor(self.num_workers, "DataLoader", begin)
        waiting: deque[Future[Any]] = deque()
        try:
            ahead = self.num_workers * (self.prefetch_factor or 1)
            waiting.extend(executor.submit(job) for job in islice(jobs, ahead))
            while waiting:
                try:
                    result = waiting.popleft().result(self.timeout or None)
                except TimeoutError:
                    raise RuntimeError(
                        f"DataLoader timed out after {self.timeout} seconds"
                    ) from None
                waiting.extend(executor.submit(job) for job in islice(jobs, 1))
                yield result
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _in_worker(info: WorkerInfo, function: Callable[[], Any]) -> Any:
    """Call a function where `get_worker_info` answers."""
    _worker.info = info
    try:
        return function()
    finally:
        _worker.info = None


def _refuse_for_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
