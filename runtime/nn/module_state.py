"""States of modules: collected from a tree of modules, and loaded into it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.tensor import Tensor
from ..inplace.ops import write
from .parameter import Parameter

if TYPE_CHECKING:
    from .module import Module

EXTRA_STATE = "_extra_state"
"""The key of what `get_extra_state` returns."""


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
                f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
                f"unexpected_keys={self.unexpected_keys})"
            )
        return "<All keys matched successfully>"


class State(OrderedDict[str, Any]):
    """State of a module by dotted names, with the version of each module in `_metadata`."""

    _metadata: OrderedDict[str, dict[str, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._metadata = OrderedDict()


def collect(module: Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Add the state of a module and its descendants to `destination`."""
    metadata = {} if module._version is None else {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    hooks = module._hooks
    for hook in () if hooks is None else list(hooks.state_dict_pre.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(
                destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    for number, hook in [] if hooks is None else list(hooks.state_dict.items()):
        changed = hook(module, destination, prefix, metadata)
        if changed is not None:
            if hooks is not None and number in hooks.return_nothing:
                raise RuntimeError("state_dict post-hook must return None")
            destination = changed
    return destination


def load(module: Module, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> LoadedKeys:
    """Load a state into a module and its descendants; see `Module.load_state_dict`."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    metadata = getattr(state_dict, "_metadata", None)
    own = OrderedDict(state_dict)
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    _load_into(module, own, metadata, "", assign, LoadedKeys(missing, unexpected), errors)
    problems = LoadedKeys(missing, unexpected).problems() if strict else []
    if problems or errors:
        lines = "\n\t".join([*problems, *errors])
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}"
        )
    return LoadedKeys(missing, unexpected)


def _load_into(
    module: Module,
    state: Any,
    metadata: Any,
    prefix: str,
    assign: bool,
    keys: LoadedKeys,
    errors: list[str],
) -> None:
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    given = (state, prefix, local, True, keys.missing_keys, keys.unexpected_keys, errors)
    hooks = module._hooks
    for hook in () if hooks is None else list(hooks.load_pre.values()):
        hook(module, *given)
    module._load_from_state_dict(*given)
    for name, child in module._modules.items():
        if child is not None:
            inside = f"{prefix}{name}."
            part = OrderedDict((k, v) for k, v in state.items() if k.startswith(inside))
            _load_into(child, part, metadata, inside, assign, keys, errors)
    for hook in () if hooks is None else list(hooks.load_post.values()):
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values: change incompatible_keys in place."
            )


def local_state(module: Module) -> dict[str, Tensor]:
    """Return the parameters and persistent buffers of a module alone."""
    members = {
        **module._parameters,
        **{k: b for k, b in module._buffers.items() if k not in module._non_persistent_buffers_set},
    }
    return {name: tensor for name, tensor in members.items() if tensor is not None}


def load_local(
    module: Module,
    state: Mapping[str, Any],
    prefix: str,
    assign: bool,
    keys: LoadedKeys,
    errors: list[str],
    has_extra_state: bool,
) -> None:
    """Load the parameters and buffers of a module alone; note what does not fit."""
    own = local_state(module)
    for name, target in own.items():
        key = prefix + name
        if key not in state:
            keys.missing_keys.append(key)
            continue
        source = state[key]
        if not isinstance(source, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(source)}"
            )
            continue
        if source.array.shape == (1,) and not target.array.shape:
            source = source[
                0
            ]  # numbers of files from when there were no tensors without dimensions
        if source.array.shape != target.array.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {source.shape} from "
                f"checkpoint, the shape in current model is {target.shape}."
            )
        elif assign:
            _assign(module, name, target, source)
        else:
            write(target, source.array)
    extra = prefix + EXTRA_STATE
    if has_extra_state:
        if extra in state:
            module.set_extra_state(state[extra])
        else:
            keys.missing_keys.append(extra)
    for key in state:
        if key.startswith(prefix):
            name, _, rest = key[len(prefix) :].partition(".")
            is_known = name in module._modules if rest else name in own
            if not is_known and not (key == extra and has_extra_state):
                keys.unexpected_keys.append(key)


def _assign(module: Module, name: str, target: Tensor, source: Tensor) -> None:
    if name in module._parameters:
        if not isinstance(source, Parameter):
            source = Parameter(source, target.requires_grad)
        module._parameters[name] = source
    else:
        module._buffers[name] = source
