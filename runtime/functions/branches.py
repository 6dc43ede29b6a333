"""`where` on functions: each branch sees only the part of its arguments that it is meant for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from .splitting import broadcast_tensors

Branch: TypeAlias = Callable[..., Any] | Any
"""A function of the tensors of the domain, or what it would give."""


def where_on(
    condition: Tensor,
    input: Branch,
    other: Branch,
    *,
    domain: Tensor | tuple[Tensor, ...],
) -> Tensor:
    """Choose between elementwise functions of `domain`, each computed where it is chosen.

    `where(x > 0, gs.log, 0.0, domain=x)` has the gradient 0 where `x <= 0`, and
    `where(x > 0, log(x), 0.0)` has nan at zero: there the slope of the branch that is not taken is
    infinite, and is multiplied by zero. So elements for which a function is not chosen are replaced
    by one for which it is, before it is called. A branch may be a number or a tensor as well.
    `condition` and the tensors of `domain` are broadcast against each other.
    """
    tensors = domain if isinstance(domain, tuple | list) else (domain,)
    return ops.where(
        condition,
        _computed(input, condition, tensors),
        _computed(other, ops.logical_not(condition), tensors),
    )


def _computed(branch: Branch, chosen: Tensor, tensors: tuple[Tensor, ...]) -> Any:
    if not callable(branch) or isinstance(branch, Tensor):
        return branch
    return branch(*(_inside(tensor, chosen) for tensor in tensors))


def _inside(tensor: Tensor, chosen: Tensor) -> Tensor:
    """The tensor with its first chosen element in the place of those that are not chosen.

    Where none is chosen the first of all stands there: no value is taken, and no gradient.
    """
    chosen, tensor = broadcast_tensors(chosen, tensor)
    if not tensor.numel():
        return tensor
    elements = ops.reshape(tensor.detach(), (-1,))
    first = ops.argmax(ops._to_copy(ops.reshape(chosen, (-1,)), dtype=np.dtype(np.uint8)), 0, True)
    return ops.where(chosen, tensor, ops.reshape(ops.gather(elements, 0, first), ()))
