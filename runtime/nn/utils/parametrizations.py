"""Parametrizations that are ready: weight and spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.missing import explaining as _explaining
from ...core.modes import no_grad
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ...functions.linear_algebra.reflectors import geqrf
from ...random import randn
from ..module import Module
from . import parametrize
from .spectral_norm import (
    as_matrix,
    largest_singular_value,
    output_dim,
    power_method,
    random_unit_vector,
)
from .weight_norm import norm_except_dim, weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

__getattr__ = _explaining(__name__)


class _WeightNorm(Module):
    """Weight from lengths (`original0`) and directions (`original1`)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Compute the weight."""
        return weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return lengths and directions of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Make a weight of its lengths along `dim` and its directions, Salimans & Kingma (2016).

    States of `nn.utils.weight_norm`, with `<name>_g` and `<name>_v`, can be loaded.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(_: Module, state: Any, prefix: str, *rest: Any) -> None:
        old = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state for key in old):
            for index, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{index}"] = state.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Weight divided by its largest singular value; a vector by its length."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.ndim > 1:
            matrix = as_matrix(weight.detach(), self.dim)
            for name, length in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(name, random_unit_vector(length, weight, eps))
            power_method(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        """Compute the weight; in training improve the singular vectors first."""
        if weight.ndim == 1:
            length: Any = ops.linalg_vector_norm(weight)
            return weight / length.clamp(min=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        return weight / largest_singular_value(matrix, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value: its normalisation has the same direction."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, Miyato et al. (2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    chosen = output_dim(module) if dim is None else dim
    made = _SpectralNorm(weight, n_power_iterations, chosen, eps)
    return parametrize.register_parametrization(module, name, made)


class _Orthogonal(Module):
    """Orthogonal matrix from a general one, by one of three maps, times `base`."""

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """Compute a matrix with orthonormal columns, or rows where they are fewer."""
        is_wide = X.shape[-2] < X.shape[-1]
        if is_wide:
            X = X.mT
        if self.orthogonal_map == "householder":
            found = _householder(X)
        else:
            found = _from_skew(X, self.orthogonal_map)
        if "base" in self._buffers:
            found = self.base @ found
        return found.mT if is_wide else found

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return what is mapped to the orthogonal matrix `Q`.

        With trivialization that matrix is put into `base`, and what is mapped to the identity is
        returned. ValueError for another shape, NotImplementedError for maps that have no inverse.
        """
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        shape = Q.shape
        is_wide = Q.shape[-2] < Q.shape[-1]
        if is_wide:
            Q = Q.mT
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            return _reflections(Q).mT if is_wide else _reflections(Q)
        rows, columns = Q.shape[-2:]
        if rows != columns:
            more = randn(*Q.shape[:-2], rows, rows - columns, dtype=Q.dtype)
            Q = ops.cat([Q, more], -1)
        self.base = Q.clone() if _is_orthogonal(Q.array) else _orthogonalized(Q.array)
        start = np.zeros(shape, Q.dtype)
        diagonal = np.arange(min(rows, columns))
        start[..., diagonal, diagonal] = -1
        return wrap(start)


def _is_orthogonal(matrix: np.ndarray[Any, Any]) -> bool:
    tolerance = 10 * matrix.shape[-2] * np.finfo(matrix.dtype).eps
    product = matrix.conj().swapaxes(-2, -1) @ matrix
    return bool(np.allclose(product, np.eye(matrix.shape[-1]), atol=tolerance))


def _orthogonalized(matrix: np.ndarray[Any, Any]) -> Tensor:
    """Return the orthogonal factor of QR whose triangular factor has a positive diagonal."""
    q, r = np.linalg.qr(matrix)
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    return wrap(q * np.sign(diagonal)[..., None, :])


def _from_skew(X: Tensor, name: str) -> Tensor:
    """Map the lower triangle, as a skew-Hermitian matrix, by the exponential or Cayley's map."""
    rows, columns = X.shape[-2:]
    X = X.tril()
    if rows != columns:
        nothing = wrap(np.zeros((*X.shape[:-1], rows - columns), X.dtype))
        X = ops.cat([X, nothing], -1)
    skew = X - X.mH
    if name == "matrix_exp":
        found = ops.matrix_exp(skew)
    else:
        identity = wrap(np.eye(rows, dtype=skew.dtype))
        found = ops.linalg_solve(identity - skew / 2, identity + skew / 2)
    return found[..., :columns]


def _householder(X: Tensor) -> Tensor:
    """Multiply the reflections in the columns below the diagonal, signed by the diagonal."""
    rows, columns = X.shape[-2:]
    vectors = X.tril(-1)
    found = wrap(np.broadcast_to(np.eye(rows, columns, dtype=X.dtype), X.shape).copy())
    for index in reversed(range(columns)):
        unit = np.zeros((rows, 1), X.dtype)
        unit[index] = 1
        vector = vectors[..., index : index + 1] + wrap(unit)
        scale = 2.0 / (vector * vector).sum((-2, -1), keepdim=True)
        found = found - scale * vector @ (vector.mT @ found)
    signs = np.trunc(np.diagonal(X.array, axis1=-2, axis2=-1))
    return found * wrap(signs[..., None, :].astype(X.dtype))


def _reflections(Q: Tensor) -> Tensor:
    """The vectors of the reflections that make an orthogonal matrix, and its signs: see above."""
    packed, scales = (each.numpy() for each in geqrf(Q))
    index = np.arange(Q.shape[-1])
    signs = np.sign(packed[..., index, index])
    # No reflection is found where none is needed; the one of no vector changes a sign.
    packed[..., index, index] = np.where(scales == 0, -signs, signs)
    return wrap(packed)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Make a weight orthogonal, Lezcano-Casado (2019).

    `orthogonal_map` is "matrix_exp" (the default for square and complex matrices), "cayley" or
    "householder". With `use_trivialization` the map is followed by a fixed orthogonal matrix, to
    which can be assigned.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    is_square = weight.shape[-2] == weight.shape[-1]
    chosen = orthogonal_map or ("matrix_exp" if is_square or weight.is_complex() else "householder")
    if chosen not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
