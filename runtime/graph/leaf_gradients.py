"""The `grad` of a leaf: what backward passes add to it."""

from __future__ import annotations

import threading
from typing import Any, Final

import numpy as np

from ..core.storage import INFERENCE_ALIAS, own_alias
from ..core.strides import copy_in_order_of, is_dense
from ..core.tensor import Tensor, wrap
from ..dispatch.registry import ops
from ..dtypes.kinds import is_symbolic
from ..forward_ad.tangent_layout import lay_out

_adding: Final = threading.RLock()
"""Held while a leaf's gradient grows: passes of several threads may share the leaf."""


def add_to_grad(self: Tensor, grad: np.ndarray[Any, Any], keep: bool = False) -> None:
    """`self.grad += grad` on arrays; the first gradient is copied, unless it is to `keep`.

    It lies in memory as this tensor does, if that is dense, or else row by row.
    """
    if grad.shape != self.array.shape or grad.dtype != self.array.dtype:
        grad, keep = fitted(grad, self.array), False
    with _adding:  # NumPy lets other threads run while it adds
        before = self.grad
        if before is None:
            self._grad = wrap(grad if keep else copy_in_order_of(self.array, grad))
        else:
            np.add(before.array, grad, out=before.array)
            alias = own_alias(before)
            if alias is not INFERENCE_ALIAS:
                alias.version += 1  # an op that has saved the gradient can tell


def fitted(grad: Any, array: np.ndarray[Any, Any]) -> Any:
    """Return a gradient in the dtype of what it belongs to; symbols stay what they are.

    RuntimeError for one of another shape: it would be added to the wrong elements. A proof, which
    runs on symbols, tells more about its own.
    """
    if is_symbolic(array.dtype) or is_symbolic(grad.dtype):
        return grad
    if grad.shape != array.shape:
        raise RuntimeError(
            f"a gradient of shape {list(grad.shape)} arrived at a tensor of shape "
            f"{list(array.shape)}"
        )
    return grad.astype(array.dtype, copy=False)


def fitted_tensor(grad: Tensor, to: Tensor) -> Tensor:
    """Convert as `fitted`, for a gradient that may be recorded or batched."""
    if grad.shape != to.shape:
        fitted(grad.array, to.array)
    if grad.dtype == to.dtype or is_symbolic(to.dtype) or is_symbolic(grad.dtype):
        return grad
    cast: Tensor = ops._to_copy(grad, dtype=to.dtype)
    return cast


def add_recorded_grad(self: Tensor, grad: Tensor) -> None:
    """`self.grad = self.grad + grad` on tensors; the first is copied, as others may see it."""
    grad = fitted_tensor(grad, self)
    with _adding:
        before = self.grad
        self._grad = _copy_for(self, grad) if before is None else before + grad


def _copy_for(leaf: Tensor, grad: Tensor) -> Tensor:
    """A copy of a gradient that lies in memory as a dense leaf does, or else row by row."""
    if is_dense(leaf.array):
        copied: Any = wrap(np.zeros_like(leaf.array))
        return copied.copy_(grad)
    copied = ops.clone(grad)
    lay_out(copied, tuple(range(grad.ndim)))
    return copied


class AccumulationMethods:
    """Methods of `Tensor` by which `AccumulateGrad` adds to `grad`."""

    __slots__ = ()

    add_to_grad = add_to_grad
    add_recorded_grad = add_recorded_grad
