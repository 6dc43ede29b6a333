"""Datasets, samplers and loaders give PyTorch's batches; random ones every example once."""

from __future__ import annotations

import gc
import threading
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.utils.data import (
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)

from ..behaviours import assert_same, attempt

Pair = namedtuple("Pair", "a b")


class Frozen(Mapping):
    """A mapping that cannot be changed."""

    def __init__(self, items: dict[str, Any]) -> None:
        self.items_ = items

    def __getitem__(self, key: str) -> Any:
        return self.items_[key]

    def __iter__(self) -> Any:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)


class Named(list):
    """A list with a name."""

    def __init__(self, items: list[int], name: str) -> None:
        super().__init__(items)
        self.name = name


def data(library: Any) -> Any:
    return import_module(f"{library.__name__}.utils.data")


def pairs(library: Any, count: int = 10) -> Any:
    x = library.arange(count * 2).reshape(count, 2).double()
    return data(library).TensorDataset(x, library.arange(count))


def stream(library: Any, count: int = 7) -> Any:
    class Stream(data(library).IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(count))

        def __len__(self) -> int:
            return count

    return Stream()


LOADERS: dict[str, Any] = {
    "default": lambda m, lib: m.DataLoader(pairs(lib)),
    "batches": lambda m, lib: m.DataLoader(pairs(lib), batch_size=4),
    "dropped": lambda m, lib: m.DataLoader(pairs(lib), 4, drop_last=True),
    "examples": lambda m, lib: m.DataLoader(pairs(lib), None),
    "sampler": lambda m, lib: m.DataLoader(pairs(lib), 2, sampler=[3, 1, 2]),
    "batch sampler": lambda m, lib: m.DataLoader(pairs(lib), batch_sampler=[[1, 2], [5]]),
    "own batch": lambda m, lib: m.DataLoader(pairs(lib), 3, collate_fn=len),
    "stream": lambda m, lib: m.DataLoader(stream(lib), 3),
    "dropped stream": lambda m, lib: m.DataLoader(stream(lib), 3, drop_last=True),
    "stream of examples": lambda m, lib: m.DataLoader(stream(lib), None),
    "both": lambda m, lib: m.DataLoader(pairs(lib, 3) + pairs(lib, 2), 2),
    "both streams": lambda m, lib: m.DataLoader(stream(lib, 3) + stream(lib, 2), 2),
    "part": lambda m, lib: m.DataLoader(m.Subset(pairs(lib), [4, 0, 2]), 2),
    "texts": lambda m, lib: m.DataLoader(["a", "b", "c"], 2),
    "numbers": lambda m, lib: m.DataLoader([1.5, 2.5, 3.5], 2),
    "dicts": lambda m, lib: m.DataLoader([{"a": 1, "b": (2.0, [True])}] * 3, 2),
    "side by side": lambda m, lib: m.DataLoader(m.StackDataset(x=range(4), y="abcd"), 2),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", LOADERS)
def test_batches(torch, name):
    def behaviour(library: Any) -> Any:
        loader = LOADERS[name](data(library), library)
        return [len(loader), list(loader), list(loader)]

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_collated_containers(torch):
    def behaviour(library: Any) -> Any:
        collate, convert = data(library).default_collate, data(library).default_convert
        examples = [
            [np.float32(1), np.float32(2)],
            [np.ones(2), np.zeros(2)],
            [library.ones(2), library.zeros(2)],
            [Pair(1, 2.0), Pair(3, 4.0)],
            [OrderedDict(b=1, a=2), OrderedDict(b=3, a=4)],
            [True, False],
            [b"x", b"y"],
            [1, 2.5],
            [(1, "x"), (2, "y")],
            [np.str_("x"), np.str_("y")],
            [Frozen({"a": 1}), Frozen({"a": 2})],
            [range(2), range(2, 4)],
        ]
        return [
            [[type(c).__name__, c] for c in map(collate, examples)],
            attempt(lambda: collate([[1], [1, 2]])),
            attempt(lambda: collate([None, None])),
            attempt(lambda: collate([np.array(["a"])])),
            attempt(lambda: collate([library.ones(1), library.ones(2)])),
            attempt(lambda: collate([Named([1, 2], "x"), Named([3, 4], "y")]).name),
            convert({"a": np.ones(2), "b": (np.float64(2), "x", 3)}),
        ]

    def facts(library: Any) -> Any:
        found = behaviour(library)
        found[0] = [
            [n.replace("Tensor", "tensor"), dict(c) if isinstance(c, Frozen) else c]
            for n, c in found[0]
        ]
        return found

    assert_same(facts, torch)


def several(module: Any, count: int) -> Any:
    """A dataset that reads several examples at once, but no more than `count`."""

    class Several(module.Dataset):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> int:
            return index

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * index for index in indices[:count]]

    return Several()


