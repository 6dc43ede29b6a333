"""`Module`: a tree of modules with named parameters and buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..core.devices import check_device
from ..core.hooks import RemovableHandle
from ..core.modes import no_grad
from ..core.numpy_warnings import import_quietly
from ..core.tensor import Tensor, wrap
from ..core.user_warnings import warn
from ..functions.conversion import wanted
from ..inplace.ops import write
from .module_hooks import (
    GLOBAL,
    HooksOfKind,
    HooksWithKwargs,
    ModuleHooks,
    WithoutModule,
    call_with_hooks,
    register,
    register_backward,
    register_forward,
    register_forward_pre,
)
from .module_hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from .module_hooks import register_module_forward_hook as register_module_forward_hook
from .module_hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from .module_hooks import register_module_full_backward_hook as register_module_full_backward_hook
from .module_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from .module_hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from .module_hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from .module_members import ModuleMembers
from .module_state import EXTRA_STATE, LoadedKeys, State, collect, load, load_local, local_state
from .parameter import Parameter, set_array

_Self = TypeVar("_Self", bound="Module")


class Module(ModuleMembers):
    """Base class of networks: set parameters and modules as attributes, define `forward`."""

    _version: ClassVar[int | None] = 1
    """The version of the state's format, kept in its metadata."""

    call_super_init: ClassVar[bool] = False
    """True if `Module.__init__` passes its arguments on to the next class, as a mixin may need."""

    _hooks: ModuleHooks | None = None
    """The hooks of this module; None until the first is registered."""

    _forward_pre_hooks = HooksOfKind("forward_pre")
    _forward_hooks = HooksOfKind("forward")
    _backward_pre_hooks = HooksOfKind("backward_pre")
    _backward_hooks = HooksOfKind("backward")
    _state_dict_pre_hooks = HooksOfKind("state_dict_pre")
    _state_dict_hooks = HooksOfKind("state_dict")
    _load_state_dict_pre_hooks = HooksOfKind("load_pre")
    _load_state_dict_post_hooks = HooksOfKind("load_post")
    _forward_pre_hooks_with_kwargs = HooksWithKwargs("forward_pre")
    _forward_hooks_with_kwargs = HooksWithKwargs("forward")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            self._check_no_arguments(args, kwargs)
        # Past __setattr__, which needs these to be there.
        vars(self).update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _check_no_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(iter(kwargs))}'"
            )
        if args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but "
                f"{len(args) + 1} were given"
            )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; defined by subclasses."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooks is None and not GLOBAL.runs_at_calls:
            return self.forward(*args, **kwargs)
        return call_with_hooks(self, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Let calls of this module run a program from now on: `gs.compile`, in place.

        The arguments are those of `gs.compile`. Hooks run around the program, as around `forward`.
        """
        # By name, as the compiler is built on modules.
        compiler = import_quietly("..compiler", __package__)
        self._own_hooks().compiled = compiler.compile(self.forward, *args, **kwargs)

    register_module = ModuleMembers.add_module

    # ---- what is inside

    def get_submodule(self, target: str) -> Module:
        """Return a descendant by its dotted name; AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            found = getattr(module, name, None)
            if found is None:
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = found
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of a descendant; with `strict` there must be one."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        parent_name, _, name = target.rpartition(".")
        parent = self.get_submodule(parent_name)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Tensor:
        """Return a parameter by its dotted name; AttributeError if there is none."""
        found = self._member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return a buffer by its dotted name; AttributeError if there is none."""
        module, _, name = target.rpartition(".")
        found: Tensor = self._member(target)
        if name not in self.get_submodule(module)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _member(self, target: str) -> Any:
        module_name, _, name = target.rpartition(".")
        module = self.get_submodule(module_name)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return getattr(module, name)

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all its descendants, with dotted names.

        Each comes once, unless `remove_duplicate` is False; those in `memo` do not come at all.
        """
        seen: set[Any] = set() if memo is None else memo
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if module in seen:
                continue
            if remove_duplicate:
                seen.add(module)
            yield name, module
            for child_name, child in reversed(module._modules.items()):
                if child is not None:
                    stack.append((_joined(name, child_name), child))

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all its descendants, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct submodules, each once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """Iterate over the direct submodules, each once."""
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the parameters, each once, with dotted names."""
        return self._named_members(
            lambda m: m._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the parameters, each once."""
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers, each once, with dotted names."""
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over what a function finds in each module; meta-learning programs call it."""
        seen: set[int] = set()
        modules = self.named_modules(None, prefix, remove_duplicate)
        for module_name, module in modules if recurse else [(prefix, self)]:
            for name, member in get_members_fn(module):
                if member is not None and id(member) not in seen:
                    if remove_duplicate:
                        seen.add(id(member))
                    yield _joined(module_name, name), member

    # ---- doing something to all of them

    def apply(self: _Self, function: Callable[[Module], object]) -> _Self:
        """Call `function` on all descendants, then on this module."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def train(self: _Self, mode: bool = True) -> _Self:
        """Switch this module and its descendants to training, or to evaluation."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: _Self) -> _Self:
        """Switch to evaluation."""
        return self.train(False)

    def requires_grad_(self: _Self, requires_grad: bool = True) -> _Self:
        """Set `requires_grad` of all parameters."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for param in self.parameters():
            clear_grad(param, set_to_none)

    def _apply(self: _Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> _Self:
        """Replace buffers by `fn(tensor)`, and the values of parameters and gradients by its own.

        All conversions come through here, so that a module of one's own may convert more.
        """
        if recurse:
            for child in self.children():
                child._apply(fn)
        with no_grad():
            for tensor in self._parameters.values():
                if tensor is not None:
                    _replace_values(tensor, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: _Self, *args: Any, **kwargs: Any) -> _Self:
        """Cast floating-point and complex parameters and buffers, in place; integers stay.

        Called as `to(dtype)`, `to(device, dtype)`, `to(tensor)` or `to(memory_format=...)`, which
        is for tensors of four and five dimensions. There is one device, the CPU: RuntimeError for
        any other, and for `copy`.
        """
        chosen, copy, memory_format = wanted("Module.to", *args, **kwargs)
        if copy or "copy" in kwargs:
            raise RuntimeError("Module.to() does not accept copy argument: it converts in place")
        if chosen is not None and chosen.kind not in "fc":
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got {chosen}"
            )
        if chosen is not None and chosen.kind == "c":
            warn(
                "Complex modules are a new feature: some layers may not work as expected with "
                "complex numbers."
            )

        def converted(tensor: Tensor) -> Tensor:
            dtype = chosen if tensor.array.dtype.kind in "fc" else None
            order = memory_format if tensor.array.ndim in (4, 5) else None
            return tensor.to(dtype=dtype, memory_format=order)

        return self._apply(converted)

    def _cast_real(self: _Self, dtype: Any) -> _Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: _Self) -> _Self:
        """Cast floating-point parameters and buffers to float32; others stay as they are."""
        return self._cast_real(np.float32)

    def double(self: _Self) -> _Self:
        """Cast floating-point parameters and buffers to float64; others stay as they are."""
        return self._cast_real(np.float64)

    def half(self: _Self) -> _Self:
        """Cast floating-point parameters and buffers to float16; others stay as they are."""
        return self._cast_real(np.float16)

    def type(self: _Self, dst_type: Any) -> _Self:
        """Cast parameters and buffers, also those of whole numbers."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def to_empty(self: _Self, *, device: Any, recurse: bool = True) -> _Self:
        """Replace the values of parameters and buffers by unset memory."""
        check_device("Module.to_empty", device)
        return self._apply(lambda tensor: wrap(np.empty_like(tensor.array)), recurse)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the attributes of a pickled module; classes of programs extend it."""
        vars(self).update(state)

    def share_memory(self: _Self) -> _Self:
        """Return the module: threads share memory, and processes are given copies."""
        return self

    def cpu(self: _Self) -> _Self:
        """Return the module: there is one device, the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self: _Self, device: Any = None) -> _Self:
        """Raise AssertionError, as PyTorch does where it has no such device."""
        raise AssertionError("Module.cuda: gradspec has no CUDA devices, only the CPU")

    # ---- the state

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and persistent buffers by dotted name, sharing memory.

        They are detached, unless `keep_vars`; with `destination` they are added to that dict.
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        destination = given.get("destination", destination)
        if destination is None:
            destination = State()
        return collect(
            self, destination, given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> LoadedKeys:
        """Copy values into parameters and buffers, or with `assign` put tensors in their place.

        Raises RuntimeError, after loading what fits, if a shape differs, or with `strict` if a
        key is missing or not expected.
        """
        return load(self, state_dict, strict, assign)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add the state of this module alone; may be overridden."""
        for name, tensor in local_state(self).items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this module alone; may be overridden."""
        assign = local_metadata.get("assign_to_params_buffers", False)
        keys = LoadedKeys(missing_keys, unexpected_keys)
        has_extra_state = type(self).set_extra_state is not Module.set_extra_state
        load_local(self, state_dict, prefix, assign, keys, error_msgs, has_extra_state)

    def get_extra_state(self) -> Any:
        """Return what the state is to hold besides tensors; to be overridden."""
        raise RuntimeError(f"{type(self).__name__} does not define get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Load what `get_extra_state` has returned; to be overridden."""
        raise RuntimeError(f"{type(self).__name__} does not define set_extra_state")

    # ---- hooks

    def _own_hooks(self) -> ModuleHooks:
        if self._hooks is None:
            vars(self)["_hooks"] = ModuleHooks()
        assert self._hooks is not None
        return self._hooks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; it may return other arguments.

        With `with_kwargs` it is `hook(module, args, kwargs)`, and returns a pair of both.
        """
        return register_forward_pre(self._own_hooks(), hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; it may return another output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`. With `always_call` it is
        called where `forward` raises, too, with None for the output.
        """
        return register_forward(self._own_hooks(), hook, prepend, with_kwargs, always_call)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` before gradients pass; it may return other ones."""
        return register(self._own_hooks().backward_pre, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when gradients have passed.

        It gets those of positional arguments, and may return other ones.
        """
        return register_backward(self._own_hooks(), hook, prepend, full=True)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` of the last op in `forward` alone.

        What it gets depends on what that op is: `register_full_backward_hook` is what is meant.
        RuntimeError where the module has full hooks.
        """
        return register_backward(self._own_hooks(), hook, False, full=False)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before this module's state is collected."""
        return register(self._own_hooks().state_dict_pre, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook after the state is collected, which may return another; the older way."""
        return register(self._own_hooks().state_dict, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)`, which may change the state.

        It changes it in place: `state_dict` raises RuntimeError where the hook returns anything.
        """
        own = self._own_hooks()
        handle = register(own.state_dict, hook)
        own.return_nothing.add(handle.id)
        return handle

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook with the arguments of `_load_from_state_dict`, after the module."""
        return register(self._own_hooks().load_pre, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call a hook before loading, by default without the module: PyTorch's older way."""
        given = hook if with_module else WithoutModule(hook)
        return register(self._own_hooks().load_pre, given)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change these lists."""
        return register(self._own_hooks().load_post, hook)

    # ---- its text

    def _get_name(self) -> str:
        """The name that `repr` shows; `__repr__` of one's own may call it."""
        return type(self).__name__

    def extra_repr(self) -> str:
        """Show the module's own settings in its `repr`."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        inside = [
            f"({name}): " + "\n  ".join(repr(module).split("\n"))
            for name, module in self._modules.items()
        ]
        lines = [*(extra.split("\n") if extra else []), *inside]
        if len(lines) <= 1 and not inside:
            return f"{self._get_name()}({extra})"
        body = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {body}\n)"


def _replace_values(tensor: Tensor, fn: Callable[[Tensor], Tensor]) -> None:
    """Give a tensor, and its gradient, the values of `fn`, which may also write in place."""
    grad = tensor.grad
    replaced = fn(tensor)
    if replaced is not tensor:
        set_array(tensor, replaced.array)
    if grad is not None:
        replaced = fn(grad)
        if replaced is not grad:
            tensor.grad = replaced.detach().requires_grad_(grad.requires_grad)


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Set a gradient to None, or to zero in its own memory."""
    if set_to_none:
        tensor.grad = None
    elif tensor.grad is not None:
        if tensor.grad.grad_node is not None:
            tensor.grad = tensor.grad.detach()
        write(tensor.grad, 0)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
