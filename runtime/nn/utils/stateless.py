"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

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

    `args` is the argument, or a tuple of them. The module is as before afterwards. With
    `tie_weights` a tensor that the module has under several names is replaced under all of them.
    Names that the module does not have are ignored; with `strict` they are a RuntimeError, and so
    are names that are missing.
    """
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, dict(parameters_and_buffers), tie_weights, strict):
        return module(*positional, **(kwargs or {}))


@contextmanager
def _replaced(
    module: Module, tensors: dict[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    places = dict(_places(module))
    unknown = sorted(tensors.keys() - places.keys())
    missing = sorted(places.keys() - tensors.keys())
    if strict and (unknown or missing):
        raise RuntimeError(f"functional_call: unexpected names {unknown}, missing {missing}")
    before = {name: holder[key] for name, (holder, key) in places.items()}
    new = {name: tensor for name, tensor in tensors.items() if name in places}
    if tie_weights:
        by_tensor = {id(before[name]): tensor for name, tensor in new.items()}
        for name, tensor in before.items():
            if id(tensor) in by_tensor:
                new.setdefault(name, by_tensor[id(tensor)])
    try:
        for name, tensor in new.items():
            holder, key = places[name]
            holder[key] = tensor
        yield
    finally:
        for name in new:
            holder, key = places[name]
            holder[key] = before[name]


def _places(module: Module) -> Iterator[tuple[str, tuple[dict[str, Any], str]]]:
    """Where a module keeps each parameter and buffer, by its name."""
    for prefix, part in module.named_modules():
        for holder in (part._parameters, part._buffers):
            for key, tensor in holder.items():
                if tensor is not None:
                    yield f"{prefix}.{key}" if prefix else key, (holder, key)
