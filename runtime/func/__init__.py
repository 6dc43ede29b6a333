"""Function transforms, as in `torch.func`: derivatives and batches of functions of tensors.

They compose: `vmap(grad(loss), in_dims=(None, 0))` gives the gradient of every example.
"""

from __future__ import annotations

from typing import Any

from ..core.missing import no_attribute as _no_attribute
from .functionalized import functionalize as functionalize
from .gradients import grad as grad
from .gradients import grad_and_value as grad_and_value
from .gradients import vjp as vjp
from .jacobians import hessian as hessian
from .jacobians import jacfwd as jacfwd
from .jacobians import jacrev as jacrev
from .modules import functional_call as functional_call
from .modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from .modules import stack_module_state as stack_module_state
from .tangents import jvp as jvp
from .tangents import linearize as linearize
from .vmap import vmap as vmap

_NAME = __name__


def __getattr__(name: str) -> Any:
    raise _no_attribute(_NAME, name)


__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
