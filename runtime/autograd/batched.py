"""`grad(..., is_grads_batched=True)`: one pass for each cotangent of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..core.tensor import Tensor
from ..dispatch.registry import table_op

Run: TypeAlias = Callable[[Any, bool], tuple[Tensor | None, ...]]
"""`run(cotangents, keep_graph)` returns the gradients of one pass."""


def grad_of_each(
    run: Run, cotangents: Sequence[Tensor | None], keep_graph: bool
) -> tuple[Tensor | None, ...]:
    """Compute the gradients for each cotangent of a batch, stacked along a new first dimension.

    RuntimeError if a cotangent is missing or the batches differ in size.
    """
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


def _stacked(grads: tuple[Tensor | None, ...]) -> Tensor | None:
    present = [grad for grad in grads if grad is not None]
    return table_op("stack")(present) if present else None
