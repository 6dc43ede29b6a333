"""Norms of gradients, and gradients clipped by norm or value, in place."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any, TypeAlias

import numpy as np

from ...core.modes import no_grad
from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn
from ...dispatch.registry import ops
from ...dtypes.promotion import get_default_dtype
from ...inplace.ops import write

Tensors: TypeAlias = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: Tensors) -> list[Tensor]:
    return [param.grad for param in _listed(parameters) if param.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Compute the norm of all elements of several tensors, as if they were one vector.

    RuntimeError if it is not finite and `error_if_nonfinite`.
    """
    listed = _listed(tensors)
    if not listed:
        return wrap(np.array(0.0, get_default_dtype()))
    norm_type = float(norm_type)
    norms = [ops.linalg_vector_norm(tensor, norm_type) for tensor in listed]
    total: Tensor = ops.linalg_vector_norm(ops.stack(norms), norm_type)
    if error_if_nonfinite and not np.isfinite(total.array):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients by `max_norm / (total_norm + 1e-6)`, if that is below 1, in place."""
    factor: Any = np.minimum(float(max_norm) / (total_norm.array + 1e-6), 1.0)
    for grad in _grads(parameters):
        write(grad, grad.array * factor.astype(grad.array.real.dtype))


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients so that their common norm is at most `max_norm`; return it as it was.

    RuntimeError if it is not finite and `error_if_nonfinite`.
    """
    listed = _listed(parameters)
    if isinstance(parameters, GeneratorType) and not listed:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total = get_total_norm(_grads(listed), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(listed, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale as `clip_grad_norm_` does, which is its newer name (FutureWarning)."""
    warn("`clip_grad_norm` is deprecated: use `clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clip every element of the gradients between `-clip_value` and `clip_value`, in place."""
    bound = float(clip_value)
    for grad in _grads(parameters):
        write(grad, np.clip(grad.array, -bound, bound))
