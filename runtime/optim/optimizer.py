"""Base class of optimizers: groups of parameters with options, and state by parameter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from ..core.modes import enable_grad
from ..core.tensor import Tensor, wrap
from ..inplace.ops import mark_written
from ..nn.module import clear_grad

Array: TypeAlias = np.ndarray[Any, Any]
Group: TypeAlias = dict[str, Any]
State: TypeAlias = dict[str, Any]
Parameters: TypeAlias = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]


class Optimizer:
    """Base class of optimizers: subclasses define `update`, the step of one parameter.

    `params` are tensors, or groups: dicts with `params` and options that differ from `defaults`.
    """

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: dict[Tensor, State] = {}
        self.param_groups: list[Group] = []
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {type(params).__name__}"
            )
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own.

        Raises TypeError for anything but tensors, ValueError for a tensor that is no leaf or that
        is in a group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}")
        given = param_group["params"]
        params = [given] if isinstance(given, Tensor) else list(given)
        params = [item[1] if isinstance(item, tuple) else item for item in params]
        known = {id(param) for group in self.param_groups for param in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, not {type(param).__name__}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError("some parameters appear in more than one parameter group")
            known.add(id(param))
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update parameters that have gradients; return the loss, if a `closure` computes it."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for param in group["params"]:
                grad = param.grad
                if grad is not None:
                    state = self.state.setdefault(param, {})
                    self.update(param.array, grad.array, state, group)
                    mark_written(param)
        return loss

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Change `values` in place; `grad` must not be changed."""
        raise NotImplementedError(f"{type(self).__name__} does not define update")

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, by the numbers of parameters: in order through the groups."""
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
        groups = [
            {**group, "params": [numbers[id(param)] for param in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers[id(param)]: entries for param, entries in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load state and options; ValueError if the groups have other sizes."""
        loaded = state_dict["param_groups"]
        if [len(group["params"]) for group in loaded] != [
            len(group["params"]) for group in self.param_groups
        ]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        self.state = {}
        for own, other in zip(self.param_groups, loaded, strict=True):
            for param, number in zip(own["params"], other["params"], strict=True):
                if number in state_dict["state"]:
                    self.state[param] = _copied(state_dict["state"][number])
            own.update({key: copy.copy(value) for key, value in other.items() if key != "params"})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _copied(entries: State) -> State:
    return {
        key: wrap(value.array.copy()) if isinstance(value, Tensor) else value
        for key, value in entries.items()
    }


def check_not_negative(options: dict[str, float]) -> None:
    """Raise ValueError, in PyTorch's words, for the first value that is negative."""
    for words, value in options.items():
        if not value >= 0:
            raise ValueError(f"Invalid {words}: {value}")
