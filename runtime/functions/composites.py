"""Functions of PyTorch that only arrange calls of ops, but take arguments too free for the table.

Lists of dimensions, lists of tensors to go through one by one, strings: what the formula language
cannot say is said here. No function has a node of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..batching.batched import Batched, batch
from ..core.lazy import LazyModule
from ..core.memory_format import contiguous_format, outermost_first, preserve_format, wrong_rank
from ..core.memory_format import memory_format as MemoryFormat
from ..core.tensor import Tensor, normalize_dim, wrap
from ..core.user_warnings import warn_once
from ..dispatch.registry import ops
from ..dtypes.promotion import type_name
from ..dtypes.whole_numbers import dim_numbers, whole_number
from ..forward_ad.tangent_layout import lay_out
from ..inplace.keywords import accepts_numpy_names, accepts_out, write_out
from ..inplace.ops import in_place

if TYPE_CHECKING:
    from .linear_algebra import linalg as linalg
else:
    linalg = LazyModule(".linear_algebra.linalg", globals(), "linalg")


@accepts_numpy_names
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of `length` neighbouring slices of `dim`.

    The first is told by a number or by a tensor of one; RuntimeError unless that has no dimensions
    and holds an integer.
    """
    if isinstance(start, Tensor) and (start.ndim or start.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return ops.narrow(input, dim, start, length)


@accepts_numpy_names
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most `chunks` parts of one length along `dim`; the last may be shorter.

    Raises RuntimeError for a scalar, and unless `chunks` is positive.
    """
    chunks = whole_number("chunk", "chunks", chunks)
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = input.shape[normalize_dim(dim, input.ndim)]
    if not length:
        return ops.split_with_sizes(input, [0] * chunks, dim)
    return ops.split(input, -(-length // chunks), dim)


def scatter_reducing(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, reduce: str, value: Any = None
) -> Tensor:
    """`scatter` that adds to, or multiplies, what is there: `reduce` is "add" or "multiply".

    RuntimeError for another word. Gradients flow, as through `scatter_add` and `scatter_reduce`.
    """
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    given = value if src is None else src
    if not isinstance(given, Tensor):
        given = wrap(np.full(index.shape, given, input.dtype))
    if reduce == "add":
        return ops.scatter_add(input, dim, index, given)
    return ops.scatter_reduce(input, dim, index, given, "prod")


@accepts_numpy_names
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Split `dim` into views: a number of them of nearly one length, or cut at positions."""
    if not input.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    length = input.shape[normalize_dim(dim, input.ndim)]
    given: Any = indices_or_sections
    if isinstance(given, Tensor):
        given = _positions(given)
    elif isinstance(given, np.integer):
        given = int(given)
    elif not isinstance(given, int | list | tuple) or isinstance(given, bool):
        raise TypeError(
            "tensor_split(): argument 'indices_or_sections' (position 2) must be int, tuple of "
            f"ints or Tensor, not {type(given).__name__}"
        )
    if isinstance(given, int):
        if given < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        short, longer = divmod(length, given)
        ends = [short * n + min(n, longer) for n in range(1, given)]
    else:
        ends = list(given)
    part = ops.slice
    return tuple(
        part(input, dim, start, max(_cut(start, length), _cut(end, length)))
        for start, end in zip([0, *ends], [*ends, length], strict=True)
    )


def _positions(given: Tensor) -> Any:
    """Return a tensor of positions as numbers; RuntimeError for another dtype or shape."""
    if given.dtype != np.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{type_name(given.dtype)}"
        )
    if given.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {given.ndim} dims"
        )
    return given.tolist()


def _cut(end: int, length: int) -> int:
    return max(end + length, 0) if end < 0 else end


