"""Functions that put tensors side by side, expand them to one shape, and cut them apart.

Like those of `composites`: they only arrange calls of ops, and no function has a node of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.tensor import Size, Tensor, normalize_dim, wrap
from ..dispatch.numbers_given import flag_given
from ..dispatch.registry import ops
from ..dispatch.unbroadcast import reduce_to_differentiable
from ..dtypes.promotion import LAST_INTEGER, type_name
from ..dtypes.whole_numbers import as_whole, whole_number
from ..inplace.keywords import accepts_numpy_names, accepts_out
from .composites import tensor_split
from .creation import size_of


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape to which tensors of the given shapes broadcast; an int is a shape of its own."""
    for shape in shapes:
        if not isinstance(shape, int | list | tuple | np.integer):
            raise RuntimeError(
                "Input shapes should be of type ints, a tuple of ints, or a list of ints, got "
                f"{shape}"
            )
    sizes = [tuple(shape) if isinstance(shape, list | tuple) else (shape,) for shape in shapes]
    if any(length < 0 for size in sizes for length in size):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        position, back, common = _first_mismatch(sizes)
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {sizes[position][back]} at {back}! "
            f"Mismatching argument at index {position} had {sizes[position]}; but expected shape "
            f"should be broadcastable to {common}"
        ) from None


def _first_mismatch(sizes: Sequence[tuple[int, ...]]) -> tuple[int, int, list[int]]:
    """Find the shape that does not broadcast with those before it, its dimension, and their shape.

    Dimensions are counted from the last, as -1, -2 and so on.
    """
    common = [1] * max(map(len, sizes))
    for position, size in enumerate(sizes):
        for back in range(-1, -1 - len(size), -1):
            if size[back] != 1 and common[back] != size[back]:
                if common[back] != 1:
                    return position, back, common
                common[back] = size[back]
    raise AssertionError("the shapes broadcast")


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of one shape, to which all of the tensors broadcast."""
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
    shape = common_shape([tuple(tensor.shape) for tensor in tensors])
    return tuple(x if x.shape == shape else ops.expand(x, shape) for x in tensors)


def common_shape(sizes: Sequence[tuple[int, ...]]) -> Size:
    """The shape to which shapes broadcast; RuntimeError that names the sizes that do not fit."""
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        position, back, common = _first_mismatch(sizes)
        ndim = max(map(len, sizes[: position + 1]))
        raise RuntimeError(
            f"The size of tensor a ({common[back]}) must match the size of tensor b "
            f"({sizes[position][back]}) at non-singleton dimension {ndim + back}"
        ) from None


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return the coordinates of all points of the grid that vectors of coordinates span, as views.

    With `indexing="xy"` the second vector runs along the first dimension. RuntimeError unless the
    tensors are vectors or numbers, and of one dtype.
    """
    given = _listed(tensors)
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in given:
        if tensor.ndim > 1:
            raise RuntimeError(
                f"meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor.ndim}D"
            )
        if tensor.dtype != given[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    dims = list(range(len(given)))
    if indexing == "xy":
        dims[:2] = dims[:2][::-1]
    shape = [given[dim].numel() for dim in dims]
    lines = ([-1 if axis == dim else 1 for axis in range(len(given))] for dim in dims)
    return tuple(
        ops.expand(tensor.view(line), shape) for tensor, line in zip(given, lines, strict=True)
    )


def cartesian_prod(*tensors: Any) -> Tensor:
    """All choices of one element from each of some vectors, one row each; a single vector itself.

    RuntimeError for tensors that are no vectors.
    """
    given = _listed(tensors)
    for tensor in given:
        _vector(tensor)
    if len(given) == 1:
        return given[0]
    columns = [ops._unsafe_view(grid.clone(), [-1]) for grid in meshgrid(*given)]
    return ops.stack(columns, 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector in its order, one row each."""
    _vector(input)
    r = whole_number("combinations", "r", r)
    with_replacement = flag_given("combinations", "with_replacement", with_replacement)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return wrap(np.empty(0, input.array.dtype))
    follows = np.greater_equal if with_replacement else np.greater
    chosen = np.ones((input.numel(),) * r, np.bool_)
    for before, after in pairwise(np.indices(chosen.shape)):
        chosen &= follows(after, before)
    mask = wrap(chosen)
    grids = meshgrid(*[input] * r)
    return ops.stack([ops.masked_select(grid, mask) for grid in grids], 1)


def _listed(tensors: tuple[Any, ...]) -> Sequence[Tensor]:
    """The tensors, which may be given as one list; TypeError if one is none."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {index} in argument 0, but got {type(tensor).__name__}"
            )
    return tensors


def _vector(tensor: Tensor) -> None:
    if tensor.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with the given matrices along its diagonal; vectors are rows."""
    return ops._block_diag(list(tensors) or [wrap(np.empty((1, 0), np.float32))])


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split the second dimension, or a vector, into views: their number, or positions of cuts."""
    return _split("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1, 1)


def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split the first dimension into views: their number, or the positions of the cuts."""
    return _split("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Split the third dimension into views: their number, or the positions of the cuts."""
    return _split("dsplit", input, indices_or_sections, 2, 3)


def _split(
    name: str, input: Tensor, given: int | Sequence[int], dim: int, fewest: int
) -> tuple[Tensor, ...]:
    if input.ndim < fewest:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {fewest} dimension, but got a tensor "
            f"with {input.ndim} dimensions!"
        )
    parts = given if isinstance(given, list | tuple) else as_whole(given)
    if parts is None:
        raise TypeError(
            f"{name}(): a number of parts or a list of positions is expected, not "
            f"{type(given).__name__}"
        )
    length = input.shape[dim]
    if isinstance(parts, int) and (parts < 1 or length % parts):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{length} is not divisible by the split_size {parts}!"
        )
    return tensor_split(input, parts, dim)


