"""Arrangements: how an op, called once on the stacked examples, gives the stacked results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from ..core.tensor import Tensor, normalize_dim
from ..dispatch.dispatch import call
from ..dispatch.registry import Op, ops
from .batched import Level, NoFit, aligned, batch, is_of, items, mapped, physical, same
from .indexing import indexed


def _shift(value: Any, ndim: int, size: int) -> Any:
    """Dimensions of one example, as dimensions of all; none given stands for all."""
    if value is None:
        return tuple(range(1, ndim + 1))
    if isinstance(value, tuple | list | range):
        return tuple(_shift(each, ndim, size) for each in value or range(ndim))
    return normalize_dim(value, ndim) + 1


def _insert(value: Any, ndim: int, size: int) -> Any:
    """A dimension of a result that has more dimensions than the argument."""
    return normalize_dim(value, ndim + 1) + 1


def _flat(value: Any, ndim: int, size: int) -> Any:
    """Dimensions, where none given stands for the elements in a row: no rule covers that."""
    if value is None or value in ((), []):
        raise NoFit
    return _shift(value, ndim, size)


def _each(value: Any, ndim: int, size: int) -> Any:
    """Dimensions, where None stands for all, and an empty list for none."""
    return _shift(value, ndim, size) if value or value is None else value


def _prepend(value: Any, ndim: int, size: int) -> Any:
    """A shape of one example, as one of all."""
    return (size, *value)


def _repeat(value: Any, ndim: int, size: int) -> Any:
    """A number for each dimension, which is one for that of the examples."""
    return (1, *value)


def _permute(value: Any, ndim: int, size: int) -> Any:
    """All dimensions in another order; that of the examples stays in front."""
    return (0, *(each % ndim + 1 for each in value))


def _unset(value: Any, ndim: int, size: int) -> Any:
    """A flag without which the rule holds."""
    if value:
        raise NoFit
    return value


TREATMENTS: Final[dict[str, Callable[[Any, int, int], Any]]] = {
    "shift": _shift,
    "insert": _insert,
    "flat": _flat,
    "each": _each,
    "prepend": _prepend,
    "repeat": _repeat,
    "permute": _permute,
    "unset": _unset,
}
"""Treatment of an argument `value`, for examples of `ndim` dimensions, `size` of them."""

_COUNTING: Final = ("shift", "flat", "each")
"""Treatments of what counts dimensions of an argument."""

_WIDENING: Final = ("prepend", "repeat")
"""Treatments of lists that may be longer than the argument has dimensions."""


SEVERAL: Final = "several"
"""The word of a rule that needs more than one example."""


Plan: TypeAlias = Callable[[dict[str, Any], Level], Any]
"""A call of an op on arguments by name, some of them batched at a level, as it was decided."""


def _batched(results: Any, level: Level) -> Any:
    return mapped(lambda result: batch(result, level), results)


def _lifted(tensor: Tensor) -> Tensor:
    return ops.unsqueeze(tensor, -1)


@dataclass(frozen=True)
class Arrangement:
    """A rule by which the op itself is called, on stacked examples."""

    kind: str
    """`align`, `lead`, `fold`, `index` or `same`."""
    tensors: tuple[str, ...] = ()
    """The parameters that may be batched; none named stands for all."""
    treatments: tuple[tuple[str, str], ...] = ()
    """Further parameters, and what becomes of each."""
    ndim: int = 0
    """The dimensions that an example must have; of those of `fold` the first is joined."""
    is_of_several: bool = False
    """True where a dimension of one, for a single example, would mean something to the op."""

    def plan(self, op: Op, values: dict[str, Any], level: Level) -> Plan:
        """Plan a call of the op on the stacked examples; NoFit where the rule does not hold.

        The plan is that of every call with such shapes, dtypes and arguments that are no tensors.
        """
        if self.is_of_several and level.size < 2:
            raise NoFit
        if self.kind == "same":
            return lambda values, level: _batched(same(partial(call, op), values, level), level)
        if self.kind == "index":
            return lambda values, level: _batched(
                indexed(partial(call, op), op, values, level), level
            )
        names = op.names.tensors
        batched = [n for n in names if any(is_of(v, level) for v in items(values[n]))]
        if self.tensors and not set(batched) <= set(self.tensors):
            raise NoFit
        ndims = [v.ndim for n in names for v in items(values[n]) if isinstance(v, Tensor)]
        if self.kind == "lead" and self.ndim not in (0, max(ndims)):
            raise NoFit
        ndims += [len(values[n]) for n, word in self.treatments if word in _WIDENING]
        ndim = next((v.ndim for n in batched for v in items(values[n]) if is_of(v, level)), 0)
        # Where there is no dimension, ops take 0 and -1 for one of length one.
        is_lifted = not ndim and any(word in _COUNTING for _, word in self.treatments)
        rank = max(ndims)
        # Where operands are broadcast, what the examples share stays as it is.
        stacked = batched if self.tensors or self.kind == "align" else names
        as_they_are = [n for n in stacked if not is_lifted and self._fits(values[n], rank, level)]
        others = [name for name in stacked if name not in as_they_are]
        treated = {
            name: TREATMENTS[treatment](values[name], ndim or is_lifted, level.size)
            for name, treatment in self.treatments
        }
        is_separated = is_lifted or self.kind == "fold"

        def run(values: dict[str, Any], level: Level) -> Any:
            arranged = values | treated
            for name in as_they_are:
                arranged[name] = values[name].physical
            for name in others:
                physical = mapped(lambda t: self._physical(t, rank, level), values[name])
                arranged[name] = mapped(_lifted, physical) if is_lifted else physical
            results = call(op, arranged)
            if is_separated:
                results = mapped(lambda t: self._separated(t, level, is_lifted), results)
            return _batched(results, level)

        return run

    def _fits(self, value: Any, ndim: int, level: Level) -> bool:
        """Return whether the rule wants all examples of an argument as they lie in memory."""
        return is_of(value, level) and (
            self.kind == "lead" or (self.kind == "align" and value.ndim == ndim)
        )

    def _physical(self, tensor: Tensor, ndim: int, level: Level) -> Tensor:
        """All examples of one argument, as the rule wants them."""
        if self.kind == "align" and is_of(tensor, level):
            return aligned(tensor, ndim, level)
        stacked = physical(tensor, level)
        if self.kind == "fold":
            if tensor.ndim != self.ndim:
                raise NoFit
            return ops.flatten(stacked, 0, 1)
        return stacked

    def _separated(self, result: Tensor, level: Level, is_lifted: bool) -> Tensor:
        """A result with the examples along the first dimension."""
        if is_lifted:
            return ops.select(result, 1, 0) if result.ndim > 1 else result
        if self.kind != "fold":
            return result
        if not result.ndim or result.shape[0] % max(level.size, 1):
            raise NoFit
        return ops.unflatten(result, 0, (level.size, result.shape[0] // max(level.size, 1)))
