"""Arguments at which rules fail that are right elsewhere: zeros, ties, singular or huge ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..prove.inputs import domain
from ..spec.model import OpSpec
from .meant import is_singular
from .questions import EXTREME, SPECIAL, Array

_HUGE = 1e200
"""Its square is more than a float can hold."""


def variations(op: OpSpec, name: str, array: Array) -> Iterator[tuple[str, str, Array]]:
    """Special arrays in the place of a usual one, inside the domain of the op.

    Each with its kind, and words for it.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fc" or array.size == 0:
        return
    low, high = domain.bounds(name, [text for argument, text in op.domain if argument == name])
    excluded = any("!=" in text for argument, text in op.domain if argument == name)
    kinds = ((SPECIAL, _made(array)), (EXTREME, _far_out(array)))
    for kind, words, made in ((kind, *each) for kind, found in kinds for each in found):
        inside = array.dtype.kind == "c" or bool(((made > low) & (made < high)).all())
        if inside and not (excluded and (made == 0).any()) and not is_singular(op, name, made):
            yield kind, words, made


def _made(array: Array) -> Iterator[tuple[str, Array]]:
    flat = array.ravel()
    yield "zeros alone" if array.size > 1 else "zero", np.zeros_like(array)
    if array.size == 1:
        yield "one", np.ones_like(array)
        return
    yield "a zero", _with(array, {array.size // 2: 0.0})
    if array.size > 2:
        yield "two zeros", _with(array, {0: 0.0, array.size // 2: 0.0})
    yield "equal elements", np.full_like(array, flat[0])
    yield "two equal elements", _with(array, {1: flat[0]})
    if array.ndim >= 2 and array.shape[-1] == array.shape[-2]:
        singular = array.copy()
        singular[..., -1, :] = 2 * singular[..., 0, :]
        yield "a singular matrix", singular
        yield (
            "the identity",
            np.broadcast_to(np.eye(array.shape[-1]), array.shape).astype(array.dtype),
        )


def _far_out(array: Array) -> Iterator[tuple[str, Array]]:
    """Elements whose products overflow, behind zeros that the product of all begins with."""
    if array.dtype.kind == "f" and array.size > 3:
        huge = np.arange(array.size) > 1
        yield "huge elements behind zeros", np.where(huge, _HUGE, 0.0).reshape(array.shape)


def _with(array: Array, changed: dict[int, complex]) -> Array:
    made = array.copy()
    for place, value in changed.items():
        made.flat[place] = value
    return made
