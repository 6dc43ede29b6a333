"""Base class of optimizers: groups of parameters with options, state by parameter, and hooks."""

from __future__ import annotations

import copy
import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final, Self, TypeAlias

import numpy as np

from ..core.captured import as_number
from ..core.hooks import RemovableHandle
from ..core.modes import enable_grad
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..dtypes.promotion import get_default_dtype
from ..inplace.allowed_mutation import keep_saved
from ..inplace.ops import mark_written
from ..nn.module import clear_grad
from .differentiable import update_recorded

Array: TypeAlias = np.ndarray[Any, Any]
Group: TypeAlias = dict[str, Any]
State: TypeAlias = dict[str, Any]
Parameters: TypeAlias = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]
ParamsT: TypeAlias = Parameters  # PyTorch's name, which optimizers of one's own import
Hook: TypeAlias = Callable[..., Any]

_global_pre_hooks: Final[dict[int, Hook]] = {}
required: Final = object()
"""The default of options that must be given, for optimizers that others write."""

_global_post_hooks: Final[dict[int, Hook]] = {}


class Optimizer:
    """Base class of optimizers: subclasses define `update`, the step of one parameter, or `step`.

    `params` are tensors, or pairs of a name and a tensor, or groups: dicts with `params` and
    options that differ from `defaults`.
    """

    _opt_called = False
    """Set by the first `step`: learning rate schedulers warn if they are stepped before it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _with_hooks(vars(cls)["step"])  # type: ignore[method-assign]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the hooks: optimizers around another one do not call `__init__`."""
        self = super().__new__(cls)
        self._make_hooks()
        return self

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, State] = defaultdict(dict)
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

    def _make_hooks(self) -> None:
        self._step_pre_hooks: dict[int, Hook] = {}
        self._step_post_hooks: dict[int, Hook] = {}
        self._state_dict_pre_hooks: dict[int, Hook] = {}
        self._state_dict_post_hooks: dict[int, Hook] = {}
        self._load_state_dict_pre_hooks: dict[int, Hook] = {}
        self._load_state_dict_post_hooks: dict[int, Hook] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the hooks, which need not be picklable."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_hooks")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_hooks()

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own.

        Raises TypeError for anything but tensors, ValueError for a tensor that is no leaf or that
        is in a group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group).__name__}")
        params, names = _split_names(param_group["params"])
        known = {id(param) for group in self.param_groups for param in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(param).__name__}"
                )
            is_free = self.defaults.get("differentiable") or param.is_leaf or param.retains_grad
            if not is_free:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        if len({id(param) for param in params}) != len(params):
            warn("optimizer contains a parameter group with duplicate parameters")
        if self.param_groups and ("param_names" in self.param_groups[0]) != bool(names):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with' if names else 'without'} names to the optimizer"
            )
        group = {**self.defaults, **param_group, "params": params}
        if names:
            group["param_names"] = names
        self.param_groups.append(group)

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
            if group.get("capturable") and not group.get("fused"):
                raise AssertionError(
                    "If capturable=True, params and state_steps must be on an accelerator: "
                    "gradspec has only the CPU, so leave capturable=False"
                )
            options = _with_numbers(group)
            for param in group["params"]:
                grad = param.grad
                if grad is None:
                    continue
                state = self.state[param]
                if group.get("differentiable"):
                    with enable_grad():
                        update_recorded(self.update, param, grad, state, options)
                else:
                    keep_saved(param)
                    self.update(param.array, grad.array, state, options)
                    mark_written(param)
                if not state:
                    del self.state[param]  # as where an algorithm has none
        return loss

    def update(self, values: Array, grad: Array, state: State, group: Group) -> None:
        """Change `values` in place; `grad` must not be changed."""
        raise NotImplementedError(f"{type(self).__name__} does not define update")

    # ---- the state

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, by the numbers of parameters: in order through the groups."""
        for hook in self._state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
        groups = [
            {
                **{name: value for name, value in group.items() if name != "params"},
                "params": [numbers[id(param)] for param in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {numbers.get(id(key), key): kept for key, kept in self.state.items() if kept}
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._state_dict_post_hooks.values():
            found = _or_given(hook(self, found), found)
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load state and options; ValueError if the groups have other sizes.

        Tensors of the state are copied, and cast to the dtype of their parameter; `step` is not.
        Options that it lacks, as one of an older version may, are those of the constructor.
        """
        state_dict = dict(state_dict)
        for hook in self._load_state_dict_pre_hooks.values():
            state_dict = _or_given(hook(self, state_dict), state_dict)
        loaded = state_dict["param_groups"]
        if len(loaded) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(group["params"]) for group in loaded] != [
            len(group["params"]) for group in self.param_groups
        ]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        params: dict[Any, Tensor] = {}
        for own, other in zip(self.param_groups, loaded, strict=True):
            params.update(zip(other["params"], own["params"], strict=True))
        self.state = defaultdict(dict)
        for key, entries in state_dict["state"].items():
            param = params.get(key)
            self.state[key if param is None else param] = _copied(entries, param, "")
        defaults = vars(self).get("defaults", {})  # optimizers around another one have none
        for own, other in zip(self.param_groups, loaded, strict=True):
            names: Group = {name: own[name] for name in ("params", "param_names") if name in own}
            options = copy.deepcopy({**other, "params": []})
            own.clear()
            own.update({**defaults, **names, **options, "params": names["params"]})
        for hook in self._load_state_dict_post_hooks.values():
            hook(self)

    # ---- hooks

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other arguments."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` collects anything."""
        return _registered(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` on the result, which it may change or replace."""
        return _registered(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; it may return another dict."""
        return _registered(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return _registered(self._load_state_dict_post_hooks, hook, prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [""] if number else []
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return RemovableHandle(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return RemovableHandle(_global_post_hooks, hook)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Run the hooks around a `step` method."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        for hook in (*_global_pre_hooks.values(), *self._step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step.__qualname__}: a step pre hook must return None or a tuple of "
                        f"(new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in (*self._step_post_hooks.values(), *_global_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    hooked.notes_steps = True  # type: ignore[attr-defined]
    return hooked


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]


def notes_steps(optimizer: Optimizer) -> bool:
    """Return whether a step would set `_opt_called`: one that was put in its place does not."""
    return hasattr(optimizer.step, "notes_steps")


def note_steps(optimizer: Optimizer) -> None:
    """Have `_opt_called` set also by a `step` that was assigned to the optimizer itself."""
    step = optimizer.step
    if notes_steps(optimizer):
        return

    @functools.wraps(step)
    def noting(*args: Any, **kwargs: Any) -> Any:
        optimizer._opt_called = True
        return step(*args, **kwargs)

    noting.notes_steps = True  # type: ignore[attr-defined]
    optimizer.step = noting  # type: ignore[method-assign]


def _registered(hooks: dict[int, Hook], hook: Hook, prepend: bool) -> RemovableHandle:
    others = dict(hooks) if prepend else {}
    for number in others:
        del hooks[number]
    handle = RemovableHandle(hooks, hook)
    hooks.update(others)
    return handle


def _or_given(returned: Any, given: Any) -> Any:
    return given if returned is None else returned


def _split_names(given: Any) -> tuple[list[Any], list[str]]:
    if isinstance(given, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    items = [given] if isinstance(given, Tensor) else list(given)
    names = [item[0] for item in items if isinstance(item, tuple)]
    if names and len(names) != len(items):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    return [item[1] if isinstance(item, tuple) else item for item in items], names


def _copied(value: Any, param: Tensor | None, key: Any) -> Any:
    """Copy a part of a loaded state; tensors get the dtype of their parameter, but for `step`."""
    if key == "step" and not isinstance(value, Tensor):
        return scalar(float(value))
    if isinstance(value, Tensor):
        dtype = value.array.dtype
        if key != "step" and param is not None and param.array.dtype.kind == "f":
            dtype = param.array.dtype
        return wrap(np.array(value.array, dtype))
    if isinstance(value, dict):
        return {name: _copied(item, param, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(item, param, "") for item in value)
    return copy.deepcopy(value)


# ---- parts of the algorithms


def check_options(**values: Any) -> None:
    """Raise ValueError, in PyTorch's words, for the first option that is out of its range.

    `lr` and everything else must not be negative; both `betas` are at least 0 and below 1.
    """
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in values.items():
        if name == "betas":
            for index, beta in enumerate(value):
                check_one_element(f"betas[{index}]", beta)
                if not 0 <= beta < 1:
                    raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
            continue
        check_one_element(name, value)
        if not value >= 0:
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}")


def check_one_element(name: str, value: Any) -> None:
    """Raise ValueError for an option that is a tensor of several elements, or of none."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def check_implementation(foreach: bool | None, differentiable: bool, fused: bool | None) -> None:
    """Raise RuntimeError for implementations that exclude each other; there is only one here."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _with_numbers(group: Group) -> Group:
    """The options of a group, numbers in the place of tensors; the learning rate as it is.

    So are tensors that require grad, which only recorded steps ask about.
    """
    return {
        name: value if name in ("lr", "params") else _plain(value) for name, value in group.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value if isinstance(value, Tensor) and value.requires_grad else number(value)


def number(value: Any) -> Any:
    """Return an option as a number; it may be given as a tensor of one element."""
    return as_number(value.array) if isinstance(value, Tensor) else value


def root(value: Any) -> Any:
    """Return the square root of a number."""
    return math.sqrt(value) if isinstance(value, float) else np.sqrt(value)


def at_least(value: Any, lowest: float) -> Any:
    """Return a number, but no less than `lowest`."""
    return max(value, lowest) if isinstance(value, int | float) else np.maximum(value, lowest)


def at_most(value: Any, highest: float) -> Any:
    """Return a number, but no more than `highest`."""
    return min(value, highest) if isinstance(value, int | float) else np.minimum(value, highest)


def as_real(array: Array) -> Array:
    """View complex values as pairs of real ones, in a last axis more; real ones as they are."""
    return array[..., None].view(array.real.dtype) if array.dtype.kind == "c" else array


def zeros(values: Array) -> Tensor:
    """Make a tensor of zeros like a parameter."""
    return wrap(np.zeros_like(values))


def scalar(value: float, is_fused: bool | None = False) -> Tensor:
    """Make a tensor for a number of the state: float32, also where that is not the default, if
    `is_fused`; otherwise float64 if that is the default.
    """
    dtype = np.float64 if get_default_dtype() == np.float64 and not is_fused else np.float32
    return wrap(np.array(value, dtype))


def advance(state: State) -> float:
    """Count a step in the state; return how many there have been."""
    steps = state["step"].array
    steps += 1
    steps_so_far: float = as_number(steps)
    return steps_so_far


def decayed(values: Array, grad: Array, group: Group) -> Array:
    """Return the gradient to descend by: negated for `maximize`, with `weight_decay` added."""
    if group["maximize"]:
        grad = -grad
    return grad + group["weight_decay"] * values if group["weight_decay"] else grad


def shrunk_or_decayed(values: Array, grad: Array, lr: float, group: Group) -> Array:
    """Decay as `decayed`; with `decoupled_weight_decay` shrink `values` in place instead."""
    if not group["decoupled_weight_decay"]:
        return decayed(values, grad, group)
    if group["weight_decay"]:
        values *= 1 - lr * group["weight_decay"]
    return -grad if group["maximize"] else grad


def average(mean: Array, new: Array, weight: float) -> None:
    """Move an exponential mean, in place, by `weight` of the way to `new`."""
    mean += weight * (new - mean)