def own_subset(module: Any) -> Any:
    class Own(module.Subset):
        def __getitem__(self, index: int) -> int:
            return index

    return Own(range(3), [0])


@pytest.mark.oracle
def test_datasets_and_samplers(torch):
    def behaviour(library: Any) -> Any:
        m = data(library)
        both = m.ConcatDataset([pairs(library, 2), pairs(library, 3)])
        sizes = [
            [len(part) for part in m.random_split(range(11), lengths)]
            for lengths in ([5, 6], [0.5, 0.25, 0.25], [0.1, 0.9])
        ]
        sampler = m.BatchSampler(m.SequentialSampler(range(7)), 3, False)
        return [
            both[3],
            both[-1],
            len(both),
            m.Subset(range(9), [4, 2])[1],
            sizes,
            list(sampler),
            len(sampler),
            len(m.BatchSampler(range(7), 3, True)),
            len(m.RandomSampler(range(5), num_samples=8)),
            attempt(lambda: m.TensorDataset(library.ones(2), library.ones(3))),
            attempt(lambda: m.ConcatDataset([])),
            attempt(lambda: m.ConcatDataset([stream(library)])),
            attempt(lambda: both[-9]),
            attempt(lambda: m.random_split(range(11), [5, 5])),
            attempt(lambda: m.StackDataset()),
            attempt(lambda: m.StackDataset([1], [1, 2])),
            attempt(lambda: m.StackDataset([1], a=[1])),
            m.StackDataset(range(4), "abcd").__getitems__([2, 0]),
            m.StackDataset(x=m.Subset(range(9), [5, 6]), y="ab").__getitems__([1]),
            attempt(lambda: m.StackDataset(several(m, 1)).__getitems__([0, 0])),
            m.Subset(several(m, 2), [3, 1]).__getitems__([1, 0]),
            attempt(lambda: own_subset(m)),
            attempt(lambda: len(m.ChainDataset([stream(library), range(2)]))),
            m.WeightedRandomSampler([1, 2.0], 1).weights,
            attempt(lambda: m.WeightedRandomSampler([1.0], 1, 1)),
            attempt(lambda: list(m.WeightedRandomSampler([-1.0, 2.0], 1))),
            attempt(lambda: list(m.WeightedRandomSampler([0.0, 0.0], 1))),
            attempt(lambda: list(m.WeightedRandomSampler([float("nan"), 1.0], 1))),
            attempt(lambda: list(m.WeightedRandomSampler([1.0, 2.0], 3, False))),
            attempt(lambda: m.RandomSampler(range(5), num_samples=0)),
            attempt(lambda: m.RandomSampler(range(0))),
            attempt(lambda: m.DataLoader([], shuffle=True)),
            attempt(lambda: list(m.DataLoader([]))),
            attempt(lambda: m.RandomSampler(range(5), replacement=1)),
            attempt(lambda: m.WeightedRandomSampler([1.0], 0)),
            attempt(lambda: m.WeightedRandomSampler([[1.0]], 1)),
            attempt(lambda: m.BatchSampler(range(3), 0, False)),
            attempt(lambda: m.BatchSampler(range(3), 1, 0)),
            attempt(lambda: m.Dataset()[0]),
        ]

    assert_same(behaviour, torch)


WRONG: list[dict[str, Any]] = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"persistent_workers": True},
    {"shuffle": True, "sampler": [1]},
    {"batch_sampler": [[1]], "batch_size": 2},
    {"batch_sampler": [[1]], "shuffle": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"num_workers": 1, "prefetch_factor": -1},
    {"multiprocessing_context": "fork"},
    {"num_workers": 1, "multiprocessing_context": "none"},
    {"num_workers": 1, "multiprocessing_context": 3},
]


@pytest.mark.oracle
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize(("length", "replicas"), [(10, 3), (9, 3), (2, 5), (0, 2)])
def test_parts_of_processes(torch, length, replicas, drop_last):
    def parts(library):
        sampler = library.utils.data.distributed.DistributedSampler
        made = [
            sampler(range(length), replicas, rank, shuffle=False, drop_last=drop_last)
            for rank in range(replicas)
        ]
        return [(list(each), len(each)) for each in made]

    assert parts(gs) == parts(torch)


