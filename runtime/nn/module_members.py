"""Members of a module: parameters, buffers and submodules, each in a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.tensor import Tensor
from .module_hooks import GLOBAL, registered_as
from .parameter import Buffer, Parameter, is_persistent

if TYPE_CHECKING:
    from .module import Module


class ModuleMembers:
    """Attributes of `Module`, and the methods that register them under names."""

    training: bool
    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    def __setattr__(self, name: str, value: Any) -> None:
        """Register a parameter, buffer or module; set what is none of them.

        A value of another kind does not take the place of what is registered: TypeError.
        """
        if "_parameters" not in vars(self):
            self._check_plain(value)
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, self._parameters)
            self.register_parameter(name, value)
        elif name in self._parameters:
            _check_place(value is None, value, f"parameter '{name}' (nn.Parameter")
            self._parameters[name] = None
        elif isinstance(value, ModuleMembers):
            self._forget(name, self._modules)
            self.add_module(name, value)
        elif name in self._modules:
            _check_place(value is None, value, f"child module '{name}' (nn.Module")
            self._modules[name] = None
        elif isinstance(value, Buffer):
            # A `register_buffer` of one's own may take no third argument.
            self.register_buffer(name, value, *(() if is_persistent(value) else (False,)))
        elif name in self._buffers:
            fits = value is None or isinstance(value, Tensor)
            _check_place(fits, value, f"buffer '{name}' (nn.Buffer, Tensor")
            self._buffers[name] = registered_as(GLOBAL.buffer_registration, self, name, value)
        else:
            object.__setattr__(self, name, value)

    def _check_plain(self, value: Any) -> None:
        """Raise AttributeError for what cannot be registered yet."""
        kinds = {"parameters": Parameter, "module": ModuleMembers, "buffer": Buffer}
        for kind, members in kinds.items():
            if isinstance(value, members):
                raise AttributeError(
                    f"cannot assign {kind} before Module.__init__() call: "
                    f"begin {type(self).__name__}.__init__ with super().__init__()"
                )

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

    def __dir__(self) -> list[str]:
        """Name what is registered, too, but for the numbers of containers."""
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def _forget(self, name: str, but: dict[str, Any] | None = None) -> bool:
        """Remove what is registered under a name; return whether anything was.

        What is in the dict `but` stays, and so its place among the others there.
        """
        found = False
        for members in (self._parameters, self._buffers, self._modules, vars(self)):
            if members is not but and name in members:
                del members[name]
                found = True
        self._non_persistent_buffers_set.discard(name)
        return found

    def _check_free(self, kind: str, name: str, members: dict[str, Any]) -> None:
        """Raise for what cannot be a name, and KeyError for one that something else has."""
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in members and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter; None reserves the name."""
        self._check_free("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(nn.Parameter or None required)"
            )
        self._parameters[name] = registered_as(GLOBAL.parameter_registration, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not trained; a persistent one is part of the state."""
        self._check_free("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(Tensor or None required)"
            )
        self._non_persistent_buffers_set.discard(name)
        self._buffers[name] = registered_as(GLOBAL.buffer_registration, self, name, tensor)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: ModuleMembers | None) -> None:
        """Add a module under a name that need not be an identifier."""
        if module is not None and not isinstance(module, ModuleMembers):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_free("module", name, self._modules)
        self._modules[name] = registered_as(GLOBAL.module_registration, self, name, module)


def _check_place(fits: bool, value: Any, place: str) -> None:
    if not fits:
        raise TypeError(f"cannot assign '{type(value).__name__}' as {place} or None expected)")