def contiguous(input: Tensor, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """The tensor itself if its elements lie in row-major order; else a copy that does.

    `memory_format` may ask for another order, in which the channels come last. RuntimeError if it
    does not fit the dimensions, or is `preserve_format`.
    """
    array = input.array
    if memory_format in (contiguous_format, preserve_format) and array.flags.c_contiguous:
        return input
    if memory_format == preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if isinstance(input, Batched):
        if input.is_contiguous(memory_format):
            return input
        return batch(contiguous(input.physical, memory_format), input.level)
    order = outermost_first(memory_format, array.ndim)
    if order is None:
        raise wrong_rank(memory_format)
    if array.transpose(order).flags.c_contiguous:
        return input
    copied: Tensor = ops.clone(input)
    lay_out(copied, order)
    return copied


def ravel(input: Tensor) -> Tensor:
    """The elements in one dimension: a view if they lie in row-major order, else a copy.

    `reshape` takes a view also of some elements that have gaps between them.
    """
    flat: Tensor = ops.view(contiguous(input), (-1,))
    return flat


def invert(self: Tensor) -> Tensor:
    """`~x`: each bit of an integer, or a bool, turned; TypeError for others, as of an operator."""
    if self.array.dtype.kind not in "biu":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return ops.bitwise_not(self)


def positive(input: Tensor) -> Tensor:
    """The tensor itself; RuntimeError for bools."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """A view with the dimensions `source` moved to `destination`, the others kept in order."""
    if isinstance(source, list | tuple) is not isinstance(destination, list | tuple):
        raise TypeError("movedim(): source and destination are both one dimension, or both several")
    sources, destinations = list(dim_numbers(source)), list(dim_numbers(destination))
    if len(sources) != len(destinations):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain "
            f"the same number of dims as destination ({destinations} dims)"
        )
    moved = {
        normalize_dim(to, input.ndim): normalize_dim(at, input.ndim)
        for at, to in zip(sources, destinations, strict=True)
    }
    if len(moved) < len(sources) or len(set(moved.values())) < len(sources):
        at = "source" if len(set(sources)) < len(sources) else "destination"
        raise RuntimeError(f"movedim: repeated dim in `{at}` ({sources}, {destinations})")
    if not input.ndim:
        return ops.alias(input)
    rest = (dim for dim in range(input.ndim) if dim not in moved.values())
    order = [moved[dim] if dim in moved else next(rest) for dim in range(input.ndim)]
    return ops.permute(input, order)


moveaxis = movedim


def nonzero(
    input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The positions of the elements that are not zero: a row each, or a tensor a dimension.

    Rows may be written to `out`, a tensor of int64: RuntimeError for another dtype.
    """
    if out is not None:
        if as_tuple:
            raise RuntimeError("nonzero: `out` takes rows of positions, not a tuple")
        if out.dtype != np.int64:
            raise RuntimeError(
                "nonzero: Expected out tensor to have scalar type Long but got scalar type "
                f"{type_name(out.dtype)}"
            )
        written: Tensor = write_out("nonzero", ops._nonzero(input), out)
        return written
    if not as_tuple:
        return ops._nonzero(input)
    whole = input if input.ndim else ops.unsqueeze(input, 0)
    return ops.unbind(ops._nonzero(whole), 1)


def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    """The norm of order `p` of the elements over `dim`; `fro` is 2, `nuc` that of matrices."""
    if out is not None:
        written: Tensor = write_out("norm", norm(input, p, dim, keepdim, dtype=dtype), out)
        return written
    if p == "nuc":
        dims: Any = (0, 1) if dim is None else dim  # a single dimension is refused by name
        return linalg.matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: `p` is a number, 'fro' or 'nuc', not {p!r}")
    order = 2 if p is None or isinstance(p, str) else p
    return ops.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)


@accepts_out
@accepts_numpy_names
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross products along `dim`, or along the first dimension of length three.

    Raises RuntimeError where there is none.
    """
    if dim is None:
        if 3 not in input.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = tuple(input.shape).index(3)
    return ops.linalg_cross(input, other, dim=dim)


@accepts_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of `input` times the whole of `other`, side by side."""
    ndim = max(input.ndim, other.ndim)
    first, second = ([1] * (ndim - a.ndim) + list(a.shape) for a in (input, other))
    view = ops._unsafe_view
    product = view(input, [n for length in first for n in (length, 1)]) * view(
        other, [n for length in second for n in (1, length)]
    )
    return view(product, [a * b for a, b in zip(first, second, strict=True)])


@accepts_out
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    Raises RuntimeError without a matrix, and for what is none.
    """
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0].clone()
    return linalg.multi_dot(matrices)


@accepts_out
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return the `n`-th power of square matrices: see `linalg.matrix_power`."""
    return linalg.matrix_power(input, n)


_MOST_TERMS: Final = 1 << 20
"""The largest dimension of `mvlgamma`, which takes seconds for it."""


