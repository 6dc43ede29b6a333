"""Weight normalisation by a hook: a weight from its length and its direction.

`parametrizations.weight_norm` is its successor.
"""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.registry import ops
from ..module import Module
from ..parameter import Parameter, check_shape_known


def norm_except_dim(tensor: Tensor, dim: int | None) -> Tensor:
    """Compute the norm over all dimensions but one, which is kept; over all for None or -1."""
    if dim is None or dim == -1:
        found: Tensor = ops.linalg_vector_norm(tensor)
        return found
    others = [other for other in range(tensor.ndim) if other != dim % tensor.ndim]
    kept: Tensor = ops.linalg_vector_norm(tensor, 2.0, others, True) if others else tensor.abs()
    return kept


def weight_of(length: Tensor, direction: Tensor, dim: int | None) -> Tensor:
    """Compute the weight `length * direction / |direction|`, Salimans & Kingma (2016)."""
    weight: Tensor = direction * (length / norm_except_dim(direction, dim))
    return weight


class WeightNorm:
    """Forward hook that computes the weight; `dim` keeps a length each, None one for all."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Compute the weight from the parameters `<name>_g` and `<name>_v`."""
        length, direction = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return weight_of(length, direction, self.dim)

    def __call__(self, module: Module, _: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Replace a parameter by its length, `<name>_g`, and its direction, `<name>_v`."""
    if _hook_of(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    check_shape_known(weight, "weight_norm")
    delattr(module, name)
    length = norm_except_dim(weight.detach(), hook.dim)
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again; ValueError if there is no weight normalisation."""
    number = _hook_of(module, name)
    if number is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hooks = module._own_hooks().forward_pre
    weight = hooks.pop(number).compute_weight(module)
    for part in (name, f"{name}_g", f"{name}_v"):
        delattr(module, part)
    setattr(module, name, Parameter(weight.detach()))
    return module


def _hook_of(module: Module, name: str) -> int | None:
    for number, hook in module._own_hooks().forward_pre.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return number
    return None
