"""Pruning: parameters of which a mask keeps some elements, and zeroes the others, at every call.

The parameter `name` becomes `name_orig`, the mask is the buffer `name_mask`, and `name` is their
product, computed before each `forward`. What is pruned again is pruned among what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ...core.hooks import RemovableHandle
from ...core.missing import explaining as _explaining
from ...core.random_generator import generator
from ...core.tensor import Tensor, wrap
from ..module import Module

__getattr__ = _explaining(__name__)

Array = np.ndarray[Any, Any]

_PRUNED: Final = "_pruned"
"""The attribute of a module that holds its hooks, by the names of parameters."""


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask that keeps everything."""
    return _pruned(module, name, lambda kept, scores: kept)


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements that are drawn; `amount` is their part (a float) or their number (an int)."""

    def choose(kept: Array, scores: Array) -> Array:
        ranks = np.asarray(generator().random(kept.shape))
        return _without(kept, ranks, _count(amount, int(kept.sum())))

    return _pruned(module, name, choose)


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of the smallest absolute values, or scores."""

    def choose(kept: Array, scores: Array) -> Array:
        return _without(kept, np.abs(scores), _count(amount, int(kept.sum())))

    return _pruned(module, name, choose, importance_scores)


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along `dim` that are drawn."""

    def choose(kept: Array, scores: Array) -> Array:
        return _without_slices(kept, generator().random(kept.shape[dim]), amount, dim)

    return _pruned(module, name, choose)


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float | str,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices along `dim` of the smallest norms of order `n`."""

    def choose(kept: Array, scores: Array) -> Array:
        rows = np.moveaxis(scores * kept, dim, 0).reshape(scores.shape[dim], -1)
        order = {"inf": np.inf, "-inf": -np.inf, "fro": 2}.get(str(n), n)
        return _without_slices(kept, np.linalg.norm(rows, order, axis=1), amount, dim)  # type: ignore[arg-type]

    return _pruned(module, name, choose, importance_scores)


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what a mask has as zero."""
    return _pruned(module, name, lambda kept, scores: kept * mask.numpy())


class _Method:
    """Base of methods, which `global_unstructured` is given."""


class L1Unstructured(_Method):
    """Prunes the smallest absolute values."""

    @staticmethod
    def ranks(scores: Array) -> Array:
        """Return numbers of which the smallest are pruned."""
        return np.abs(scores)


class RandomUnstructured(_Method):
    """Prunes elements that are drawn."""

    @staticmethod
    def ranks(scores: Array) -> Array:
        """Return numbers of which the smallest are pruned."""
        return np.asarray(generator().random(scores.shape))


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[L1Unstructured] | type[RandomUnstructured],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    *,
    amount: float,
) -> None:
    """Prune elements of several parameters, `(module, name)`, as if they were one.

    TypeError for a method other than `L1Unstructured` and `RandomUnstructured`.
    """
    places = list(parameters)
    if not (isinstance(pruning_method, type) and issubclass(pruning_method, _Method)):
        raise TypeError("pruning_method is L1Unstructured or RandomUnstructured")
    given = importance_scores or {}
    tensors = [given.get(place, _original(*place)).detach().numpy() for place in places]
    kept = [_mask(*place) for place in places]
    flat = np.concatenate([mask.reshape(-1) for mask in kept])
    ranks = pruning_method.ranks(np.concatenate([tensor.reshape(-1) for tensor in tensors]))
    chosen = _without(flat, ranks, _count(amount, int(flat.sum())))
    start = 0
    for (module, name), mask in zip(places, kept, strict=True):
        part = chosen[start : start + mask.size].reshape(mask.shape)
        custom_from_mask(module, name, wrap(part))
        start += mask.size


def remove(module: Module, name: str) -> Module:
    """Make what is left of a parameter the parameter; ValueError where it is not pruned."""
    if name not in _hooks(module):
        raise ValueError(
            f"Parameter {name!r} of module {module} has to be pruned before pruning can be removed"
        )
    _hooks(module).pop(name).remove()
    original = module._parameters.pop(f"{name}_orig")
    mask = module._buffers.pop(f"{name}_mask")
    original.array[...] *= mask.array  # type: ignore[union-attr]
    vars(module).pop(name, None)
    module.register_parameter(name, original)
    return module


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of the module, or of one in it, is pruned."""
    return any(_hooks(part) for part in module.modules())


def _hooks(module: Module) -> dict[str, RemovableHandle]:
    found: dict[str, RemovableHandle] = vars(module).setdefault(_PRUNED, {})
    return found


def _original(module: Module, name: str) -> Tensor:
    found: Tensor = getattr(module, f"{name}_orig" if name in _hooks(module) else name)
    return found


def _mask(module: Module, name: str) -> Array:
    if name in _hooks(module):
        return getattr(module, f"{name}_mask").numpy()
    return np.ones_like(getattr(module, name).array)


def _pruned(
    module: Module, name: str, choose: Any, importance_scores: Tensor | None = None
) -> Module:
    """Set the mask that `choose(mask, scores)` returns, and multiply by it at every call."""
    original = _original(module, name)
    scores = original if importance_scores is None else importance_scores
    if tuple(scores.shape) != tuple(original.shape):
        raise AssertionError(
            f"importance_scores of shape {list(scores.shape)} for a parameter of shape "
            f"{list(original.shape)}"
        )
    mask = np.asarray(choose(_mask(module, name), scores.detach().numpy()), original.dtype)
    if name not in _hooks(module):
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", original)
        _hooks(module)[name] = module.register_forward_pre_hook(lambda m, args: _set(m, name))
    module.register_buffer(f"{name}_mask", wrap(mask))
    _set(module, name)
    return module


def _set(module: Module, name: str) -> None:
    product = getattr(module, f"{name}_mask") * getattr(module, f"{name}_orig")
    object.__setattr__(module, name, product)


def _count(amount: float, total: int) -> int:
    """Return how many of `total` to prune; ValueError for a part or a number out of bounds."""
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise TypeError(f"Invalid type of amount: {amount}. Must be of type int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(f"amount={amount} should be a float in [0, 1] or a non-negative integer")
    count = amount if isinstance(amount, int) else round(amount * total)
    if count > total:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={total}"
        )
    return count


def _without(kept: Array, ranks: Array, count: int) -> Array:
    """Return the mask without the `count` elements of the smallest ranks among those it keeps."""
    order = np.argsort(np.where(kept != 0, ranks, np.inf), axis=None, kind="stable")
    mask = kept.flatten()
    mask[order[:count]] = 0
    return mask.reshape(kept.shape)


def _without_slices(kept: Array, ranks: Array, amount: float, dim: int) -> Array:
    """Return the mask without the slices along `dim` of the smallest ranks."""
    alive = np.moveaxis(kept, dim, 0).reshape(kept.shape[dim], -1).any(axis=1)
    slices = _without(alive.astype(kept.dtype), ranks, _count(amount, int(alive.sum())))
    shape = [1] * kept.ndim
    shape[dim] = kept.shape[dim]
    return kept * slices.reshape(shape)


__all__ = [
    "L1Unstructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]