def test_an_epoch_has_an_order_of_its_own_that_all_processes_know():
    made = [DistributedSampler(range(12), 3, rank, seed=4) for rank in range(3)]
    epochs = []
    for epoch in range(2):
        for sampler in made:
            sampler.set_epoch(epoch)
        parts = [list(sampler) for sampler in made]
        assert sorted(index for part in parts for index in part) == list(range(12))
        assert parts == [list(sampler) for sampler in made]
        epochs.append(parts)
    assert epochs[0] != epochs[1]


def test_a_part_has_to_be_named():
    with pytest.raises(ValueError, match="process group has not been initialized"):
        DistributedSampler(range(3))
    with pytest.raises(ValueError, match=r"Invalid rank 3.*\[0, 2\]"):
        DistributedSampler(range(3), 3, 3)


@pytest.mark.oracle
@pytest.mark.parametrize("options", WRONG, ids=str)
def test_wrong_options(torch, options):
    def behaviour(library: Any) -> Any:
        return [
            attempt(lambda: data(library).DataLoader([1, 2], **options)),
            attempt(lambda: data(library).DataLoader(stream(library), shuffle=True)),
            attempt(lambda: data(library).DataLoader(stream(library), sampler=[1])),
        ]

    assert_same(behaviour, torch)


def test_random_order():
    loader = DataLoader(range(20), 3, shuffle=True, generator=np.random.default_rng(5))
    first, second = (gs.cat(list(loader)).tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    again = DataLoader(range(20), 3, shuffle=True, generator=np.random.default_rng(5))
    assert gs.cat(list(again)).tolist() == first
    gs.manual_seed(1)
    seeded = gs.cat(list(DataLoader(range(20), 3, shuffle=True))).tolist()
    gs.manual_seed(1)
    assert gs.cat(list(DataLoader(range(20), 3, shuffle=True))).tolist() == seeded
    with pytest.raises(TypeError, match=r"generator is a Generator, or"):
        list(DataLoader(range(3), shuffle=True, generator=5))


def test_random_samplers():
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    twice = list(RandomSampler(range(4), num_samples=10))
    assert sorted(twice[:4]) == sorted(twice[4:8]) == [0, 1, 2, 3]
    assert len(twice) == 10
    assert set(RandomSampler(range(3), True, 100)) == {0, 1, 2}
    counts = Counter(WeightedRandomSampler(gs.tensor([0.0, 1.0, 3.0]), 4000))
    assert counts[0] == 0
    assert 2800 < counts[2] < 3200
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, False)) == [0, 1, 2]
    parts = random_split(range(10), [4, 6], np.random.default_rng(0))
    assert sorted([*parts[0], *parts[1]]) == list(range(10))


