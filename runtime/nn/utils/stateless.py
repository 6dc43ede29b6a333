"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, Final

from ...core.missing import explaining as _explaining
from ...core.tensor import Tensor
from ..module import Module

__all__ = ["functional_call"]

__getattr__ = _explaining(__name__)


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of parameters and buffers, by their names.

    `args` is the argument, or a tuple of them. The module is as before afterwards; what it has set
    in the place of a tensor meanwhile is in `parameters_and_buffers` then. With `tie_weights` a
    tensor that the module has under several names is replaced under all of them: ValueError for
    different values. A tensor may also take the place of a plain attribute, or be a new one; with
    `strict` it is a RuntimeError if names are missing, or are those of no parameter or buffer.
    TypeError for what is no tensor, AttributeError for a name in a submodule that is not there.
    """
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, parameters_and_buffers, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


@contextmanager
def _replaced(
    module: Module, given: Mapping[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    tensors = _with_ties(module, given) if tie_weights else dict(given)
    if strict:
        _check_names(module, tensors)
    before: dict[str, Any] = {}
    try:
        for name, tensor in tensors.items():
            before[name] = _swap(module, name, tensor)
        yield
    finally:
        # Backwards, as several names may lead to one place.
        after = {name: _swap(module, name, before[name]) for name in reversed(before)}
        if isinstance(given, MutableMapping):
            given.update({name: after[name] for name in given if name in after})


def _with_ties(module: Module, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Add the other names of tensors that a module has under several."""
    names_of: dict[int, list[str]] = {}
    for name, tensor in _named_tensors(module):
        names_of.setdefault(id(tensor), []).append(name)
    tied = dict(given)
    for names in names_of.values():
        values = [given[name] for name in names if name in given]
        if any(value is not values[0] for value in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if values:
            tied.update(dict.fromkeys(names, values[0]))
    return tied


def _named_tensors(
    module: Module, prefix: str = "", above: tuple[Module, ...] = ()
) -> Iterator[tuple[str, Tensor]]:
    """All parameters and buffers by all of their names, but those on paths that run in circles."""
    for members in (module._parameters, module._buffers):
        for name, tensor in members.items():
            if tensor is not None:
                yield prefix + name, tensor
    for name, child in module._modules.items():
        if child is not None and child is not module and not any(m is child for m in above):
            yield from _named_tensors(child, f"{prefix}{name}.", (*above, module))


def _check_names(module: Module, tensors: dict[str, Tensor]) -> None:
    known = {name for name, _ in _named_tensors(module)}
    differing = {"Unexpected": tensors.keys() - known, "Missing": known - tensors.keys()}
    lines = [
        f"\n\t{kind} key(s): {', '.join(map(repr, sorted(names)))}."
        for kind, names in differing.items()
        if names
    ]
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:{''.join(lines)}")


_MISSING: Final = object()
"""In the place of a tensor: there is no such attribute."""


def _swap(root: Module, path: str, tensor: Any) -> Any:
    """Set what a dotted name leads to, or remove it; return what was there."""
    prefix, _, name = path.rpartition(".")
    module = root.get_submodule(prefix)
    _check_tensor(tensor, "")
    for members in (module._parameters, module._buffers):
        if name in members:
            before = members[name]
            if tensor is _MISSING:
                del members[name]
            else:
                members[name] = tensor
            return before
    attribute = getattr(module, name, _MISSING)
    _check_tensor(attribute, f"attribute `{name}`: ")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif attribute is not _MISSING:
        delattr(module, name)
    return attribute


def _check_tensor(value: Any, place: str) -> None:
    if value is not _MISSING and value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{place}{value} is not an instance of torch.Tensor")
