"""Batched tensors: inside `vmap` they look like one example, and hold all of them.

`Batched` is a subclass, so the fast path of an op, which asks for `Tensor` exactly, does not know
about it: a batched operand sends the call to `dispatch`, and from there to `call.call_batched`.
The physical tensor, with the batch as first dimension, is an ordinary one: gradients, tangents and
the batches of outer levels are its own, which is how `vmap` composes with everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from ..core import levels
from ..core.tensor import Tensor
from ..dispatch.registry import ops


class Level(levels.Level):
    """One call of `vmap` that is under way, and the number of its examples."""

    __slots__ = ("size",)

    is_outside = True

    def __init__(self, size: int, randomness: str = "error") -> None:
        super().__init__(randomness)
        self.size = size


def unreadable(reason: str = "") -> RuntimeError:
    """The error of a function that reads values, and of an op that would, for a reason."""
    return RuntimeError(
        "vmap: the values of a batched tensor are those of many examples and cannot be read "
        "inside the function: use operations on tensors, or return them"
        + (f" ({reason})" if reason else "")
    )


class Shape(np.ndarray[Any, Any]):
    """An array of which only shape and dtype can be read: it holds no values."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise unreadable()

    __array_ufunc__ = __array_function__ = _refuse
    __getitem__ = __setitem__ = __bool__ = __float__ = __int__ = __index__ = _refuse
    __complex__ = __iter__ = __contains__ = item = tolist = tobytes = copy = astype = _refuse
    __array__ = _refuse


class Batched(Tensor):
    """A tensor of one example for the function, of all examples for the ops."""

    __slots__ = ("_level", "_physical")
    _is_internal = True  # no class of a user's that could override ops
    _call_op: ClassVar[Any] = None  # `batching.call` sets it
    _physical: Tensor
    _level: Level

    @property
    def physical(self) -> Tensor:
        """The examples, stacked along the first dimension; RuntimeError after the end of `vmap`."""
        if not self._level.open:
            raise RuntimeError(
                "vmap: this tensor was kept beyond the call of vmap that it belongs to: return it "
                "from the function instead"
            )
        return self._physical

    @property
    def level(self) -> Level:
        """The call of `vmap` that the tensor belongs to."""
        return self._level

    @property
    def array(self) -> Any:
        """The shape and the dtype of one example, without values."""
        physical = self.physical.array
        return _without_values(physical.shape[1:], physical.dtype)

    @array.setter
    def array(self, value: Any) -> NoReturn:
        raise RuntimeError("vmap: the memory of a batched tensor cannot be replaced")

    @property
    def grad_node(self) -> Any:
        """The node of the graph that made the examples."""
        return self.physical.grad_node

    @grad_node.setter
    def grad_node(self, value: Any) -> None:
        self.physical.grad_node = value

    @property
    def alias(self) -> Any:
        """The record shared with views of the examples' memory."""
        return self.physical.alias

    @alias.setter
    def alias(self, value: Any) -> None:
        self.physical.alias = value

    def _as_operand(self) -> Tensor:
        """Return the batched tensor itself, which `_call_op` takes apart."""
        return self

    def detach(self) -> Tensor:
        """A tensor on the same memory through which no gradient flows."""
        return batch(self.physical.detach(), self._level)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for gradients of every example."""
        self.physical.requires_grad_(requires_grad)
        return self

    def backward(self, *_: object, **__: object) -> NoReturn:
        """Raise RuntimeError: `gs.func.grad` differentiates inside `vmap`."""
        raise RuntimeError(
            "vmap: backward() inside the function would add up the gradients of all examples: "
            "use gs.func.grad, or call backward() on what vmap returns"
        )

    def numpy(self, *_: object, **__: object) -> NoReturn:
        """Raise RuntimeError: there are no values of one example."""
        raise unreadable()

    tolist = item = __bool__ = __float__ = __int__ = __index__ = __complex__ = numpy
    __array__ = numpy

    def __repr__(self) -> str:
        return (
            f"Batched(level={self._level.depth}, examples={self._level.size}, {self._physical!r})"
        )


@lru_cache(maxsize=1024)
def _without_values(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array of a shape and dtype, one NaN or zero in memory, which ops ask for often."""
    nothing = np.full((), np.nan if dtype.kind in "fc" else 0, dtype)
    return np.broadcast_to(nothing, shape).view(Shape)


_new_batched: Final[Callable[[], Batched]] = partial(object.__new__, Batched)


def batch(physical: Tensor, level: Level) -> Batched:
    """The tensor of one example whose examples lie along the first dimension of `physical`."""
    batched = _new_batched()
    batched._physical, batched._level = physical, level
    return batched


def of_each_example(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function that makes a tensor like its argument, for a batched one: one for each example."""

    @wraps(make)
    def call(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if type(input) is Batched:
            return batch(call(input.physical, *args, **kwargs), input.level)
        return make(input, *args, **kwargs)

    return call


def is_of(value: object, level: Level) -> bool:
    """Return whether a value is batched at a level."""
    return type(value) is Batched and value._level is level


def innermost(values: Iterable[Any]) -> Level:
    """The innermost open level among batched values; RuntimeError if one outlived its level."""
    found: Level | None = None
    for value in values:
        if type(value) is Batched:
            value.physical  # noqa: B018 - refuses what outlived its level
            if found is None or value._level.depth > found.depth:
                found = value._level
    assert found is not None
    return found


class NoFit(Exception):
    """A batching rule does not hold for a call."""


def physical(tensor: Tensor, level: Level) -> Tensor:
    """All examples of a tensor; one that is not batched is the same in all of them."""
    if is_of(tensor, level):
        return tensor.physical  # type: ignore[attr-defined]
    return ops.expand(tensor, (level.size, *tensor.shape))


def aligned(tensor: Any, ndim: int, level: Level) -> Tensor:
    """All examples of a batched tensor, with dimensions of one in front to be broadcast."""
    stacked, shape = tensor.physical, tuple(tensor.shape)
    if len(shape) == ndim:
        return stacked
    return ops.reshape(stacked, (level.size, *(1,) * (ndim - len(shape)), *shape))


def items(value: Any) -> Sequence[Any]:
    """The items of a list or tuple; anything else is one item."""
    return value if isinstance(value, list | tuple) else (value,)


def mapped(function: Callable[[Tensor], Any], value: Any) -> Any:
    """Apply a function to a tensor, or to the tensors of a list, tuple or named tuple."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, list | tuple):
        made = [mapped(function, item) for item in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def mapped_values(function: Callable[[Tensor], Any], values: dict[str, Any]) -> dict[str, Any]:
    """Apply a function to the tensors of arguments by name."""
    return {name: mapped(function, value) for name, value in values.items()}


def first(tensor: Tensor, level: Level) -> Tensor:
    """The first example of a tensor; one that is not batched is the same in all of them."""
    return ops.select(physical(tensor, level), 0, 0) if is_of(tensor, level) else tensor


def same(run: Callable[[dict[str, Any]], Any], values: dict[str, Any], level: Level) -> Any:
    """Run on the first example, for a result that is the same for all."""
    if not level.size:
        raise NoFit
    result = run(mapped_values(lambda tensor: first(tensor, level), values))
    return mapped(lambda t: ops.expand(t, (level.size, *t.shape)), result)