class Threads(Dataset):
    """Notes which thread reads each example."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seen: set[str] = set()
        self.workers: set[Any] = set()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        self.seen.add(threading.current_thread().name)
        info = get_worker_info()
        self.workers.add(None if info is None else (info.num_workers, info.dataset is self))
        return index


@pytest.mark.parametrize("workers", [1, 3])
def test_workers(workers):
    dataset = Threads(50)
    begun: list[int] = []
    loader = DataLoader(dataset, 4, num_workers=workers, worker_init_fn=begun.append)
    assert gs.cat(list(loader)).tolist() == list(range(50))
    assert threading.current_thread().name not in dataset.seen
    assert dataset.workers == {(workers, True)}
    assert sorted(begun) == list(range(len(begun)))
    assert get_worker_info() is None
    for batch in loader:  # left early
        assert batch.tolist() == [0, 1, 2, 3]
        break


def test_workers_of_streams():
    class Numbers(IterableDataset):
        def __iter__(self) -> Any:
            info = get_worker_info()
            assert info is not None
            return iter(range(info.id, 9, info.num_workers))

    assert gs.cat(list(DataLoader(Numbers(), 2, num_workers=3))).tolist() == list(range(9))


def test_errors_of_workers():
    class Broken(Threads):
        def __getitem__(self, index: int) -> int:
            if index == 5:
                raise KeyError("five")
            return index

    with pytest.raises(KeyError, match="five"):
        list(DataLoader(Broken(9), num_workers=2))
    wait = threading.Event()

    class Slow(Threads):
        def __getitem__(self, index: int) -> int:
            wait.wait(5)
            return index

    with pytest.raises(RuntimeError, match="timed out after"):
        list(DataLoader(Slow(3), num_workers=1, timeout=0.05))
    wait.set()


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_after_an_error(workers):
    class Odd(Threads):
        def __getitem__(self, index: int) -> int:
            if index % 2 == 0:
                raise KeyError(index)
            return index

    batches = iter(DataLoader(Odd(9), None, num_workers=workers))
    found: list[int] = []
    for index in range(9):
        if index % 2:
            found.append(next(batches))
        else:
            with pytest.raises(KeyError, match=str(index)):
                next(batches)
    assert found == [1, 3, 5, 7]
    assert next(batches, None) is None


def loading_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("DataLoader")]


@pytest.mark.parametrize("ending", ["at the end", "early", "by an error"])
def test_threads_end_with_their_iterator(ending):
    class Last(Threads):
        def __getitem__(self, index: int) -> int:
            if index == 8 and ending == "by an error":
                raise KeyError(index)
            return index

    def load() -> None:
        for index in DataLoader(Last(9), None, num_workers=2):
            if index == 3 and ending == "early":
                return

    gc.collect()
    gc.disable()
    try:
        if ending == "by an error":
            with pytest.raises(KeyError):
                load()
        else:
            load()
        for thread in loading_threads():
            thread.join(5)
        assert loading_threads() == []
    finally:
        gc.enable()


def test_an_error_before_the_first_batch():
    def fail(number: int) -> None:
        raise OSError(f"no disk for {number}")

    batches = iter(DataLoader(range(3), num_workers=2, worker_init_fn=fail))
    with pytest.raises(OSError, match="no disk for 0"):
        next(batches)


@pytest.mark.parametrize("kind", ["examples", "stream"])
def test_random_numbers_of_workers(kind):
    """They are those of a worker's seed, whichever is the fastest; the others are not disturbed."""

    class Noise(Threads):
        def __getitem__(self, index: int) -> float:
            return gs.rand(()).item()

    class Stream(IterableDataset):
        def __iter__(self) -> Any:
            return (gs.rand(()).item() for _ in range(9))

    dataset = Noise(9) if kind == "examples" else Stream()
    gs.manual_seed(3)
    first = gs.cat(list(DataLoader(dataset, 2, num_workers=3))).tolist()
    after = gs.rand(()).item()
    gs.manual_seed(3)
    assert gs.cat(list(DataLoader(dataset, 2, num_workers=3))).tolist() == first
    assert gs.rand(()).item() == after
    assert len(set(first)) == 9


def test_batches_as_soon_as_they_are_made():
    release = threading.Event()

    class First(Threads):
        def __getitem__(self, index: int) -> int:
            if index == 0:
                release.wait(5)
            return index

    batches = iter(DataLoader(First(4), None, num_workers=2, in_order=False, prefetch_factor=1))
    early = [next(batches) for _ in range(3)]
    release.set()
    assert early == [1, 2, 3]
    assert list(batches) == [0]


def test_a_stream_that_its_worker_divides():
    """The function for workers sees the only one that reads, and may change the dataset."""

    class Numbers(IterableDataset):
        end = 10

        def __iter__(self) -> Any:
            return iter(range(self.end))

    def begin(number: int) -> None:
        info = get_worker_info()
        assert info is not None
        info.dataset.end //= info.num_workers

    loader = DataLoader(Numbers(), None, num_workers=3, worker_init_fn=begin)
    assert list(loader) == list(range(10))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_that_is_longer_than_it_says(workers):
    class Numbers(IterableDataset):
        def __iter__(self) -> Any:
            return iter(range(3))

        def __len__(self) -> int:
            return 2

    loader = DataLoader(Numbers(), None, num_workers=workers)
    assert list(loader) == [0, 1, 2]
    assert len(loader) == 2
    batches = iter(loader)
    assert len(batches) == 2
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.warns(UserWarning, match=r"reported to be 2 .* but 3 samples have been fetched"):
        assert next(batches) == 2


@pytest.mark.parametrize("name", ["dataset", "batch_size", "sampler", "drop_last"])
def test_what_a_loader_is_made_of_stays(name):
    loader = DataLoader(range(3))
    with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader"):
        setattr(loader, name, None)
    loader.timeout = 5.0


def test_annotations():
    assert DataLoader[gs.Tensor].__origin__ is DataLoader


def test_weights_are_drawn_from_at_the_first_number():
    sampler = WeightedRandomSampler([1.0, 2.0, 3.0], 20)
    first, second = iter(sampler), iter(sampler)
    gs.manual_seed(0)
    numbers = list(first)
    gs.manual_seed(0)
    assert list(second) == numbers


def test_tensors_stay_connected():
    x = gs.ones(4, 2, requires_grad=True)
    for (batch,) in DataLoader(TensorDataset(x), 2):
        batch.sum().backward()
    assert x.grad.tolist() == gs.ones(4, 2).tolist()
