"""Two processes with DTensors of generated ops: `python sharded_whole.py FOLDER PACKAGE`."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from typing import Any

import torch
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

SIZE = 2


def answers(rank: int, folder: str, package: str, store: str) -> None:
    """Print what the ops give on shards, beside what they give on the whole."""
    sys.path.insert(0, folder)
    distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=SIZE
    )
    mesh = init_device_mesh("cpu", (SIZE,))
    ops = importlib.import_module(package)
    ops.register_sharding()
    torch.manual_seed(0)
    x = torch.randn(4, 6, dtype=torch.float64)
    weight = torch.randn(6, dtype=torch.float64)
    cases: list[tuple[str, Any, tuple[Any, ...], tuple[Any, ...]]] = [
        ("whole_cap", (x,), (Shard(0),), (3.0,)),
        ("whole_cap", (x,), (Shard(1),), (3.0,)),
        ("whole_norm", (x, weight), (Shard(0), Replicate()), ()),
        ("whole_norm", (x, weight), (Shard(1), Replicate()), ()),
        ("whole_norm", (x[0].contiguous(), weight), (Shard(0), Shard(0)), ()),
        ("whole_flip", (x,), (Shard(0),), ()),
        ("gated", (x, x + 1), (Shard(0), Shard(0)), ()),
    ]
    for name, tensors, places, further in cases:
        whole = [t.clone().requires_grad_() for t in tensors]
        parts = [
            distribute_tensor(t.clone(), mesh, [place]).requires_grad_()
            for t, place in zip(tensors, places, strict=True)
        ]
        expected, found = (getattr(ops, name)(*given, *further) for given in (whole, parts))
        expected, found = (r if isinstance(r, tuple) else (r,) for r in (expected, found))
        sum((each * each).sum() for each in expected).backward()
        sum((each * each).sum() for each in found).backward()
        pairs = [*zip(found, expected, strict=True)]
        pairs += [(part.grad, t.grad) for part, t in zip(parts, whole, strict=True)]
        is_same = all(torch.allclose(part.full_tensor(), t) for part, t in pairs)
        if rank == 0:
            shown = " ".join(map(str, places))
            print(f"{name} of {shown}: {found[0].placements[0]} {is_same}", flush=True)
    distributed.barrier()  # a process that ends early takes the store of the others along
    distributed.destroy_process_group()
    os._exit(0)  # threads of gloo may still run, and end the process otherwise (SIGABRT)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as place:
        torch.multiprocessing.spawn(
            answers, (*sys.argv[1:3], os.path.join(place, "store")), nprocs=SIZE
        )
