"""PyTorch's `torch.distributed` for a group of one process: what is reduced stays what it is.

Programs that may be run by several processes run as one; a group of several is refused.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from typing import Any

from .core.missing import explaining as _explaining
from .core.modes import no_grad
from .core.tensor import Tensor

__getattr__ = _explaining(__name__)


class ReduceOp(Enum):
    """Reduce over processes: of one process, the result is its own value."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


class _Group:
    """The group of the one process that there is."""

    WORLD: Any = None


group = _Group
_backend: str | None = None


class Work:
    """A communication that is done."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True at once."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True


def is_available() -> bool:
    """Return True: there may be a group, of one process."""
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` was called."""
    return _backend is not None


def is_gloo_available() -> bool:
    """Return True: the backend of CPUs, which has nothing to do."""
    return True


def is_nccl_available() -> bool:
    """Return False: there are no GPUs."""
    return False


def is_mpi_available() -> bool:
    """Return False."""
    return False


def is_torchelastic_launched() -> bool:
    """Return whether `torchrun` has started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    **options: Any,
) -> None:
    """Begin a group of one process, of rank 0; RuntimeError for more of them.

    Without `world_size` the environment variable WORLD_SIZE counts, if there is one. ValueError if
    there is a group.
    """
    global _backend
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if world_size == -1:
        world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size != 1:
        raise RuntimeError(
            f"init_process_group(): world_size is {world_size}, but gradspec runs in one process: "
            "use world_size=1"
        )
    _backend = backend or "gloo"


def destroy_process_group(group: Any = None) -> None:
    """End the group."""
    global _backend
    _check()
    _backend = None


def new_group(ranks: Any = None, *_: Any, **__: Any) -> Any:
    """Return the one group that there is."""
    _check()
    return group


def get_backend(group: Any = None) -> str:
    """Return the name that was given; ValueError without a group."""
    _check()
    assert _backend is not None
    return _backend


def get_rank(group: Any = None) -> int:
    """Return 0; ValueError without a group."""
    _check()
    return 0


def get_world_size(group: Any = None) -> int:
    """Return 1; ValueError without a group."""
    _check()
    return 1


def barrier(group: Any = None, async_op: bool = False, **_: Any) -> Work | None:
    """Wait for no one."""
    return _done(async_op)


def broadcast(
    tensor: Tensor, src: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """Leave the tensor as it is, which is the one of rank 0."""
    return _done(async_op)


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Leave the tensor as it is: the reduction over one process."""
    return _done(async_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Leave the tensor as it is: the reduction over one process."""
    return _done(async_op)


def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensor into the only one of the list."""
    return _copy(tensor_list[0], tensor, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensor."""
    return _copy(output_tensor, input_tensor.view(output_tensor.shape), async_op)


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Copy the tensor into the only one of the list."""
    return _copy((gather_list or [tensor])[0], tensor, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Copy the only tensor of the list."""
    return _copy(tensor, (scatter_list or [tensor])[0], async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Put the object into the list."""
    _check()
    object_list[0] = obj


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Any = None) -> None:
    """Leave the list as it is."""
    _check()


def _copy(target: Tensor, source: Tensor, async_op: bool) -> Work | None:
    with no_grad():
        target.copy_(source)
    return _done(async_op)


def _done(async_op: bool) -> Work | None:
    _check()
    return Work() if async_op else None


def _check() -> None:
    if not is_initialized():
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
