"""`Module`: a tree of modules with named parameters and buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.tensor import Tensor
from ..core.user_warnings import warn
from ..functions.conversion import wanted
from ..inplace.ops import write
from .parameter import Parameter, set_array

_Self = TypeVar("_Self", bound="Module")


class LoadedKeys(NamedTuple):
    """Result of `load_state_dict`: keys that were missing, and keys that were not expected."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def problems(self) -> list[str]:
        """Describe each kind of key that does not match, on a line."""
        kinds = {"Missing": self.missing_keys, "Unexpected": self.unexpected_keys}
        return [
            f"{kind} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". "
            for kind, keys in kinds.items()
            if keys
        ]

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return (
                f"LoadedKeys(missing_keys={self.missing_keys}, "
                f"unexpected_keys={self.unexpected_keys})"
            )
        return "<All keys matched successfully>"


class Module:
    """Base class of networks: set parameters and modules as attributes, define `forward`."""

    training: bool
    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _transient_buffers: set[str]

    def __init__(self) -> None:
        # Past __setattr__, which needs these to be there.
        vars(self).update(
            training=True, _parameters={}, _buffers={}, _modules={}, _transient_buffers=set()
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; defined by subclasses."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parameters" not in vars(self):
            raise AttributeError(
                f"cannot assign {name} before Module.__init__() call: "
                f"begin {type(self).__name__}.__init__ with super().__init__()"
            )
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name)
            self._modules[name] = value
        elif name in self._parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as parameter '{name}' "
                    "(nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in self._modules and value is None:
            self._modules[name] = None
        elif name in self._buffers and (value is None or isinstance(value, Tensor)):
            self._buffers[name] = value
        else:
            self._forget(name)
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        # Only for what is not an ordinary attribute.
        for kind in ("_parameters", "_buffers", "_modules"):
            members = vars(self).get(kind, {})
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            object.__delattr__(self, name)
        elif not self._forget(name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _forget(self, name: str) -> bool:
        """Remove what is registered under a name; return whether anything was."""
        found = False
        for members in (self._parameters, self._buffers, self._modules, vars(self)):
            if name in members:
                del members[name]
                found = True
        self._transient_buffers.discard(name)
        return found

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter; None reserves the name."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(nn.Parameter or None required)"
            )
        self._forget(_checked_name(name))
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained; a persistent one is part of the state."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' object to buffer '{name}'")
        self._forget(_checked_name(name))
        self._buffers[name] = tensor
        if not persistent:
            self._transient_buffers.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under a name that need not be an identifier."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._forget(_checked_name(name))
        self._modules[name] = module

    register_module = add_module

    # ---- what is inside

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all its descendants, each once, with dotted names."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
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
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the parameters, each once, with dotted names."""
        return self._named_members("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the parameters, each once."""
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers, each once, with dotted names."""
        return self._named_members("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(self, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for module_name, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name, member in getattr(module, kind).items():
                if member is not None and id(member) not in seen:
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

    def to(self: _Self, *args: Any, **kwargs: Any) -> _Self:
        """Cast floating-point parameters and buffers, in place; integers keep their dtype.

        Called as `to(dtype)`, `to(device, dtype)` or `to(tensor)`. There is one device, the CPU:
        RuntimeError for any other.
        """
        chosen = wanted("Module.to", *args, **kwargs)[0]
        if chosen is None:
            return self
        if chosen.kind not in "fc":
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got {chosen}"
            )
        if chosen.kind == "c":
            warn("Complex modules: some layers may not work as expected with complex numbers.")
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.array.dtype.kind in "fc" and tensor.array.dtype != chosen:
                set_array(tensor, tensor.array.astype(chosen))
        return self

    def float(self: _Self) -> _Self:
        """Cast to float32, as `to(float32)`."""
        return self.to(np.float32)

    def double(self: _Self) -> _Self:
        """Cast to float64, as `to(float64)`."""
        return self.to(np.float64)

    # ---- the state

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return parameters and persistent buffers by dotted name, detached, sharing memory."""
        state = {}
        for module_name, module in _named_modules_repeated(self, prefix):
            persistent = {
                name: buffer
                for name, buffer in module._buffers.items()
                if name not in module._transient_buffers
            }
            for name, tensor in (module._parameters | persistent).items():
                if tensor is not None:
                    state[_joined(module_name, name)] = tensor.detach()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> LoadedKeys:
        """Copy values into parameters and buffers.

        Raises RuntimeError, after copying what fits, if a shape differs, or with `strict` if a
        key is missing or not expected.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict()
        problems = []
        for name, target in own.items():
            source = state_dict.get(name)
            if source is None:
                continue
            if source.array.shape == target.array.shape:
                write(target, source.array)
            else:
                problems.append(
                    f"size mismatch for {name}: copying a param with shape {source.shape} from "
                    f"checkpoint, the shape in current model is {target.shape}."
                )
        loaded = LoadedKeys(
            [name for name in own if name not in state_dict],
            [name for name in state_dict if name not in own],
        )
        if strict:
            problems = [*loaded.problems(), *problems]
        if problems:
            lines = "\n\t".join(problems)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        return loaded

    # ---- its text

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
            return f"{type(self).__name__}({extra})"
        body = "\n  ".join(lines)
        return f"{type(self).__name__}(\n  {body}\n)"


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Set a gradient to None, or to zero in its own memory."""
    if tensor.grad is None:
        return
    if set_to_none:
        tensor.grad = None
    else:
        if tensor.grad.grad_node is not None:
            tensor.grad = tensor.grad.detach()
        write(tensor.grad, 0)


def _named_modules_repeated(module: Module, prefix: str) -> Iterator[tuple[str, Module]]:
    """Iterate like `named_modules`, but over a shared module under each of its names."""
    yield prefix, module
    for name, child in module._modules.items():
        if child is not None:
            yield from _named_modules_repeated(child, _joined(prefix, name))


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _checked_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"names are strings, not {type(name).__name__}")
    if "." in name or not name:
        raise KeyError(f'a name can\'t be empty or contain ".", got: "{name}"')
    return name
