"""The loader of batches: what is loaded, in which order, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from types import GenericAlias
from typing import Any, Final

from .batches import Batches, BatchesAhead, BatchesHere
from .batches import get_worker_info as get_worker_info
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

_FIXED: Final = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)
"""Attributes that a loader cannot change once it is made: the rest was derived from them."""


class DataLoader:
    """Batches of the examples of a dataset, in an order, as one tensor for each part.

    `sampler` gives the order, `shuffle` is short for a random one; `batch_sampler` gives whole
    batches, and excludes the other options. `batch_size=None` gives single examples. `collate_fn`
    makes a batch of a list of examples. `generator` is one of gradspec or of NumPy.

    With `num_workers` batches are made ahead, `prefetch_factor` for each worker, by threads: that
    helps where examples wait for files, or NumPy works on large arrays. An iterable dataset is read
    by one of them. Each draws from a generator of its own, seeded by `generator`. `timeout` is in
    seconds. Batches come in order; with `in_order=False`, as soon as they are made. An error in one
    of them is raised where it is its turn, and the iterator continues after it. `pin_memory`,
    `persistent_workers`, `multiprocessing_context` and `pin_memory_device` change nothing.
    """

    _is_made = False

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
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        _check_context(multiprocessing_context, num_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.is_stream = isinstance(dataset, IterableDataset)
        self.stream_length: int | None = None
        if self.is_stream:
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
        if sampler is None and not self.is_stream:
            chosen = RandomSampler(dataset, generator=generator) if shuffle else None
            sampler = chosen or SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(() if sampler is None else sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (
            default_convert if batch_sampler is None else default_collate
        )
        self._is_made = True

    def __class_getitem__(cls, example: Any) -> GenericAlias:
        """Let annotations say what the dataset gives: `DataLoader[Tensor]`."""
        return GenericAlias(cls, example)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def indices(self) -> Any:
        """Return what says which examples are in each batch; of a stream, None without end."""
        if self.is_stream:
            return repeat(None)
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Batches:
        return BatchesAhead(self) if self.num_workers else BatchesHere(self)

    def __len__(self) -> int:
        if not self.is_stream:
            return len(self.indices)
        count = self.stream_length = len(self.dataset)
        if self.batch_size is None:
            return count
        whole, rest = divmod(count, self.batch_size)
        return whole + bool(rest and not self.drop_last)


def _check_workers(count: int, timeout: float, prefetch: int | None, are_kept: bool) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable workers."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError("prefetch_factor option could only be specified with num_workers > 0")
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if count == 0 and are_kept:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_context(context: Any, num_workers: int) -> None:
    """Check the option that chooses how processes start, as in programs for PyTorch."""
    if context is None:
        return
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    import multiprocessing.context  # takes long, and only such programs need it

    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods!r}, "
            f"but got multiprocessing_context={context!r}"
        )
    if not isinstance(context, str | multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )


def _refuse_for_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
