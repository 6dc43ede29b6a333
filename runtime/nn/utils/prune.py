"""Pruning: parameters of which a mask keeps some elements, and zeroes the others, at every call.

The parameter `name` becomes `name_orig`, the mask is the buffer `name_mask`, and `name` is their
product, computed before each `forward` by the method, which is a hook. What is pruned again is
pruned among what is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ...core.missing import explaining as _explaining
from ...core.random_generator import generator
from ...core.tensor import Tensor, wrap
from ..module import Module

__getattr__ = _explaining(__name__)

_Method = TypeVar("_Method", bound="BasePruningMethod")

Array = np.ndarray[Any, Any]


class BasePruningMethod(ABC):
    """Base of ways to prune: define `compute_mask`, and `PRUNING_TYPE`.

    That is `unstructured` where elements are chosen among those that are left, `structured` where
    slices along `self.dim` are, and `global` where all of the tensor is looked at.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        object.__setattr__(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return a mask of the shape of `t`: `default_mask`, with further zeros."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter of a module times its mask."""
        name = self._tensor_name
        pruned: Tensor = getattr(module, f"{name}_mask") * getattr(module, f"{name}_orig")
        return pruned

    @classmethod
    def apply(
        cls: type[_Method],
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Any:
        """Prune a parameter by the method of these arguments, at every call from now on.

        Returns the hook: the method, or a `PruningContainer` of it and those before. ValueError for
        scores of another shape.
        """
        number, before = _hook_of(module, name)
        pruned = getattr(module, name)
        scores = pruned if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(pruned.shape):
            raise AssertionError(
                f"importance_scores of shape {list(scores.shape)} for a parameter of shape "
                f"{list(pruned.shape)}"
            )
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if before is None:
            kept = wrap(np.ones_like(pruned.array))
        else:
            kept = wrap(getattr(module, f"{name}_mask").array.copy())
            method = PruningContainer(
                *(before if isinstance(before, PruningContainer) else [before]), method
            )
        mask = method.compute_mask(scores.detach(), default_mask=kept)
        if before is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", pruned)
        else:
            del module._forward_pre_hooks[number]
        module.register_buffer(f"{name}_mask", mask.to(pruned.dtype))
        method(module, ())
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """Return a tensor times the mask that is computed for it, or for its scores."""
        scores = t if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(t.shape):
            raise AssertionError("importance_scores should have the same shape as tensor t")
        kept = wrap(np.ones_like(t.array)) if default_mask is None else default_mask
        found: Tensor = t * self.compute_mask(scores.detach(), default_mask=kept)
        return found

    def remove(self, module: Module) -> None:
        """Make what is left of the parameter the parameter; the hook stays."""
        name = self._tensor_name
        original = module._parameters.pop(f"{name}_orig")
        mask = module._buffers.pop(f"{name}_mask")
        assert original is not None
        assert mask is not None
        original.array[...] *= mask.array
        vars(module).pop(name, None)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Methods that a parameter was pruned by, one after the other."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            if not hasattr(self, "_tensor_name"):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method; TypeError if it is none, ValueError if it is of another parameter."""
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"a method of parameter {method._tensor_name!r} for the container of "
                f"{self._tensor_name!r}"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the last method, among what `default_mask` keeps."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype).numpy().copy()
        chosen = _left(method, mask)
        part = method.compute_mask(wrap(t.detach().numpy()[chosen]), wrap(mask[chosen]))
        mask[chosen] = part.numpy()
        return wrap(mask)


def _left(method: BasePruningMethod, mask: Array) -> Any:
    """Return the index of what is left for a method; ValueError for an unknown kind."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "structured":
        dim = method.dim % mask.ndim  # type: ignore[attr-defined]
        others = tuple(d for d in range(mask.ndim) if d != dim)
        return (slice(None),) * dim + (mask.sum(others) != 0,)
    if method.PRUNING_TYPE == "global":
        return ...
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask."""
        return default_mask


class _Unstructured(BasePruningMethod):
    """Base of what prunes elements of the smallest ranks; `amount` is a part or a number."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    @abstractmethod
    def ranks(self, scores: Array) -> Array:
        """Return a number for each score."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the elements of the smallest ranks."""
        scores, mask = t.detach().numpy(), default_mask.numpy().flatten()
        order = np.argsort(self.ranks(scores), axis=None, kind="stable")
        mask[order[: _count(self.amount, scores.size)]] = 0
        return wrap(mask.reshape(default_mask.shape))


class RandomUnstructured(_Unstructured):
    """Prunes elements that are drawn."""

    def ranks(self, scores: Array) -> Array:
        """Return random numbers."""
        return np.asarray(generator().random(scores.shape))


class L1Unstructured(_Unstructured):
    """Prunes the smallest absolute values."""

    def ranks(self, scores: Array) -> Array:
        """Return the absolute values."""
        return np.abs(scores)


class _Structured(BasePruningMethod):
    """Base of what prunes slices along `dim` of the smallest ranks."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    @abstractmethod
    def ranks(self, rows: Array) -> Array:
        """Return a number for each slice; each is a row."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without slices; ValueError for vectors, IndexError for no such `dim`."""
        scores = t.detach().numpy()
        if scores.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {list(scores.shape)} with {scores.ndim} dims"
            )
        if not -scores.ndim <= self.dim < scores.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {list(scores.shape)}")
        count = _count(self.amount, scores.shape[self.dim])
        rows = np.moveaxis(scores, self.dim, 0).reshape(scores.shape[self.dim], -1)
        dropped = np.argsort(self.ranks(rows), kind="stable")[:count]
        mask = default_mask.numpy().copy()
        np.moveaxis(mask, self.dim, 0)[dropped] = 0
        return wrap(mask)


class RandomStructured(_Structured):
    """Prunes slices that are drawn."""

    def ranks(self, rows: Array) -> Array:
        """Return random numbers."""
        return np.asarray(generator().random(len(rows)))


class LnStructured(_Structured):
    """Prunes the slices of the smallest norms of order `n`."""

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def ranks(self, rows: Array) -> Array:
        """Return the norms."""
        order: Any = {"inf": np.inf, "-inf": -np.inf, "fro": 2}.get(str(self.n), self.n)
        return np.asarray(np.linalg.norm(rows, order, axis=1))


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask has as zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of the masks; AssertionError if their shapes differ."""
        if tuple(default_mask.shape) != tuple(self.mask.shape):
            raise AssertionError(
                f"default_mask shape {list(default_mask.shape)} must match self.mask shape "
                f"{list(self.mask.shape)}"
            )
        found: Tensor = default_mask * self.mask.to(default_mask.dtype)
        return found


# ---- as functions, which return the module


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask that keeps everything."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements that are drawn; `amount` is their part (a float) or their number (an int)."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of the smallest absolute values, or scores."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along `dim` that are drawn."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float | str,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices along `dim` of the smallest norms of order `n`."""
    LnStructured.apply(
        module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what a mask has as zero."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune elements of several parameters, `(module, name)`, as if they were one.

    `kwargs` are the arguments of the method. TypeError for a method that is not unstructured.
    """
    places = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    given = importance_scores or {}
    scores = [given.get(place, getattr(*place)).detach().numpy().reshape(-1) for place in places]
    masks = [_mask(*place) for place in places]
    kept = np.concatenate([mask.reshape(-1) for mask in masks])
    found = PruningContainer(method).compute_mask(wrap(np.concatenate(scores)), wrap(kept)).numpy()
    start = 0
    for (module, name), mask in zip(places, masks, strict=True):
        custom_from_mask(module, name, wrap(found[start : start + mask.size].reshape(mask.shape)))
        start += mask.size


def remove(module: Module, name: str) -> Module:
    """Make what is left of a parameter the parameter; ValueError where it is not pruned."""
    number, method = _hook_of(module, name)
    if method is None:
        raise ValueError(
            f"Parameter {name!r} of module {module} has to be pruned before pruning can be removed"
        )
    method.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of the module, or of one in it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )


def _hook_of(module: Module, name: str) -> tuple[int, BasePruningMethod | None]:
    """Return the method that prunes a parameter, and its number among the hooks."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number, hook
    return -1, None


def _mask(module: Module, name: str) -> Array:
    mask: Tensor | None = getattr(module, f"{name}_mask", None)
    return np.ones_like(getattr(module, name).array) if mask is None else mask.numpy()


def _check_amount(amount: float) -> None:
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise TypeError(f"Invalid type of amount: {amount}. Must be of type int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount: float, total: int) -> int:
    """Return how many of `total` to prune; ValueError for a number that is larger."""
    count = amount if isinstance(amount, int) else round(amount * total)
    if count > total:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={total}"
        )
    return count


__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]
