"""Switches of PyTorch's engine: threads, which there are none of, and counts of writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ..core.mode_decorator import ModeDecorator
from ..core.storage import INFERENCE_ALIAS, own_alias
from ..core.tensor import Tensor

_multithreading: Final = [True]


def is_multithreading_enabled() -> bool:
    """Return what `set_multithreading_enabled` was last set to: True at first."""
    return _multithreading[0]


class set_multithreading_enabled(ModeDecorator):
    """Set at once, and until the block ends if there is one, what the engine need not ask.

    A backward pass runs in the thread that calls it, whatever this says.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before = _multithreading[0]
        _multithreading[0] = mode

    def __enter__(self) -> None:
        _multithreading[0] = self._mode

    def __exit__(self, *_: object) -> None:
        _multithreading[0] = self._before

    def clone(self) -> set_multithreading_enabled:
        """Make the same switch for one call of a function."""
        return set_multithreading_enabled(self._mode)


@contextmanager
def _unsafe_preserve_version_counter(tensors: Tensor | Sequence[Tensor]) -> Iterator[None]:
    """Leave the versions as they were: writes in the block go unnoticed by saved values."""
    given = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    aliases = [own_alias(tensor) for tensor in given if tensor.alias is not INFERENCE_ALIAS]
    before = [alias.version for alias in aliases]
    try:
        yield
    finally:
        for alias, version in zip(aliases, before, strict=True):
            alias.version = version
