"""The sampler of programs that divide a dataset among processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.missing import explaining as _explaining
from ...distributed import get_rank, get_world_size
from ...random import Generator, randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]

__getattr__ = _explaining(__name__)


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index, from `rank` on: the part of one process.

    All parts are as long: indices from the start are repeated, or left out with `drop_last`. The
    order of an epoch is drawn from `seed` and what `set_epoch` was given. Without
    `num_replicas` or `rank` the group of `gs.distributed` is asked; ValueError if there is none.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = get_world_size()
        if rank is None:
            rank = get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        whole, rest = divmod(len(dataset), num_replicas)
        self.num_samples = whole if drop_last or not rest else whole + 1
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        length = len(self.dataset)
        indices = list(range(length))
        if self.shuffle:
            source = Generator()
            source.manual_seed(self.seed + self.epoch)
            indices = randperm(length, generator=source).tolist()
        if length:
            indices = [indices[place % length] for place in range(self.total_size)]
        return iter(indices[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the next order be that of an epoch."""
        self.epoch = epoch
