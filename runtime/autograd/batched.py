"""`grad(..., is_grads_batched=True)`: one pass for each cotangent of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..core.tensor import Size, Tensor
from ..dispatch.registry import ops
from .edges import TensorOrEdge, shape_and_dtype

Run: TypeAlias = Callable[[Any, bool], tuple[Tensor | None, ...]]
"""`run(cotangents, keep_graph)` returns the gradients of one pass."""


def grad_of_each(
    run: Run,
    roots: Sequence[TensorOrEdge],
    cotangents: Sequence[Tensor | None],
    keep_graph: bool,
) -> tuple[Tensor | None, ...]:
    """Compute the gradients for each cotangent of a batch, stacked along a new first dimension.

    RuntimeError if a cotangent is missing or has another shape, or if the batches differ in size.
    """
    for nr, (root, cotangent) in enumerate(zip(roots, cotangents, strict=True)):
        _check_shape(nr, root, cotangent)
    sizes = {len(cotangent) for cotangent in cotangents if cotangent is not None}
    if len(sizes) != 1 or any(cotangent is None for cotangent in cotangents):
        raise RuntimeError(
            "is_grads_batched=True needs a batch of cotangents for every output, of one size; "
            f"got {['None' if c is None else list(c.shape) for c in cotangents]}"
        )
    (size,) = sizes
    rows = [
        run([c[nr] for c in cotangents if c is not None], keep_graph or nr + 1 < size)
        for nr in range(size)
    ]
    return tuple(_stacked(column) for column in zip(*rows, strict=True))


def _check_shape(nr: int, root: TensorOrEdge, cotangent: Tensor | None) -> None:
    """Raise RuntimeError unless the cotangents of a batch have the shape of their root."""
    known = shape_and_dtype(root)
    if known is None or cotangent is None:
        return
    if not cotangent.ndim:
        raise IndexError("is_grads_batched=True: a 0-dim tensor is no batch of cotangents")
    if cotangent.shape[1:] != known[0]:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            f"the batch dimension: grad_output[{nr}] has a shape of {cotangent.shape}, and without "
            f"that dimension not the one of output[{nr}], {Size(known[0])}."
        )


def _stacked(grads: tuple[Tensor | None, ...]) -> Tensor | None:
    present = [grad for grad in grads if grad is not None]
    return ops.stack(present) if present else None
