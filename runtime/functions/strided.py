"""Tensors on the memory of others at any strides: `as_strided` and what goes with it.

The storage of a tensor is here the memory that its base covers, and begins at its lowest element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..batching.batched import Batched, batch
from ..core.storage import base_of
from ..core.tensor import Tensor, normalize_dim
from ..dispatch.registry import ops
from ..dtypes.whole_numbers import whole_number
from ..inplace.keywords import accepts_numpy_names


def storage_offset(input: Tensor) -> int:
    """Return how many elements of the storage lie before the first one of the tensor."""
    while isinstance(input, Batched):
        input = input.physical
    first = input.array.__array_interface__["data"][0]
    lowest, _ = _span(_memory(input))
    return int((first - lowest) // max(input.array.itemsize, 1))


def as_strided(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a view of the storage with `size` and `stride`, from element `storage_offset` on.

    Without an offset it begins where `input` does. Elements of the view that share memory add up
    in the gradient; those of the storage that `input` does not show have none. RuntimeError for
    what leads out of the storage.
    """
    if isinstance(input, Batched):  # a view of all examples, so that writes reach them
        examples = input.physical
        if examples.stride(0) == 0 and input.level.size > 1:  # one memory, but not one gradient
            each = [as_strided(one, size, stride, storage_offset) for one in ops.unbind(examples)]
            return batch(ops.stack(each), input.level)
        shape, strides = [input.level.size, *size], [cast("int", examples.stride(0)), *stride]
        return batch(as_strided(examples, shape, strides, storage_offset), input.level)
    return ops._as_strided(input, *_places(input, size, stride, storage_offset))


def as_strided_(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Make `input` itself another view of its storage: see `as_strided`."""
    return input.as_strided_(size, stride, storage_offset)


def as_strided_copy(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy of what `as_strided` views."""
    return ops._as_strided_copy(input, *_places(input, size, stride, storage_offset))


def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy of `input` with `src` where `as_strided` would view it.

    RuntimeError if two elements of `src` would be written to one place.
    """
    return ops._as_strided_scatter(input, src, *_places(input, size, stride, storage_offset))


@accepts_numpy_names
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return parts as those of `chunk`, each on memory of its own."""
    chunks = whole_number("unsafe_chunk", "chunks", chunks)
    dim = whole_number("unsafe_chunk", "dim", dim)
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = input.shape[normalize_dim(dim, input.ndim)]
    if not length:
        return ops.unsafe_split_with_sizes(input, [0] * chunks, dim)
    return ops.unsafe_split(input, -(-length // chunks), dim)


def _places(
    input: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> tuple[list[int], list[int], int, list[int]]:
    """Check the geometry; return it with the offset from the tensor and the tensor's strides."""
    size, stride = [*size], [*stride]
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    for name, numbers in (("sizes", size), ("strides", stride)):
        if min(numbers, default=0) < 0:
            raise RuntimeError(
                f"as_strided: Negative {name} are not supported at the moment, got {name}: "
                f"{numbers}"
            )
    physical, batches = input, 0
    while isinstance(physical, Batched):
        physical, batches = physical._physical, batches + 1
    array = physical.array
    item = max(array.itemsize, 1)
    own = [step // item for step in array.strides[batches:]]
    before = storage_offset(physical)
    shift = 0 if offset is None else offset - before
    if 0 not in size:
        _check_reach(physical, size, stride, before + shift, batches)
    return size, stride, shift, own


def _check_reach(
    tensor: Tensor, size: list[int], stride: list[int], offset: int, batches: int
) -> None:
    lowest, end = _span(_memory(tensor))
    array = tensor.array
    item = max(array.itemsize, 1)
    reach = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    reach += sum(
        (length - 1) * step // item
        for length, step in zip(array.shape[:batches], array.strides[:batches], strict=True)
    )
    if offset < 0 or reach >= (end - lowest) // item:
        raise RuntimeError(
            f"setStorage: sizes {size}, strides {stride}, storage offset {offset} require a "
            f"storage of {(reach + 1) * item} bytes, out of bounds for one of {end - lowest} bytes"
        )


def _memory(tensor: Tensor) -> Any:
    """Return the array that the storage of a tensor is: its base's, or what that is detached of."""
    base = base_of(tensor)
    array: Any = (tensor if base is None else base).array
    whole = getattr(tensor.alias, "memory", None)
    if whole is None:
        return array
    (lowest, end), (first, behind) = _span(whole), _span(array)
    return whole if lowest <= first and behind <= end else array  # not where it was replaced


def _span(array: Any) -> tuple[int, int]:
    """Return the addresses of the first byte of an array, and of the first one behind it."""
    first = array.__array_interface__["data"][0]
    reach = [(length - 1) * step for length, step in zip(array.shape, array.strides, strict=True)]
    if not array.size:
        return first, first
    before = sum(step for step in reach if step < 0)
    return first + before, first + sum(step for step in reach if step > 0) + array.itemsize


class StridedMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    storage_offset = storage_offset
    as_strided = as_strided
    as_strided_scatter = as_strided_scatter
    unsafe_chunk = unsafe_chunk
