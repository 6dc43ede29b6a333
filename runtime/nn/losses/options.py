"""PyTorch's options to split up large losses; here they are checked, and nothing is split."""

from __future__ import annotations

from typing import Any, NamedTuple

_POLICIES = ("auto", "accurate", "balanced", "compact")


class _Options(NamedTuple):
    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyOptions(_Options):
    """Options of `linear_cross_entropy` that save memory in PyTorch and change no result.

    ValueError for an `acc_policy`, `chunking_method` or `batch_chunk_size` that PyTorch refuses.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearCrossEntropyOptions:
        """Check the options."""
        self = super().__new__(cls, *args, **kwargs)
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}, give one of {_POLICIES}")
        if not _is_method(self.chunking_method):
            raise ValueError(
                f"invalid chunking_method: {self.chunking_method!r}, give 'auto', 'aspect_ratio', "
                "'aspect_ratio:N' or None"
            )
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size < 1):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        return self


def _is_method(text: str | None) -> bool:
    if text is None or text == "auto":
        return True
    name, colon, number = text.partition(":")
    return name == "aspect_ratio" and (not colon or (number.isdigit() and int(number) > 0))
