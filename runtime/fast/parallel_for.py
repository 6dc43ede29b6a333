"""Functions of single elements on large arrays: every core takes a part.

NumPy lets other threads run while it computes, so plain threads do. Of small arrays, handing the
work over would take longer than the work.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from .tuning import CHUNK, PARALLEL_SORT_MIN, PARALLEL_UFUNC_MIN

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array: TypeAlias = np.ndarray[Any, Any]


class _Role(threading.local):
    """The role of the current thread."""

    is_worker = False
    """Is it a worker? It must not wait for another worker, which may be itself."""


_role: Final = _Role()


def _become_worker() -> None:
    _role.is_worker = True


class _Workers:
    """The threads that help the one that asks; made when they are first needed."""

    def __init__(self) -> None:
        self.count = _cores()
        self.have_met_large = False
        """Has there been a large array? Only then are chains of large gradients looked for."""
        self._pool: ThreadPoolExecutor | None = None

    def meet_large(self) -> None:
        """Note that there are large arrays: the engine looks for chains of them from now on."""
        self.have_met_large = True

    def resize(self, count: int) -> None:
        """From now on `count` threads work, the one that asks among them."""
        self.count, self._pool = count, None

    def forget(self) -> None:
        """A forked process has none of its parent's threads."""
        self._pool = None

    def pool(self) -> ThreadPoolExecutor:
        """Return the threads that wait for work."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # few programs have large arrays

            others = max(1, self.count - 1)
            self._pool = ThreadPoolExecutor(others, "gradspec-elements", _become_worker)
        return self._pool


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_workers: Final = _Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.forget)


def get_num_threads() -> int:
    """Return the number of threads that share a large array: initially that of the cores."""
    return _workers.count


def have_met_large() -> bool:
    """Return whether this process has had an array of `PARALLEL_UFUNC_MIN` elements."""
    return _workers.have_met_large


def set_num_threads(num: int) -> None:
    """Let `num` threads work on one large array; with 1 nothing is shared.

    NumPy's products of matrices have threads of their own, which this does not count.
    RuntimeError for a number below 1.
    """
    if isinstance(num, bool) or not isinstance(num, int):
        raise TypeError(f"set_num_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _workers.resize(num)


def in_threads(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` of arrays of one shape and of numbers, a part of it in each thread.

    `function` treats every element by itself, as a ufunc does, and writes where `out` tells it to.
    One that is several steps gets a block at a time, so that all but the first find their values in
    the cache. Arrays that are small, of different shapes, not contiguous or of Python objects are
    left to it as they are.
    """
    count = _workers.count  # once: another thread may change it meanwhile
    large = (
        getattr(args[-1], "size", 0) >= PARALLEL_UFUNC_MIN
        or getattr(args[0], "size", 0) >= PARALLEL_UFUNC_MIN
    )
    if not large:
        return function(*args)
    _workers.meet_large()
    if count == 1:
        return function(*args)
    arrays = [arg for arg in args if isinstance(arg, np.ndarray) and arg.ndim]
    if not _divisible(arrays) or not _are_plain(args):
        return function(*args)
    flat = [arg.reshape(-1) if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]
    out = np.empty(arrays[0].size, function(*_part(flat, 0, 0)).dtype)

    def work(start: int, stop: int) -> None:
        length = stop - start if isinstance(function, np.ufunc) else CHUNK
        for begin in range(start, stop, length):
            end = min(begin + length, stop)
            function(*_part(flat, begin, end), out=out[begin:end])

    share(work, out.size, count)
    return out.reshape(arrays[0].shape)


def in_blocks(step: Callable[..., Array], *arrays: Array, row: int | None = None) -> Array:
    """`step(*arrays)` of arrays of one shape and dtype, which the result has too.

    Called for each block as `step(*parts, out)`, to write to `out`; so all that it does finds its
    values in the cache. Where `row` elements belong together the parts are matrices of whole rows,
    otherwise they are flat. Arrays that are not contiguous have no blocks.
    """
    size = arrays[0].size
    if size >= PARALLEL_UFUNC_MIN:
        _workers.meet_large()
    contiguous = all(array.flags.c_contiguous for array in arrays)
    if size <= CHUNK or not contiguous or not _are_plain(arrays):
        return step(*arrays)
    out = np.empty(arrays[0].shape, arrays[0].dtype)
    shape = (-1,) if row is None else (-1, row)
    parts = [array.reshape(shape) for array in (*arrays, out)]
    length = max(1, CHUNK // (row or 1))

    def work(start: int, stop: int) -> None:
        for begin in range(start, stop, length):
            end = min(begin + length, stop)
            step(*[part[begin:end] for part in parts])

    share(work, len(parts[0]), _workers.count if size >= PARALLEL_UFUNC_MIN else 1)
    return out


def along(function: Callable[[Array], Any], array: Array, dim: int) -> Any:
    """`function(array)`, which treats each line along `dim` by itself, a part of them in a thread.

    It answers an array or a tuple of arrays, with as many dimensions as `array` has.
    """
    count = _workers.count
    others = [0 if axis == dim else length for axis, length in enumerate(array.shape)]
    longest = max(others, default=0)
    if (
        array.size < PARALLEL_SORT_MIN
        or longest < count
        or count == 1
        or array.dtype.hasobject
        or not _are_plain((array,))
    ):
        return function(array)
    axis = others.index(longest)
    found: dict[int, Any] = {}

    def work(start: int, stop: int) -> None:
        found[start] = function(array[(slice(None),) * axis + (slice(start, stop),)])

    share(work, longest, count)
    parts = [found[start] for start in sorted(found)]
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(each, axis) for each in zip(*parts, strict=True))
    return np.concatenate(parts, axis)


def share(work: Callable[[int, int], None], size: int, count: int | None = None) -> None:
    """Run `work(start, stop)` for parts of `size` elements in `count` threads; None: in all."""
    if count is None:
        count = _workers.count
    if _role.is_worker:
        work(0, size)
        return
    bounds = [size * nr // count for nr in range(count + 1)]
    # A copy of the context each, because that is where `np.errstate` is kept.
    others = [
        _workers.pool().submit(copy_context().run, work, start, stop)
        for start, stop in pairwise(bounds[1:])
    ]
    try:
        work(bounds[0], bounds[1])
    finally:
        raised = [other.exception() for other in others]
    for error in raised:
        if error is not None:
            raise error


def _divisible(arrays: list[Array]) -> bool:
    shape = arrays[0].shape
    return all(
        array.shape == shape and array.flags.c_contiguous and not array.dtype.hasobject
        for array in arrays
    )


def _are_plain(args: Sequence[Any]) -> bool:
    """Return whether no array is of a class of its own: of symbols, or one that is recorded."""
    return all(type(arg) is np.ndarray for arg in args if isinstance(arg, np.ndarray))


def _part(args: list[Any], start: int, stop: int) -> list[Any]:
    return [arg[start:stop] if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]
