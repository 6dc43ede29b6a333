"""Parametrizations: parameters and buffers that modules compute from others."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter, set_array

_cache: Final[dict[tuple[int, str], Tensor]] = {}
_open_caches: Final[list[None]] = []


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within the block."""
    _open_caches.append(None)
    try:
        yield
    finally:
        _open_caches.pop()
        if not _open_caches:
            _cache.clear()


class ParametrizationList(ModuleList):
    """Parametrizations of one tensor, first to last, and what they start from.

    That is `original`, or `original0`, `original1` and so on where `right_inverse` returns several.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                inverse = getattr(module, "right_inverse", None)
                if inverse is not None:
                    try:
                        new = inverse(new)
                    except NotImplementedError:
                        continue
        shape, dtype = original.shape, original.dtype
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(_checked_sequence(new))
        if self.is_tensor:
            if dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype: "
                    f"{dtype} became {new.dtype}"
                )
            set_array(original, new.array)
            _register(self, "original", original)
        else:
            for index, part in enumerate(new):
                kept = part.detach()
                if isinstance(original, Parameter):
                    kept = Parameter(kept, original.requires_grad)
                _register(self, f"original{index}", kept)
        if not unsafe:
            _check_same(self(), shape, dtype, "Registering a parametrization")

    def forward(self) -> Tensor:
        """Compute the tensor."""
        first, *rest = self
        if self.is_tensor:
            value = first(self.original)
        else:
            value = first(*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in rest:
            value = module(value)
        return value

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Set the originals to what gives a value, by the `right_inverse` of all modules."""
        for module in reversed(list(self)):
            inverse = getattr(module, "right_inverse", None)
            if inverse is None:
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            value = inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                )
            parts, names = [value], ["original"]
        else:
            parts = list(_checked_sequence(value))
            names = [f"original{index}" for index in range(self.ntensors)]
            if len(parts) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(parts)}."
                )
        for part, name in zip(parts, names, strict=True):
            target = getattr(self, name)
            if part.dtype != target.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {part.dtype} while "
                    f"`{name}` has dtype {target.dtype}"
                )
            set_array(target, part.array)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of a module, or any, is parametrized."""
    parametrizations = module._modules.get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of a module by `parametrization(original)` whenever it is read.

    It is assigned to through `parametrization.right_inverse`. Several are applied one after the
    other. Shape and dtype may change only if `unsafe`: ValueError otherwise.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(getattr(module, tensor_name), parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _make_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a tensor a parameter or buffer again: with its present value, or with its original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    made = module.parametrizations[tensor_name]
    if made.is_tensor:
        original = made.original
        if leave_parametrized:
            with no_grad():
                set_array(original, getattr(module, tensor_name).array)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Register the parametrizations of a module, or of one tensor, with another as well."""
    if is_parametrized(from_module):
        for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
            made = from_module.parametrizations[name]
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for parametrization in made:
                register_parametrization(to_module, name, parametrization)
            for key, value in made._parameters.items():
                setattr(to_module.parametrizations[name], key, value)
    return to_module


def _make_class(module: Module) -> None:
    """Give a module a class of its own, which can have properties."""
    parent = type(module)

    def deep_copied(self: Module, memo: dict[int, Any]) -> Module:
        replica = type(self).__new__(type(self))
        memo[id(self)] = replica
        vars(replica).update(copy.deepcopy(vars(self), memo))
        return replica

    def refused(self: Module) -> None:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict()."
        )

    members: dict[str, Any] = {"__getstate__": refused, "__deepcopy__": deep_copied}
    module.__class__ = type(f"Parametrized{parent.__name__}", (parent,), members)


def _property(tensor_name: str) -> property:
    def read(self: Any) -> Tensor:
        made = self.parametrizations[tensor_name]
        if not _open_caches:
            return made()
        key = id(self), tensor_name
        if key not in _cache:
            _cache[key] = made()
        return _cache[key]

    def assign(self: Any, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    return property(read, assign)


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _checked_sequence(value: Any) -> Sequence[Tensor]:
    wanted = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."
    if not isinstance(value, Sequence):
        raise ValueError(f"{wanted} Got {type(value).__name__}")
    for index, part in enumerate(value):
        if not isinstance(part, Tensor):
            raise ValueError(
                f"{wanted} Got element {index} of the sequence with type {type(part).__name__}."
            )
    return value


def _check_another(value: Tensor, parametrization: Module) -> None:
    """Check that one more parametrization changes neither shape nor dtype, either way."""
    after = parametrization(value)
    _check_same(after, value.shape, value.dtype, "Registering a parametrization")
    if hasattr(parametrization, "right_inverse"):
        try:
            before = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        if not isinstance(before, Tensor):
            raise ValueError(
                f"parametrization.right_inverse must return a tensor. Got: {type(before).__name__}"
            )
        for kind in ("dtype", "shape"):
            found, kept = getattr(before, kind), getattr(value, kind)
            if found != kept:
                raise ValueError(
                    f"The tensor returned by parametrization.right_inverse must have the same "
                    f"{kind} as the parametrized tensor, unless `unsafe` flag is enabled: {kept} "
                    f"became {found}"
                )


def _check_same(value: Any, shape: Any, dtype: Any, what: str) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for kind, before, after in (("dtype", dtype, value.dtype), ("shape", shape, value.shape)):
        if before != after:
            raise ValueError(
                f"{what} may not change the {kind} of the tensor, unless `unsafe` flag is "
                f"enabled: {before} became {after}"
            )
