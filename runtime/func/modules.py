"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.registry import ops
from ..nn.layers import BatchNorm
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

    Of several dicts none may have a name of another: ValueError. The rest is as in
    `nn.utils.stateless.functional_call`; what the module has set meanwhile is in a single dict
    afterwards.
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, Mapping):
        given = _merged(given)
    return stateless.functional_call(
        module, given, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _merged(given: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    if not isinstance(given, Sequence) or not all(isinstance(part, Mapping) for part in given):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given).__name__}"
        )
    merged: dict[str, Tensor] = {}
    for part in given:
        twice = sorted(merged.keys() & part.keys())
        if twice:
            raise ValueError(
                f"{twice} appeared in multiple dictionaries: the call would be ambiguous"
            )
        merged.update(part)
    return merged


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let batch normalisations inside of a module keep no running statistics; return the module.

    `vmap` cannot write to what all examples share.
    """
    for module in root.modules():
        if isinstance(module, BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of like modules, stacked by name: for `vmap` over models.

    RuntimeError for modules that differ in class, mode, or in what of them requires grad.
    """
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
        if len({state[name].requires_grad for state in states}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        tensor = ops.stack([state[name].detach() for state in states])
        stacked[name] = tensor.requires_grad_() if first.requires_grad else tensor
    return stacked
