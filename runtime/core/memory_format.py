"""Memory formats: the order of the elements of a tensor in memory."""

from __future__ import annotations

from typing import Any, Final


class memory_format(str):  # PyTorch's name
    """One of the orders below."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"gradspec.{self}"


contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last")
channels_last_3d: Final = memory_format("channels_last_3d")

_DIMENSIONS: Final = {channels_last: 4, channels_last_3d: 5}


def outermost_first(memory_format: memory_format, ndim: int) -> tuple[int, ...] | None:
    """The dimensions as they follow in memory; None if the format is not one of that number.

    TypeError for what is no memory format.
    """
    if memory_format in (contiguous_format, preserve_format):
        return tuple(range(ndim))
    if memory_format not in _DIMENSIONS:
        raise TypeError(f"memory_format must be gradspec.memory_format, not {memory_format!r}")
    return (0, *range(2, ndim), 1) if ndim == _DIMENSIONS[memory_format] else None


def wanted_order(memory_format: memory_format | None, array: Any) -> str | None:
    """The order that `array` would have to be copied into; None if it may stay as it is.

    As in PyTorch, an array in neither order passes for a contiguous one. TypeError for what is no
    memory format, RuntimeError for one that does not fit the dimensions.
    """
    if memory_format is None or memory_format == preserve_format:
        return None
    if memory_format == contiguous_format:
        return str(contiguous_format) if _has_channels_last(array) else None
    if outermost_first(memory_format, array.ndim) is None:
        raise wrong_rank(memory_format)
    return None if _has_channels_last(array) else str(memory_format)


def _has_channels_last(array: Any) -> bool:
    if array.ndim not in _DIMENSIONS.values() or array.flags.c_contiguous:
        return False
    order = (0, *range(2, array.ndim), 1)
    return bool(array.transpose(order).flags.c_contiguous)


def wrong_rank(memory_format: memory_format) -> RuntimeError:
    """The error of a format that does not fit the dimensions."""
    return RuntimeError(
        f"required rank {_DIMENSIONS[memory_format]} tensor to use {memory_format} format"
    )
