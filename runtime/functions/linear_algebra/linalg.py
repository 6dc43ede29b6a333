"""Norms, powers, products and inverses of matrices, made of ops of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import inf, prod
from typing import Any

from ...core.tensor import Tensor, normalize_dim
from ...dispatch.registry import ops
from ...dtypes.whole_numbers import dim_numbers, whole_number
from ...inplace.keywords import accepts_numpy_names, accepts_out
from ..creation import eye


@accepts_out
@accepts_numpy_names
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of the matrices that lie along the two dimensions `dim`.

    `fro` is the root of the sum of squares, `nuc` the sum of the singular values; 2 and -2 are the
    largest and the smallest of these; 1 and -1 the largest and the smallest sum of a column, inf
    and -inf of a row. Raises RuntimeError for any other `ord`.
    """
    if isinstance(ord, Tensor):
        ord = ord.item()
    rows, columns = _two_dims(A, dim)
    vector_norm = ops.linalg_vector_norm
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        values = _singular_values(A if dtype is None else A.to(dtype), rows, columns)
        reductions: dict[float | str, Callable[[Tensor, int], Tensor]]
        reductions = {"nuc": ops.sum, 2: _largest, -2: ops.amin}
        found = reductions[ord](values, -1)
        return _with_ones(found, rows, columns) if keepdim else found
    if ord not in (1, -1, inf, -inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, searched = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = vector_norm(A, 1, (summed,), True, dtype=dtype)
    found = _largest(sums, searched) if ord in (1, inf) else ops.amin(sums, searched)
    found = ops.unsqueeze(found, searched)
    return found if keepdim else found.squeeze((rows, columns))


def _largest(values: Tensor, dim: int) -> Tensor:
    """The largest of numbers that are not negative; zero where there are none."""
    return ops.amax(values, dim) if values.shape[dim] else ops.sum(values, dim)


def _two_dims(A: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if not isinstance(dim, Sequence) or len(dim) != 2:
        given = " ".join(map(str, dim_numbers(dim)))
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {given}")
    rows, columns = (normalize_dim(each, A.ndim) for each in dim)
    if rows == columns:
        raise RuntimeError("linalg.matrix_norm: dims must be different")
    return rows, columns


def _singular_values(A: Tensor, rows: int, columns: int) -> Tensor:
    batch = [dim for dim in range(A.ndim) if dim not in (rows, columns)]
    return ops.linalg_svdvals(ops.permute(A, [*batch, rows, columns]))


def _with_ones(tensor: Tensor, *dims: int) -> Tensor:
    for dim in sorted(dims):
        tensor = ops.unsqueeze(tensor, dim)
    return tensor


@accepts_out
@accepts_numpy_names
def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of vectors (one dimension in `dim`) or matrices (two); of all elements by default.

    Raises RuntimeError where `ord` is given without `dim` for a tensor that is neither, and for
    other numbers of dimensions.
    """
    if isinstance(dim, Sequence) and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
    vector_norm = ops.linalg_vector_norm
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A.ndim}D."
            )
        dim = tuple(range(A.ndim))
    dims = dim_numbers(dim)
    if len(dims) == 2 or isinstance(ord, str):  # which one dimension does not do for
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


@accepts_out
def matrix_power(A: Tensor, n: int) -> Tensor:
    """The `n`-th power of square matrices, by repeated squaring; of the inverse if `n` < 0."""
    n = whole_number("linalg_matrix_power", "n", n)
    if A.ndim < 2 or A.shape[-2] != A.shape[-1]:
        raise RuntimeError("linalg.matrix_power: A must be batches of square matrices")
    if n == 0:
        ones: Any = ops.clone(A)  # which has a gradient: zero
        return ones.copy_(eye(A.shape[-1], dtype=A.dtype))
    power = ops.linalg_inv(A) if n < 0 else A
    result: Tensor | None = None
    n = abs(n)
    while n:
        if n % 2:
            result = power if result is None else result @ power
        n //= 2
        if n:
            power = power @ power
    assert result is not None
    return result.clone() if result is A else result


@accepts_out
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    The first may be a vector, a row then, and the last one, a column. RuntimeError for other
    numbers of dimensions, and for fewer than two tensors.
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    matrices = list(tensors)
    for place, matrix in enumerate(matrices):
        is_end = place in (0, len(matrices) - 1)
        if matrix.ndim != 2 and not (is_end and matrix.ndim == 1):
            which = {0: "the first tensor", len(matrices) - 1: "the last tensor"}
            raise RuntimeError(
                f"multi_dot(): {which.get(place, f'tensor {place}')} must be "
                f"{'1D or 2D' if is_end else '2D'} but got {matrix.ndim}D"
            )
    first, last = matrices[0].ndim == 1, matrices[-1].ndim == 1
    if first:
        matrices[0] = ops.unsqueeze(matrices[0], 0)
    if last:
        matrices[-1] = ops.unsqueeze(matrices[-1], 1)
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]

    @cache
    def cost(start: int, end: int) -> tuple[int, int]:
        """The fewest multiplications, and the last place where the chain is cut for them."""
        if end - start == 1:
            return 0, start
        return min(
            (cost(start, cut)[0] + cost(cut, end)[0] + sizes[start] * sizes[cut] * sizes[end], cut)
            for cut in range(start + 1, end)
        )

    def product(start: int, end: int) -> Tensor:
        if end - start == 1:
            return matrices[start]
        cut = cost(start, end)[1]
        return ops.mm(product(start, cut), product(cut, end))

    result = product(0, len(matrices))
    shape = zip(result.shape, (first, last), strict=True)
    return ops.view(result, [length for length, added in shape if not added])


@accepts_out
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse for `tensordot` over `ind` dimensions; the first `ind` of `A` are as large."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if prod(first) != prod(last):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {prod(last)} != {prod(first)}"
        )
    inverse = ops.linalg_inv(A.reshape([prod(last), prod(first)]))
    return ops.reshape(inverse, [*last, *first])


@accepts_out
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The solution `X` of `tensordot(A, X, X.ndim) = B`; `dims` of `A` are moved to its end."""
    if dims is not None:
        A = A.movedim(list(dims), list(range(-len(dims), 0)))
    first, last = tuple(A.shape[: B.ndim]), tuple(A.shape[B.ndim :])
    if not prod(first) == prod(last) == B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]) == other.numel(), but got {prod(last)}, {prod(first)} "
            f"and {B.numel()}"
        )
    rows = A.reshape([prod(first), prod(last)])
    return ops.reshape(ops.linalg_solve(rows, B.reshape([-1])), last)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Matrices whose rows are powers of the elements: from 0 on, `N` or as many as these."""
    if x.array.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    x = x if x.ndim else x.reshape([1])
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    repeated = ops.expand(ops.unsqueeze(x, -1), [*x.shape, count - 1])
    powers = ops.cumprod(repeated, -1)
    return ops.cat([ops._zero(powers[..., :1]) + 1, powers], -1)
