"""Hooks of modules: before and after `forward`, in the backward pass, and around states.

The hooks of all modules are registered by the functions here, those of one by its methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ..autograd.function import Function
from ..core.hooks import RemovableHandle
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn

if TYPE_CHECKING:
    from .module import Module

Hook: TypeAlias = Callable[..., Any]


@dataclass(slots=True)
class ModuleHooks:
    """Hooks of one module, or of all, by kind, in the order in which they run."""

    forward_pre: dict[int, Any] = field(default_factory=dict)
    forward: dict[int, Any] = field(default_factory=dict)
    backward_pre: dict[int, Any] = field(default_factory=dict)
    backward: dict[int, Any] = field(default_factory=dict)
    state_dict_pre: dict[int, Any] = field(default_factory=dict)
    state_dict: dict[int, Any] = field(default_factory=dict)
    load_pre: dict[int, Any] = field(default_factory=dict)
    load_post: dict[int, Any] = field(default_factory=dict)
    parameter_registration: dict[int, Any] = field(default_factory=dict)
    buffer_registration: dict[int, Any] = field(default_factory=dict)
    module_registration: dict[int, Any] = field(default_factory=dict)

    with_kwargs: set[int] = field(default_factory=set)
    """The numbers of the hooks around `forward` that are given keyword arguments."""

    always_called: set[int] = field(default_factory=set)
    """The numbers of the hooks after `forward` that are called after an error, too."""

    return_nothing: set[int] = field(default_factory=set)
    """The numbers of the hooks of states that must not return another state."""

    backward_is_full: bool | None = None
    """True if the backward hooks are full ones; None where none was registered."""

    compiled: Hook | None = None
    """Function that `Module.compile` calls in the place of `forward`."""

    runs_at_calls: bool = False
    """Set once a hook that runs at calls has been registered for all modules."""


GLOBAL: Final = ModuleHooks()
"""The hooks of all modules."""


class HooksOfKind:
    """Descriptor of a module's hooks of one kind by their numbers, which may be changed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __get__(self, module: Module | None, owner: type) -> Any:
        return self if module is None else getattr(module._own_hooks(), self.kind)

    def __set__(self, module: Module, hooks: dict[int, Hook]) -> None:
        setattr(module._own_hooks(), self.kind, hooks)

    def __delete__(self, module: Module) -> None:
        setattr(module._own_hooks(), self.kind, {})


class HooksWithKwargs:
    """Descriptor of the numbers of those hooks of a kind that get keyword arguments, too."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __get__(self, module: Module | None, owner: type) -> Any:
        if module is None:
            return self
        own = module._own_hooks()
        return {number: True for number in getattr(own, self.kind) if number in own.with_kwargs}


class WithoutModule:
    """Hook that is not given the module."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook

    def __call__(self, module: Module, *args: Any) -> Any:
        """Call the hook with the other arguments."""
        return self.hook(*args)


