"""Spectral normalisation by a hook: a weight divided by its largest singular value.

`parametrizations.spectral_norm` is its successor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.modes import no_grad
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ...inplace.ops import write
from ...random import randn
from ..module import Module
from ..parameter import Parameter, check_shape_known
from ..transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


def output_dim(module: Module) -> int:
    """Return which dimension of a module's weight is that of its outputs."""
    transposed = ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
    return 1 if isinstance(module, transposed) else 0


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """Return a weight as a matrix with one row for each index along `dim`."""
    if dim:
        weight = weight.permute(dim, *(other for other in range(weight.ndim) if other != dim))
    return weight.reshape(weight.shape[0], -1)


def normalized(vector: np.ndarray[Any, Any], eps: float) -> np.ndarray[Any, Any]:
    """Return a vector divided by its length, or by `eps` if that is larger."""
    return vector / np.maximum(np.linalg.norm(vector), eps)


@no_grad()
def power_method(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> None:
    """Improve the estimates of the singular vectors of the largest singular value, in place."""
    values = matrix.array
    for _ in range(steps):
        write(u, normalized(values @ v.array, eps))
        write(v, normalized(values.conj().T @ u.array, eps))


def largest_singular_value(matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """Estimate it from singular vectors, through which no gradient flows."""
    found: Tensor = ops.vdot(u.detach().clone(), ops.mv(matrix, v.detach().clone()))
    return found


def random_unit_vector(length: int, like: Tensor, eps: float) -> Tensor:
    """Draw a direction."""
    return wrap(normalized(randn(length, dtype=like.dtype).array, eps).astype(like.dtype))


class SpectralNorm:
    """Forward hook that computes the weight, Miyato et al. (2018)."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Compute the weight from `<name>_orig` and the buffers `<name>_u` and `<name>_v`."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            # The right vector first: `parametrizations.spectral_norm` begins with the left one.
            power_method(matrix.mH, v, u, self.n_power_iterations, self.eps)
        divided: Tensor = weight / largest_singular_value(matrix, u, v)
        return divided

    def __call__(self, module: Module, _: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a parameter, from now on `<name>_orig`, by its largest singular value.

    `dim` is that of the outputs: by default 1 for transposed convolutions, otherwise 0.
    """
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    weight = getattr(module, name)
    check_shape_known(weight, "spectral_norm")
    if not isinstance(weight, Tensor):
        raise ValueError(f"`SpectralNorm` cannot be applied as {name} is no parameter")
    hook = SpectralNorm(name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    rows, columns = as_matrix(weight.detach(), hook.dim).shape
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", random_unit_vector(rows, weight, eps))
    module.register_buffer(f"{name}_v", random_unit_vector(columns, weight, eps))
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again; ValueError if there is no spectral normalisation."""
    number = _hook_of(module, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook = module._own_hooks().forward_pre.pop(number)
    with no_grad():
        weight = hook.compute_weight(module, False)
    for part in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def _hook_of(module: Module, name: str) -> int | None:
    for number, hook in module._own_hooks().forward_pre.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            return number
    return None
