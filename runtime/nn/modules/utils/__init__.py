"""Sizes that are given as one number or as one for each dimension; prefixes of states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from ....core.missing import explaining as _explaining

__getattr__ = _explaining(__name__)


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple: of `n` times the same, but of what is several already."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """The items from the last to the first, each `n` times: widths as `pad` takes them."""
    return tuple(x for x in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix such as "module." from the keys that begin with it, in place.

    So a module takes the state of one that was wrapped, as by `DataParallel`. The order of the
    keys stays if all of them have the prefix; others come first.
    """
    _strip(state_dict, prefix)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        # Keys of modules: "" is the wrapper, whose place the wrapped one takes.
        if prefix.rstrip(".") in metadata:
            metadata[""] = metadata.pop(prefix.rstrip("."))
        _strip(metadata, prefix)


def _strip(entries: dict[str, Any], prefix: str) -> None:
    for key in list(entries):
        if key.startswith(prefix):
            entries[key.removeprefix(prefix)] = entries.pop(key)
