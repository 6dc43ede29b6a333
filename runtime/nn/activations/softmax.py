"""`softmax`, `log_softmax`, `softmin` and `gumbel_softmax` of `nn.functional`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...batching.randomness import for_each_example
from ...core.random_generator import generator
from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn
from ...dispatch.registry import ops
from ...functions.creation import zeros_like


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Take exponentials along `dim`, scaled to sum to one; in `dtype`, if one is given.

    Without `dim`, which is deprecated and warned of, it is 0 for tensors of 0, 1 and 3 dimensions
    and 1 for others: PyTorch's rule.
    """
    if dim is None:
        dim = _implicit_dim("softmax", input)
    return ops.softmax(input, dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Take the logarithm of `softmax`, which see for `dim`."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input)
    return ops.log_softmax(input, dim, dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Take the softmax of the negated elements; see `softmax` for `dim`."""
    if dim is None:
        dim = _implicit_dim("softmin", input)
    return ops.softmax(-input, dim, dtype)


@for_each_example
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draw classes by the softmax of noisy logits; with `hard` samples are one-hot.

    The gradient of `hard` samples is that of the soft ones. `eps` does nothing.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = np.asanyarray(generator().gumbel(size=logits.shape)).astype(logits.dtype)
    soft: Tensor = ops.softmax((logits + wrap(noise)) / tau, dim)
    if not hard:
        return soft
    drawn = soft.detach().argmax(dim, keepdim=True)
    return zeros_like(soft).scatter(dim, drawn, 1.0) - soft.detach() + soft


def _implicit_dim(name: str, input: Tensor) -> int:
    warn(f"Implicit dimension choice for {name} is deprecated: pass dim=...")
    return 0 if input.ndim in (0, 1, 3) else 1
