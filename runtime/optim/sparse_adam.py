"""SparseAdam, which needs sparse gradients."""

from __future__ import annotations

from ..core.tensor import Tensor
from .optimizer import Array, Group, Optimizer, Parameters, State, check_options


class SparseAdam(Optimizer):
    """Adam for sparse gradients, which there are none of here: every step is refused."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_options(lr=lr, eps=eps, betas=betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Raise RuntimeError, as PyTorch does for dense gradients."""
        raise RuntimeError(
            "SparseAdam does not support dense gradients, please consider Adam instead"
        )
