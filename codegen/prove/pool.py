"""Pools of workers, whether on this machine or of a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Work: TypeAlias = Callable[[Item, Path, str, str], Answer]

OPS_PER_WORKER = 24
"""A worker takes about as long to start as to prove this many ops."""


class Pool(Protocol):
    """Workers that have imported one package."""

    def each(
        self,
        work: Work[Item, Answer],
        items: Sequence[Item],
        crashed: Callable[[Item, str], Answer],
    ) -> Iterator[tuple[int, Answer]]:
        """The answers with the numbers of their items, as they come."""
