"""Datasets: examples by index, or one after the other."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from ...core.random_generator import Generator
from ...core.random_generator import generator as default_generator
from ...core.tensor import Tensor
from ...core.user_warnings import warn

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Base of datasets: subclasses define `__getitem__`, and usually `__len__`."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Base of datasets that are read one example after the other: subclasses define `__iter__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of one length: an example is the tuple of what they hold at an index."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset[Any]):
    """Datasets side by side: an example is a tuple, or a dict, of one of each."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = kwargs or args
        parts = list(kwargs.values()) or list(args)
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """Return several examples; ValueError where a dataset gives more or fewer."""
        if isinstance(self.datasets, dict):
            columns = [_column(dataset, indices) for dataset in self.datasets.values()]
            names = tuple(self.datasets)
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        columns = [_column(dataset, indices) for dataset in self.datasets]
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return self._length


def _examples(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    """Return several examples, at once if the dataset can."""
    several = getattr(dataset, "__getitems__", None)
    found: Sequence[Any] = (
        several(indices) if callable(several) else [dataset[index] for index in indices]
    )
    return found


def _column(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    """Return the examples to set beside those of others, as many as there are indices."""
    examples = _examples(dataset, indices)
    if len(examples) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(examples)}"
        )
    return examples


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        found: T_co = self.datasets[number][index - before]
        return found


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._streams():
            yield from dataset

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._streams())


class Subset(Dataset[T_co]):
    """The examples of a dataset at given indices.

    A subclass that defines `__getitem__` has to define `__getitems__`, too, which loaders call:
    NotImplementedError.
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        own = type(self)
        if own.__getitem__ is not Subset.__getitem__ and own.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{own.__name__} overrides __getitem__ but not __getitems__, by which a DataLoader "
                "reads whole batches: return [self[index] for index in indices] there"
            )
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[T_co]:
        """Return several examples."""
        return _examples(self.dataset, [self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Any = None
) -> list[Subset[Any]]:
    """Divide a dataset at random into subsets of given lengths, or of given parts of 1.

    Parts are rounded down, and what is left goes round to the first ones. `generator` draws the
    permutation: a NumPy generator, or None for that of gradspec. ValueError unless the lengths sum
    to that of the dataset.
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = []
        for index, part in enumerate(lengths):
            if not 0 <= part <= 1:
                raise ValueError(f"Fraction at index {index} is not between 0 and 1")
            counts.append(math.floor(total * part))
        for index in range(total - sum(counts)):
            counts[index % len(counts)] += 1
        for index, count in enumerate(counts):
            if not count:
                warn(
                    f"Length of split at index {index} is 0. This might result in an empty dataset."
                )
    else:
        counts = [int(length) for length in lengths]
    if sum(counts) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = random_source(generator).permutation(total).tolist()
    ends = list(accumulate(counts))
    return [
        Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)
    ]


def random_source(generator: Any) -> np.random.Generator:
    """Return a NumPy generator: the given one, or that of gradspec; TypeError for another kind."""
    if generator is None:
        return default_generator()
    if not isinstance(generator, np.random.Generator):
        if isinstance(generator, Generator):
            return generator.numpy
        raise TypeError(
            f"generator is a Generator, or a numpy.random.Generator, not a "
            f"{type(generator).__name__}"
        )
    return generator
