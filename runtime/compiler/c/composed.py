"""Kernels that look at data, told as steps that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ..program import Step, Value
from .layout import root_of

_BOOL: Final = np.dtype(np.bool_)


class Composition:
    """The steps that take the place of one."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.steps: list[Step] = []
        self.constants: list[tuple[Value, Any]] = []

    def call(self, function: str, args: Any, like: Any, **kwargs: Any) -> Value:
        """Add a step whose result has the shape and dtype of `like`, in a row."""
        shape, dtype = like
        name = f"{self.step.outputs[0].name}_{len(self.steps)}"
        made = Value(name, shape, np.dtype(dtype), np.empty(shape, dtype).strides)
        self._add(function, args, kwargs, made)
        return made

    def finish(self, function: str, args: Any, *, of: Value | None = None, **kwargs: Any) -> bool:
        """Add the step that makes the result, or one of several."""
        self._add(function, args, kwargs, of or self.step.outputs[0])
        return True

    def _add(self, function: str, args: Any, kwargs: Mapping[str, Any], made: Value) -> None:
        self.steps.append(Step(function, args, kwargs, (made,), False, self.step.place))

    def constant(self, array: Any) -> Value:
        """Return a value for an array."""
        name = f"{self.step.outputs[0].name}_c{len(self.constants)}"
        made = Value(name, array.shape, array.dtype, array.strides)
        self.constants.append((made, array))
        return made

    @staticmethod
    def column(value: Value) -> Value:
        """Return a vector as a matrix of one column."""
        shape, strides = (*value.shape, 1), (*value.strides, value.dtype.itemsize)
        return Value(value.name, shape, value.dtype, strides, root_of(value), value.offset)


def view_of(
    value: Value, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
) -> Value:
    """Return a view of a value, `offset` bytes after its first element."""
    return Value(value.name, shape, value.dtype, strides, root_of(value), value.offset + offset)


def contiguous(value: Value, shape: tuple[int, ...]) -> Value:
    """Return a value whose elements lie in a row, in another shape."""
    return view_of(value, shape, np.empty(shape, value.dtype).strides)


def _is_simple(shape: Any, target: Any, weight: Any) -> bool:
    return (
        len(shape) == 2
        and weight is None
        and isinstance(target, Value)
        and target.shape == tuple(shape[:1])
        and target.dtype.kind in "iu"
    )


def _chosen(new: Composition, target: Value, classes: int) -> Value:
    """Return where the class of each row is."""
    numbers = new.constant(np.arange(classes, dtype=target.dtype))
    shape = (*target.shape, classes)
    return new.call("np.equal", (new.column(target), numbers), (shape, _BOOL))


def _count(new: Composition, kept: Value, dtype: Any) -> Value:
    ones = new.call("array.astype", (kept, dtype), (kept.shape, dtype))
    return new.call("np.add.reduce", (ones,), ((), dtype), axis=None)


def nll_loss(new: Composition) -> bool:
    """Tell `nll_loss` of rows: the loss of each is a sum over classes, of which one counts."""
    given, target, weight, ignored, reduction = new.step.args
    if not _is_simple(given.shape, target, weight):
        return False
    rows, classes = given.shape
    dtype = given.dtype
    vector = (rows,)
    kept = new.call("np.not_equal", (target, ignored), (vector, _BOOL))
    low = new.call("np.greater_equal", (target, 0), (vector, _BOOL))
    high = new.call("np.less", (target, classes), (vector, _BOOL))
    inside = new.call("np.logical_and", (low, high), (vector, _BOOL))
    left_out = new.call("np.logical_not", (kept,), (vector, _BOOL))
    right = new.call("np.logical_or", (inside, left_out), (vector, _BOOL))
    all_right = new.call("np.logical_and.reduce", (right,), ((), _BOOL), axis=None)
    new.call("array.check_index", (all_right, "Target is out of bounds."), ((), _BOOL))
    chosen = _chosen(new, target, classes)
    negative = new.call("np.negative", (given,), (given.shape, dtype))
    alone = new.call("np.where", (chosen, negative, 0), (given.shape, dtype))
    losses = new.call("np.add.reduce", (alone,), (vector, dtype), axis=1)
    if reduction == "none":
        return new.finish("np.where", (kept, losses, 0))
    losses = new.call("np.where", (kept, losses, 0), (vector, dtype))
    if reduction == "sum":
        return new.finish("np.add.reduce", (losses,), axis=None)
    total = new.call("np.add.reduce", (losses,), ((), dtype), axis=None)
    return new.finish("np.divide", (total, _count(new, kept, dtype)))


def nll_loss_backward(new: Composition) -> bool:
    """Tell `nll_loss_backward` of rows: minus the gradient at the class, zero at the others."""
    grad, shape, target, weight, ignored, reduction = new.step.args
    if not _is_simple(shape, target, weight) or not isinstance(grad, Value):
        return False
    dtype = new.step.outputs[0].dtype
    kept = new.call("np.not_equal", (target, ignored), (target.shape, _BOOL))
    if reduction == "mean":
        grad = new.call("np.divide", (grad, _count(new, kept, dtype)), ((), dtype))
    grad = new.call("np.negative", (grad,), (grad.shape, dtype))
    if grad.shape:
        grad = new.column(grad)
    chosen = _chosen(new, target, shape[1])
    wanted = new.call("np.logical_and", (chosen, new.column(kept)), (tuple(shape), _BOOL))
    return new.finish("np.where", (wanted, grad, 0))


def normal_cdf(new: Composition) -> bool:
    """Tell half of erfc(-x / sqrt(2)); for float32 there is a function."""
    (given,) = new.step.args
    if given.dtype != np.float64:
        return False
    like = given.shape, given.dtype
    scaled = new.call("np.multiply", (given, -(0.5**0.5)), like)
    tail = new.call("kernels.erfc", (scaled,), like)
    return new.finish("np.multiply", (tail, 0.5))


def gelu_slope(new: Composition) -> bool:
    """Tell `share + x * density(x)`; far from zero, where the density is 0, x may be infinite."""
    given, share, height = new.step.args
    if given.dtype.kind != "f" or given.shape != share.shape or isinstance(height, Value):
        return False
    like = given.shape, given.dtype
    near = new.call("np.clip", (given, -50, 50), like)
    density = new.call("kernels.gaussian", (given, 0.5), like)
    density = new.call("np.multiply", (density, float(height)), like)
    return new.finish("np.add", (share, new.call("np.multiply", (near, density), like)))


RULES: Final[dict[str, Callable[[Composition], bool]]] = {
    "nll_loss": nll_loss,
    "nll_loss_backward": nll_loss_backward,
    "normal_cdf": normal_cdf,
    "gelu_slope": gelu_slope,
}
