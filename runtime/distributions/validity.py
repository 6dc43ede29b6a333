"""Checks of conditions on the parameters and values of distributions."""

from __future__ import annotations

from typing import Any

from ..batching.batched import Batched
from ..core.captured import has_values
from ..core.tensor import Tensor


def holds(condition: Any) -> bool:
    """Return whether a tensor of bools is true throughout, under `vmap` in all examples.

    True where it has no values yet: what `gs.compile` captures is not checked, as in PyTorch.
    """
    array = _of_all_examples(condition)
    return not has_values(array) or bool(array.all())


def are_equal(one: Any, other: Any) -> bool:
    """Return whether tensors or numbers are equal throughout, under `vmap` in all examples."""
    if one is other:
        return True
    same = one == other
    return bool(_of_all_examples(same).all() if isinstance(same, Tensor) else same)


def _of_all_examples(tensor: Any) -> Any:
    while isinstance(tensor, Batched):
        tensor = tensor.physical
    return tensor.array
