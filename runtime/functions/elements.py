"""Functions that look at elements: membership, positions, counts; and small constructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..batching.examples import reading_each_example
from ..core.tensor import Tensor, wrap
from ..dispatch.numbers_given import number_given
from ..dispatch.registry import ops
from ..dtypes.number_conversion import converted
from ..dtypes.promotion import get_default_dtype, result_dtype
from ..dtypes.whole_numbers import whole_number
from ..inplace.keywords import accepts_out
from .creation import leaf
from .creation_options import PLACE, creates


@reading_each_example
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return for each element whether it is among `test_elements`; one of both may be a number."""
    given = (elements, test_elements)
    if not any(isinstance(value, Tensor) for value in given):
        raise TypeError("isin(): one of 'elements' and 'test_elements' must be Tensor")
    arrays = [value.array if isinstance(value, Tensor) else value for value in given]
    dtype = result_dtype(*arrays)
    if dtype.kind == "c":
        raise RuntimeError(f"Unsupported input type encountered for isin(): {dtype}")
    ours, others = (np.asanyarray(array).astype(dtype, copy=False) for array in arrays)
    return wrap(np.asanyarray(np.isin(ours, others, assume_unique=False, invert=invert)))


def isreal(input: Tensor) -> Tensor:
    """Return for each element whether its imaginary part is zero."""
    if input.dtype.kind != "c":
        return wrap(np.ones(input.shape, bool))
    imaginary: Tensor = ops.imag(input)
    return imaginary == 0


@creates(*PLACE)
def scalar_tensor(s: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A number as a tensor without dimensions, of the default dtype.

    RuntimeError for a number that the dtype does not hold.
    """
    s = number_given("scalar_tensor", "s", s)
    chosen = np.dtype(get_default_dtype() if dtype is None else dtype)
    return leaf(np.asarray(converted(s, chosen)).astype(chosen), requires_grad)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde's matrix: a row of powers for each element, the highest first."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    columns = x.shape[0] if N is None else whole_number("vander", "N", N)
    if columns < 0:
        raise RuntimeError("N must be non-negative.")
    exact = x.array.dtype.kind in "fc"
    base = x if exact else wrap(x.array.astype(np.int64))
    if not columns:
        return wrap(np.empty((x.shape[0], 0), base.array.dtype))
    first = wrap(np.ones((x.shape[0], 1), base.array.dtype))
    repeated = [ops.unsqueeze(base, 1)] * (columns - 1)
    powers = ops.cumprod(ops.cat([first, *repeated], 1), 1)
    answer: Tensor = powers if increasing else ops.flip(powers, [1])
    return answer


@reading_each_example
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Return positions among the elements of a shape, counted row by row, as indices of int64.

    TypeError for indices that are no integers, ValueError for a length below zero.
    """
    if not isinstance(indices, Tensor) or indices.array.dtype.kind not in "iu":
        kind = indices.array.dtype if isinstance(indices, Tensor) else type(indices).__name__
        raise TypeError(f"expected 'indices' to be integer dtype, but got {kind}")
    if not isinstance(shape, int | Sequence):
        kind = type(shape).__name__
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {kind}")
    lengths = [shape] if isinstance(shape, int) else list(shape)
    if any(not isinstance(length, int) for length in lengths):
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {lengths}")
    if any(length < 0 for length in lengths):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(lengths)}")
    rest, found = indices.array.astype(np.int64), []
    for length in reversed(lengths):
        found.append(wrap(np.asanyarray(rest % length)))
        rest = rest // length
    if not found:
        return ()
    return ops.unbind(ops.stack(found[::-1], -1), -1)  # all in one storage, as PyTorch's


@accepts_out
@reading_each_example
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return `size` rows of positions of elements that are not zero, filled up with a value."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = np.argwhere(input.array)[:size]
    rows = np.full((size, input.ndim), fill_value, np.int64)
    rows[: len(found)] = found
    return wrap(rows)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number to the diagonal of a matrix, or of an array of equal lengths.

    With `wrap` the diagonal of a tall matrix begins anew below its end, after a row.
    """
    fill_value = number_given("fill_diagonal_", "fill_value", fill_value)
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    height, width = self.array.shape[0], self.array.shape[-1]
    if wrap and self.ndim == 2 and height > width:
        flat = np.arange(0, height * width, width + 1)
        places = [flat // width, flat % width]
    else:
        places = [np.arange(min(height, width))] * self.ndim
    value = leaf(np.asarray(converted(fill_value, self.array.dtype)).astype(self.dtype), False)
    indices = [leaf(place, False) for place in places]
    written: Tensor = self.index_put_(indices, value)
    return written


def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The elements of this tensor where a condition holds, of `other` elsewhere."""
    return ops.where(condition, self, other)


class ElementMethods:
    """Methods of `Tensor` that are these functions, and `where`."""

    __slots__ = ()

    isreal = isreal
    nonzero_static = nonzero_static
    fill_diagonal_ = fill_diagonal_
    where = where

    def apply_(self: Any, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a Python function makes of it: slow, for small tensors.

        TypeError if it makes anything but numbers.
        """
        return _applied("apply_", self, callable, self)

    def map_(self: Any, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element by what a function makes of it and of that of another tensor."""
        return _applied("map_", self, callable, self, tensor)

    def map2_(self: Any, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element by what a function makes of it and of those of two tensors."""
        return _applied("map2_", self, callable, self, x, y)


def _applied(name: str, written: Tensor, function: Callable[..., Any], *read: Tensor) -> Tensor:
    if any(tensor.requires_grad for tensor in read):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    shape = written.array.shape
    arrays = [ops.expand(tensor, shape).array for tensor in read]
    values = [function(*items) for items in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
    for value in values:
        if not isinstance(value, int | float | complex | np.number | Tensor):
            raise TypeError(f"{name}(): must be real number, not {type(value).__name__}")
    made = np.array(values, written.array.dtype).reshape(shape)
    answer: Tensor = written.copy_(wrap(made))
    return answer
