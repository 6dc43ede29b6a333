"""The arrangements that a batching rule may be, those that are likely first.

An arrangement is text (see `gradspec.batching.rules`): how the tensors are stacked, which of them
may be batched, and what becomes of arguments that count dimensions or are shapes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...spec.model import OpSpec, Param

_WORDS = ("dim", "axis", "axes", "size", "shape", "repeat")
"""Whole numbers with such a name count dimensions, or lengths of them."""

_INT = ("shift", "insert", "")
_OPTIONAL_INT = ("flat", "shift", "")
_INTS = ("shift", "flat", "prepend", "permute", "repeat", "")
_OPTIONAL_INTS = ("shift", "each", "")

SAME = "same"

_MOST_PARAMS = 3
_MOST_SUBSETS = 10
_FOLDED = (4, 3, 2, 5, 1)
"""Numbers of dimensions of one example whose first dimension may be joined with the examples'."""

_BARE = (2, 1, 3)
"""Numbers of dimensions of one example with which an op may have no further ones in front."""


def candidates(spec: OpSpec) -> Iterator[str]:
    """Every arrangement that is tried."""
    tensors = [param.public for param in spec.signature.tensor_params]
    treatments = list(_treatments(spec))
    some = [
        names
        for count in range(len(tensors) - 1, 0, -1)
        for names in itertools.islice(itertools.combinations(tensors, count), _MOST_SUBSETS)
    ]
    for treatment in treatments:
        yield " ".join(("align", *treatment))
    for names in ((), *some):
        for treatment in treatments:
            yield " ".join(("lead", *names, *treatment))
    for names in ((), *some):
        for ndim in _FOLDED:
            yield " ".join((f"fold{ndim}", *names))
    if any(param.type.has_optional_items for param in spec.signature.tensor_params):
        yield "index"
    for names in ((), *some):
        for ndim in _BARE:
            yield " ".join((f"lead{ndim}", *names))
    for flag in (param.public for param in spec.signature.params if param.type.base == "bool"):
        for names in ((), *some):
            yield " ".join(("lead", *names, f"{flag}:unset"))
    yield "align several"
    yield SAME


def _treatments(spec: OpSpec) -> Iterator[tuple[str, ...]]:
    """List the rules that may hold for arguments that count dimensions or are shapes."""
    params = [param for param in spec.signature.params if _may_count(param)][:_MOST_PARAMS]
    for words in itertools.product(*map(_words, params)):
        pairs = zip(params, words, strict=True)
        yield tuple(f"{param.public}:{word}" for param, word in pairs if word)


def _may_count(param: Param) -> bool:
    is_whole = param.type.base in ("int", "SymInt")
    return is_whole and any(word in param.name for word in _WORDS)


def _words(param: Param) -> tuple[str, ...]:
    if param.type.is_list:
        return _OPTIONAL_INTS if param.type.is_optional else _INTS
    return _OPTIONAL_INT if param.type.is_optional else _INT
