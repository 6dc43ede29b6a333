"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..nn.module import Module
from ..nn.utils import stateless


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of parameters and buffers, by their names.

    Of several dicts the later ones count. `args` is the argument, or a tuple of them. The module is
    as before afterwards. With `tie_weights` a tensor that the module has under several names is
    replaced under all of them. RuntimeError for a name that the module does not have and, if
    `strict`, for one that is missing.
    """
    given = parameter_and_buffer_dicts
    merged: dict[str, Tensor] = {}
    for part in [given] if isinstance(given, Mapping) else given:
        merged.update(part)
    return stateless.functional_call(
        module, merged, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of like modules, stacked by name: for `vmap` over models."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    stacked = {}
    for name, first in states[0].items():
        tensor = ops.stack([state[name].detach() for state in states])
        stacked[name] = tensor.requires_grad_() if first.requires_grad else tensor
    return stacked
