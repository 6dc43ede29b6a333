"""How the elements of a tensor lie in memory: what `memory_format` arguments say."""

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


def wanted_order(memory_format: memory_format | None, array: Any) -> str | None:
    """The order that `array` would have to be copied into; None if it may stay as it is.

    As in PyTorch, an array in neither order passes for a contiguous one. TypeError for what is no
    memory format, RuntimeError for one that does not fit the dimensions.
    """
    if memory_format is None or memory_format == preserve_format:
        return None
    if memory_format == contiguous_format:
        return str(contiguous_format) if _has_channels_last(array) else None
    if memory_format not in _DIMENSIONS:
        raise TypeError(f"memory_format must be gradspec.memory_format, not {memory_format!r}")
    if array.ndim != _DIMENSIONS[memory_format]:
        raise RuntimeError(
            f"required rank {_DIMENSIONS[memory_format]} tensor to use {memory_format} format"
        )
    return None if _has_channels_last(array) else str(memory_format)


def _has_channels_last(array: Any) -> bool:
    if array.ndim not in _DIMENSIONS.values() or array.flags.c_contiguous:
        return False
    order = (0, *range(2, array.ndim), 1)
    return bool(array.transpose(order).flags.c_contiguous)
