"""Functions of one place (batch, head, query, key) of a matrix of scores, as functions of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, Final, TypeAlias

import numpy as np

from ...batching.batched import Level, batch, is_of
from ...batching.call import call_batched as call_batched  # which ops on batched tensors need
from ...core import levels
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops

MaskMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Function of batch, head, query and key, each a tensor of one number: whether the key counts."""
ScoreMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
"""Function of the score and the same four numbers: the score that replaces it."""

_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def of_all_places(
    mod: Callable[..., Tensor], sizes: Sequence[int], scores: Tensor | None = None
) -> Tensor:
    """Return what a function of one place returns, for each place; a dimension for each of `sizes`.

    Every dimension is one level of `vmap`, so that the function sees tensors without dimensions.
    TypeError if it returns no tensor, ValueError if that has dimensions.
    """
    entered: list[Level] = []
    given: list[Tensor] = []
    try:
        for size in sizes:
            level = Level(size)
            levels.enter(level)
            entered.append(level)
            scores = None if scores is None else batch(scores, level)
            given.append(batch(wrap(np.arange(size)), level))
        result = mod(*given) if scores is None else mod(scores, *given)
        _check(mod, result)
        while entered:
            level = entered[-1]
            if is_of(result, level):
                result = result.physical  # type: ignore[attr-defined]
            else:
                result = ops.expand(result, (level.size, *result.shape))
            levels.leave(entered.pop())
        return result
    finally:
        while entered:
            levels.leave(entered.pop())


def _check(mod: Callable[..., Tensor], result: Any) -> None:
    name = getattr(mod, "__name__", repr(mod))
    if not isinstance(result, Tensor):
        raise TypeError(
            f"{name}: a function of one place of the scores must return a tensor, not "
            f"{type(result).__name__}"
        )
    if result.ndim:
        raise ValueError(
            f"{name}: a function of one place of the scores must return a tensor without "
            f"dimensions, not one of shape {list(result.shape)}"
        )


def takes_scores(mod: Callable[..., Tensor]) -> bool:
    """Return whether a function takes a score before the four numbers; AssertionError if neither.

    Parameters with a default do not count.
    """
    parameters = signature(mod).parameters.values()
    count = sum(p.default is Parameter.empty and p.kind in _POSITIONAL for p in parameters)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Let every key count."""
    return wrap(np.ones((), np.bool_))


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the function by which a key counts if it does by one of several."""
    _check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = wrap(np.zeros((), np.bool_))
        for mask in mask_mods:
            found = found | mask(b, h, q_idx, kv_idx)
        return found

    return or_mask


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return the function by which a key counts if it does by all of several."""
    _check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = wrap(np.ones((), np.bool_))
        for mask in mask_mods:
            found = found & mask(b, h, q_idx, kv_idx)
        return found

    return and_mask


def _check_callable(mask_mods: Sequence[Any]) -> None:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")
