"""Programs for several processes, run as one: as in PyTorch with a group of one process."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def test_a_group_of_one(torch: Any, tmp_path: Any) -> None:
    def behaviour(library: Any) -> Any:
        dist = import_module(f"{library.__name__}.distributed")
        before = [dist.is_initialized(), attempt(dist.get_rank), attempt(dist.barrier)]
        store = tmp_path / library.__name__
        dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
        try:
            x, y = library.arange(3.0), library.zeros(3)
            parts, objects = [library.zeros(3)], [None]
            done = [
                dist.all_reduce(x),
                dist.all_reduce(x, op=dist.ReduceOp.MAX, async_op=True).wait(),
                dist.broadcast(x, src=0),
                dist.reduce(x, 0),
                dist.all_gather(parts, x),
                dist.all_gather_into_tensor(y, x),
                dist.all_gather_object(objects, {"a": 1}),
                dist.scatter(y, [x + 1]),
            ]
            sampler = import_module(f"{library.__name__}.utils.data.distributed")
            indices = list(sampler.DistributedSampler(range(5), shuffle=False))
            state = [dist.get_rank(), dist.get_world_size(), dist.get_backend()]
            again = attempt(lambda: dist.init_process_group("gloo", rank=0, world_size=1))
        finally:
            dist.destroy_process_group()
        return [before, done[2:], x, y, parts, objects, indices, state, again, dist.is_available()]

    assert_same(behaviour, torch)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_a_module_that_would_be_spread(torch: Any, tmp_path: Any) -> None:
    def behaviour(library: Any) -> Any:
        dist = import_module(f"{library.__name__}.distributed")
        parallel = import_module(f"{library.__name__}.nn.parallel")
        store = tmp_path / library.__name__
        dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
        try:
            plain = library.nn.Linear(2, 1)
            with library.no_grad():
                plain.weight.copy_(library.arange(2.0))
                plain.bias.zero_()
            module = parallel.DistributedDataParallel(plain, find_unused_parameters=False)
            with module.no_sync():
                module(library.ones(3, 2)).sum().backward()
            module(library.ones(3, 2)).sum().backward()
            idle = attempt(lambda: parallel.DistributedDataParallel(library.nn.ReLU()))
            return [plain.weight.grad, list(module.state_dict()), module.module is plain, idle]
        finally:
            dist.destroy_process_group()

    assert_same(behaviour, torch)


def test_more_processes_are_refused() -> None:
    with pytest.raises(RuntimeError, match="world_size is 2"):
        gs.distributed.init_process_group("gloo", rank=0, world_size=2)
    assert not gs.distributed.is_initialized()


def _write(index: int, folder: str) -> None:
    with open(f"{folder}/{index}", "w", encoding="utf-8") as file:
        file.write(str(gs.ones(2).sum().item() + index))


def _fail(index: int) -> None:
    raise SystemExit(index + 3)


def test_processes_are_spawned(tmp_path: Any) -> None:
    gs.multiprocessing.spawn(_write, (str(tmp_path),), nprocs=2, start_method="spawn")
    assert [(tmp_path / name).read_text() for name in "01"] == ["2.0", "3.0"]
    started = gs.multiprocessing.spawn(_fail, nprocs=1, join=False, start_method="spawn")
    with pytest.raises(gs.multiprocessing.ProcessRaisedException, match="exit code 3"):
        started.join()
    assert gs.multiprocessing.cpu_count() > 0