@accepts_out
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`, element by element.

    That is `p (p - 1) / 4 log(pi)` and the sum of `lgamma(input - j / 2)` over j below `p`.
    RuntimeError unless `p` is positive, and for one so large that the sum would run for minutes.
    """
    p = whole_number("mvlgamma", "p", p)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p > _MOST_TERMS:
        raise RuntimeError(f"mvlgamma: p is {p}, and may be {_MOST_TERMS} at most: one term each")
    if input.array.dtype.kind == "c":
        raise NotImplementedError("mvlgamma is not implemented for complex tensors")
    total = ops.lgamma(input)
    for j in range(1, p):
        total = total + ops.lgamma(input - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with one dimension at least."""
    return _each(lambda x: x if x.ndim else x.reshape(1), tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with two dimensions at least; a vector becomes a row."""
    return _each(lambda x: x if x.ndim > 1 else atleast_1d(x).unsqueeze(0), tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with three dimensions at least; a matrix becomes a stack of columns."""
    return _each(lambda x: x if x.ndim > 2 else atleast_2d(x).unsqueeze(-1), tensors)


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1:
        given = tensors[0]
        return tuple(map(function, given)) if isinstance(given, list | tuple) else function(given)
    return tuple(map(function, tensors))


@accepts_out
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the second dimension; vectors along their only one."""
    parts = atleast_1d(_listed("hstack", tensors))
    return ops.cat(parts, 0 if parts and parts[0].ndim == 1 else 1)


@accepts_out
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the first dimension; vectors are rows."""
    return ops.cat(atleast_2d(_listed("vstack", tensors)), 0)


row_stack = vstack


@accepts_out
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the third dimension."""
    return ops.cat(atleast_3d(_listed("dstack", tensors)), 2)


@accepts_out
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the second dimension; vectors are columns."""
    listed = _listed("column_stack", tensors)
    return ops.cat([x if x.ndim > 1 else x.reshape(-1, 1) for x in listed], 1)


def _listed(name: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors to join; TypeError for a single one, RuntimeError where there is none."""
    if isinstance(tensors, Tensor):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
        )
    listed = list(tensors)
    for position, tensor in enumerate(listed):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
    if not listed:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return listed


class CompositeMethods:
    """Methods of `Tensor` that are these functions, and its transposes."""

    __slots__ = ()

    chunk = chunk
    tensor_split = tensor_split
    contiguous = contiguous
    ravel = ravel
    positive = positive
    __pos__ = positive
    movedim = movedim
    moveaxis = moveaxis
    nonzero = nonzero
    cross = cross
    kron = kron
    matrix_power = matrix_power
    mvlgamma = mvlgamma
    mvlgamma_ = in_place(mvlgamma, "mvlgamma_")

    def polygamma(self: Any, n: int) -> Tensor:
        """The derivative of order `n` of `digamma`: see `gradspec.polygamma`."""
        return ops.polygamma(n, self)

    polygamma_ = in_place(lambda input, n: ops.polygamma(n, input), "polygamma_")

    def norm(
        self: Any,
        p: float | str | None = "fro",
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        dtype: Any = None,
    ) -> Tensor:
        """The norm of the elements over `dim`: see `gradspec.norm`."""
        return norm(self, p, dim, keepdim, dtype=dtype)

    @property
    def T(self: Any) -> Tensor:  # PyTorch's name
        """A view with the dimensions in reverse order."""
        if self.ndim == 0:
            _say_it_is_itself("T")
        elif self.ndim != 2:
            warn_once(
                "The use of `x.T` on tensors of dimension other than 2 reverses all dimensions: "
                "use `x.mT` to transpose matrices, or `x.permute(*range(x.ndim)[::-1])`."
            )
        return ops.permute(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self: Any) -> Tensor:  # PyTorch's name
        """A view of transposed matrices."""
        return _transposed(self, "mT")

    @property
    def mH(self: Any) -> Tensor:  # PyTorch's name
        """Transposed and conjugated matrices; of real ones a view."""
        return ops.conj(_transposed(self, "mH"))

    @property
    def H(self: Any) -> Tensor:  # PyTorch's name
        """A matrix transposed and conjugated; of a real one a view."""
        if self.ndim not in (0, 2):
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
            )
        if self.ndim == 0:
            _say_it_is_itself("H")
        return ops.conj(ops.transpose(self, 0, -1) if self.ndim else self)


def _say_it_is_itself(name: str) -> None:
    warn_once(f"Tensor.{name} is deprecated on 0-D tensors: there is nothing to transpose.")


def _transposed(tensor: Any, name: str) -> Any:
    if not tensor.ndim:
        _say_it_is_itself(name)
        return tensor
    if tensor.ndim < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got "
            f"{tensor.ndim}-D tensor."
        )
    return ops.transpose(tensor, -2, -1)
