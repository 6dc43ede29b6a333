"""Copies of saved values before they are overwritten, in a block that allows that."""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from ..core.tensor import Tensor, wrap


class Kept:
    """Elements that one or several nodes have saved, until they are overwritten."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array


class AllowedMutation:
    """The values that the nodes of one block have saved, and copies of those overwritten since."""

    active: ClassVar[AllowedMutation | None] = None

    def __init__(self) -> None:
        self.cloned: WeakKeyDictionary[Kept, np.ndarray[Any, Any]] = WeakKeyDictionary()
        """The copies, by what they are of; they go with the nodes."""
        self._kept: WeakValueDictionary[Any, Kept] = WeakValueDictionary()

    def pack(self, tensor: Tensor) -> Kept:
        """Return what a node is to hold: the same for all that save these elements."""
        array = tensor.array
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        kept = self._kept.get(key)
        if kept is None or kept in self.cloned:
            kept = self._kept[key] = Kept(array)
        return kept

    def unpack(self, kept: Kept) -> Tensor:
        """Return the elements as they were saved; AssertionError outside of the block."""
        if AllowedMutation.active is not self:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded: call backward() inside of the block"
            )
        return wrap(self.cloned.get(kept, kept.array))

    def keep(self, written: np.ndarray[Any, Any]) -> None:
        """Copy what was saved of the memory of an array that is about to be written to."""
        for kept in list(self._kept.values()):
            if kept not in self.cloned and np.may_share_memory(kept.array, written):
                self.cloned[kept] = kept.array.copy()


def keep_saved(tensor: Tensor) -> None:
    """Let a block that allows writes to saved values copy those in the memory of a tensor."""
    block = AllowedMutation.active
    if block is not None:
        block.keep(tensor.array)