@accepts_numpy_names
def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each slice of `dim`, or each element if that is None, so often in a row.

    A tensor of `repeats` has a number for each slice; alone, it is a question for the positions:
    `[2, 1]` is answered by `[0, 0, 1]`.
    """
    if repeats is None:
        return ops._repeat_index(input, None, output_size)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    length = input.shape[dim]
    if isinstance(repeats, Tensor):
        index = ops._repeat_index(repeats, length, output_size)
        return ops.index_select(input, dim, index)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if output_size not in (None, length * repeats):
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {length * repeats} but got "
            f"{output_size}"
        )
    before, after = input.shape[:dim], input.shape[dim + 1 :]
    apart = input.unsqueeze(dim + 1).expand((*before, length, repeats, *after))
    return apart.clone().reshape((*before, length * repeats, *after))


@accepts_out
@accepts_numpy_names
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at positions along a dimension, or in the flattened tensor if `dim` is None.

    The other dimensions of the two broadcast. Negative positions count from the end of `dim`.
    """
    if indices.dtype != np.int64:
        raise RuntimeError(
            f"take_along_dim(): dtype of indices should be Long but got {type_name(indices.dtype)}"
        )
    if dim is None:
        return ops.gather(input.reshape(-1), 0, indices.reshape(-1))
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but "
            f"got {input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    length = input.shape[dim]
    positions = ops.where(indices < 0, indices + length, indices)
    before = broadcast_shapes(input.shape[:dim], indices.shape[:dim])
    after = broadcast_shapes(input.shape[dim + 1 :], indices.shape[dim + 1 :])
    source = ops.expand(input, (*before, length, *after))
    everywhere = ops.expand(positions, (*before, indices.shape[dim], *after))
    return ops.gather(source, dim, everywhere)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sums over the dimensions that an expansion of `size` to this shape would repeat.

    The tensor itself if there are none; RuntimeError if no expansion leads here.
    """
    wanted = size_of("sum_to_size", size, {})
    try:
        is_expandable = np.broadcast_shapes(wanted, self.shape) == self.shape
    except ValueError:
        is_expandable = False
    if not is_expandable:
        raise RuntimeError(f"size {list(wanted)} is not expandable to size {list(self.shape)}.")
    if not wanted:
        return ops.sum(self)
    dtype = self.array.dtype
    if dtype.num <= LAST_INTEGER and wanted != self.shape:
        dtype = np.dtype(np.int64)  # in which integers are summed
    return reduce_to_differentiable(self, (wanted, dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another; itself if it has that already."""
    return self.to(other.dtype)


class SplittingMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    hsplit = hsplit
    vsplit = vsplit
    dsplit = dsplit
    repeat_interleave = repeat_interleave
    take_along_dim = take_along_dim
    sum_to_size = sum_to_size
    type_as = type_as