def register(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Add a hook at the end, or at the beginning."""
    others = dict(hooks) if prepend else {}
    for number in others:
        del hooks[number]
    handle = RemovableHandle(hooks, hook)
    hooks.update(others)
    return handle


def register_forward_pre(
    own: ModuleHooks, hook: Hook, prepend: bool, with_kwargs: bool
) -> RemovableHandle:
    """Add a hook before `forward`."""
    handle = register(own.forward_pre, hook, prepend)
    if with_kwargs:
        own.with_kwargs.add(handle.id)
    return handle


def register_forward(
    own: ModuleHooks, hook: Hook, prepend: bool, with_kwargs: bool, always_call: bool
) -> RemovableHandle:
    """Add a hook after `forward`."""
    handle = register(own.forward, hook, prepend)
    if with_kwargs:
        own.with_kwargs.add(handle.id)
    if always_call:
        own.always_called.add(handle.id)
    return handle


def register_backward(own: ModuleHooks, hook: Hook, prepend: bool, full: bool) -> RemovableHandle:
    """Add a hook of the backward pass; RuntimeError where there are some of the other kind."""
    if own.backward_is_full not in (None, full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. "
            "Please use only one of them."
        )
    own.backward_is_full = full
    return register(own.backward, hook, prepend)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before every module's `forward`; it may return other arguments."""
    GLOBAL.runs_at_calls = True
    return register(GLOBAL.forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after every module's `forward`.

    With `with_kwargs` it is `hook(module, args, kwargs, output)`. What it returns, if not None,
    takes the place of the output. With `always_call` it is called where `forward` raises, too.
    """
    GLOBAL.runs_at_calls = True
    return register_forward(GLOBAL, hook, False, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` before every module's gradients are computed."""
    GLOBAL.runs_at_calls = True
    return register(GLOBAL.backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when a module's gradients are computed."""
    return _register_module_backward(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` of the last op of every module.

    What it gets depends on what that op is: `register_module_full_backward_hook` is what is meant.
    RuntimeError while there are full hooks of all modules.
    """
    return _register_module_backward(hook, full=False)


def _register_module_backward(hook: Hook, full: bool) -> RemovableHandle:
    GLOBAL.runs_at_calls = True
    if not GLOBAL.backward:
        GLOBAL.backward_is_full = None
    return register_backward(GLOBAL, hook, False, full)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when any module registers one; it may return another."""
    return register(GLOBAL.parameter_registration, hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when any module registers one; it may return another."""
    return register(GLOBAL.buffer_registration, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, submodule)` when any module registers one."""
    return register(GLOBAL.module_registration, hook)


def registered_as(hooks: dict[int, Any], module: object, name: str, value: Any) -> Any:
    """Return what is to be registered for `value`, as registration hooks say."""
    for hook in hooks.values():
        other = hook(module, name, value)
        value = value if other is None else other
    return value


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `forward` with all hooks around it."""
    own = module._hooks or ModuleHooks()
    called: set[int] = set()
    try:
        return _call(module, own, args, kwargs, called)
    except Exception:
        for hooks in (GLOBAL, own):
            for number, hook in list(hooks.forward.items()):
                if number in hooks.always_called and number not in called:
                    given = (args, kwargs) if number in hooks.with_kwargs else (args,)
                    _call_after_error(module, hook, given)
        raise


def _call_after_error(module: Module, hook: Hook, given: tuple[Any, ...]) -> None:
    try:
        hook(module, *given, None)
    except Exception as error:
        warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}"
        )


def _call(
    module: Module,
    own: ModuleHooks,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    called: set[int],
) -> Any:
    args, kwargs = _before(module, own, args, kwargs)
    backward = _backward_hooks((GLOBAL, own), full=True)
    backward_pre = [*GLOBAL.backward_pre.values(), *own.backward_pre.values()]
    passing = _BackwardPass(module, backward, backward_pre) if backward or backward_pre else None
    if passing is not None:
        args = passing.enter(args)
    result = (own.compiled or module.forward)(*args, **kwargs)
    for hooks in (GLOBAL, own):
        for number, hook in list(hooks.forward.items()):
            called.add(number)
            given = (args, kwargs) if number in hooks.with_kwargs else (args,)
            other = hook(module, *given, result)
            result = result if other is None else other
    last = _backward_hooks((GLOBAL, own), full=False)
    if last:
        _hook_last_node(module, last, result)
    return result if passing is None else passing.leave(result)


def _backward_hooks(kinds: tuple[ModuleHooks, ModuleHooks], full: bool) -> list[Hook]:
    """Return the backward hooks that are full ones, or those that are not."""
    chosen = [hooks for hooks in kinds if (hooks.backward_is_full is not False) is full]
    return [hook for hooks in chosen for hook in hooks.backward.values()]


def _hook_last_node(module: Module, hooks: list[Hook], result: Any) -> None:
    """Register hooks that are not full on the node of the (first) output."""
    while not isinstance(result, Tensor):
        result = next(iter(result.values() if isinstance(result, dict) else result))
    node = result.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(partial(hook, module))


def _before(
    module: Module, own: ModuleHooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    ordered = [(hooks, *item) for hooks in (GLOBAL, own) for item in hooks.forward_pre.items()]
    for hooks, number, hook in ordered:
        if number in hooks.with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {changed}."
                    )
                args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


# ---- the backward pass


class BackwardHookFunction(Function):
    """Identity of several tensors: its node is where the hooks of a module are."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        """Return the gradients."""
        return grads


class _BackwardPass:
    """The backward hooks of one call of a module, from its outputs to its inputs."""

    def __init__(self, module: Module, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Any = None
        self.input_positions: list[int] | None = None
        self.input_count = 0
        self.inputs: dict[int, tuple[tuple[int, ...], Any]] = {}

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put a node between the inputs and the module."""
        self.input_count = len(args)
        wrapped, node, positions = _through_node(args)
        if node is None:
            return args
        self.input_positions = positions
        self.inputs = {i: (args[i].array.shape, args[i].array.dtype) for i in positions}
        if self.hooks:
            node.register_hook(self._after)
        return wrapped

    def leave(self, result: Any) -> Any:
        """Put a node between the module and its outputs."""
        if not isinstance(result, Tensor | tuple):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}"
            )
        outputs = result if isinstance(result, tuple) else (result,)
        wrapped, node, positions = _through_node(outputs)
        if node is None:
            return result

        def before(grads: Sequence[Any]) -> Any:
            return self._before(grads, positions, len(outputs))

        node.register_prehook(before)
        return wrapped if isinstance(result, tuple) else wrapped[0]

    def _before(self, grads: Sequence[Any], positions: list[int], count: int) -> Any:
        self.grad_outputs = _at(positions, grads, count)
        returned = None
        for hook in self.pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is not None:
                self.grad_outputs = _as_tuple(changed, count, "Backward pre hook", "grad_output")
                returned = tuple(self.grad_outputs[position] for position in positions)
        if self.input_positions is None:
            self._without_inputs()
        return returned

    def _without_inputs(self) -> None:
        if self.hooks:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients."
            )
        nothing = (None,) * self.input_count
        for hook in self.hooks:
            changed = hook(self.module, nothing, self.grad_outputs)
            if changed is not None and any(grad is not None for grad in changed):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _or_zeros(self, position: int, grad: Tensor | None) -> Tensor:
        shape, dtype = self.inputs[position]
        return wrap(np.zeros(shape, dtype)) if grad is None else grad

    def _after(self, grad_inputs: Sequence[Any], _: Sequence[Any]) -> Any:
        if self.grad_outputs is None:  # the outputs were not reached
            return None
        positions = self.input_positions or []
        grads = _at(positions, map(self._or_zeros, positions, grad_inputs), self.input_count)
        returned = None
        for hook in self.hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is not None:
                grads = _as_tuple(changed, self.input_count, "Backward hook", "grad_input")
                returned = tuple(grads[position] for position in positions)
        self.grad_outputs = None
        return returned


def _through_node(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int]]:
    """Pass the tensors among `values` through one node; None if none of them requires grad."""
    positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not any(values[i].requires_grad for i in positions):
        return values, None, []
    passed = BackwardHookFunction.apply(*[values[i] for i in positions])
    node = next((tensor.grad_fn for tensor in passed if tensor.grad_fn is not None), None)
    if node is None:  # in no_grad
        return values, None, []
    wrapped = list(values)
    for position, tensor in zip(positions, passed, strict=True):
        wrapped[position] = tensor
    if hasattr(values, "_fields"):
        return type(values)(*wrapped), node, positions
    return tuple(wrapped), node, positions


def _at(positions: list[int], values: Iterable[Any], count: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * count
    for position, value in zip(positions, values, strict=False):
        found[position] = value
    return tuple(found)


def _as_tuple(grads: Any, count: int, name: str, what: str) -> tuple[Any, ...]:
    grads = grads if isinstance(grads, tuple) else (grads,)
    if len(grads) != count:
        raise RuntimeError(
            f"{name} returned an invalid number of {what}, got {len(grads)}, but expected {count}"
        )
    return grads
