"""Light captures: large arrays are zeros that are never read, and their results are not computed.

Only the layout of a result counts. It is that of the same call on a few elements, on a few
examples, or on small matrices, where the rest makes no difference to it.
"""

from __future__ import annotations

import mmap
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .steps import copied, function_of

Array: TypeAlias = np.ndarray[Any, Any]

LIGHT_FROM: Final = 1 << 16
"""Bytes from which arrays are untouched pages of zeros while a function is captured."""


def blank(array: Array) -> Array:
    """Return zeros in the layout of an array: memory that is not touched before it is written."""
    order = _order(array)
    zeros = _untouched(tuple(array.shape[dim] for dim in order), array.dtype)
    out: Array = zeros.transpose([order.index(dim) for dim in range(array.ndim)])
    return out if out.strides == array.strides else copied(array)


def _order(array: Array) -> list[int]:
    """Return the dimensions as they lie in memory; one of length 1 is within those next to it."""
    steps = [(-abs(step), -length) for step, length in zip(array.strides, array.shape, strict=True)]
    return sorted(range(array.ndim), key=steps.__getitem__)


def _untouched(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return zeros of the system's, as `np.zeros` may write to memory that was used before."""
    size = prod(shape) * dtype.itemsize
    if size < LIGHT_FROM:
        return np.zeros(shape, dtype)
    return np.frombuffer(mmap.mmap(-1, size, **_PRIVATE), dtype).reshape(shape)


_PRIVATE: Final[dict[str, int]] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)


def is_large(array: Any) -> bool:
    """Return whether an argument is an array of so many bytes."""
    return isinstance(array, np.ndarray) and array.nbytes >= LIGHT_FROM


def blank_result(function: str, args: Any, kwargs: Any) -> Array | tuple[Array, ...] | None:
    """Return what a function that is known makes of large arrays, but zeros.

    None for other functions and for what only small arrays are made of, which has to be computed.
    """
    if kwargs:
        return None
    if function in _PRODUCTS:
        return _blank_product(function, *args)
    if function in _OF_ELEMENTS:
        return _blank_elements(function, args)
    if function in _OF_EXAMPLES:
        return _blank_examples(function, args)
    if function in _OF_MATRICES:
        return _blank_matrices(function, args)
    ufunc = function_of(function)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or function.count(".") > 1:
        return None
    return None if ufunc.signature is not None else _blank_ufunc(ufunc, args)


_PRODUCTS: Final = frozenset({"np.matmul", "np.dot"})
_OF_ELEMENTS: Final = frozenset({"kernels.normal_cdf", "kernels.gelu_slope"})
"""Kernels of single elements, whose results lie in a row if their arguments do."""
_OF_EXAMPLES: Final = frozenset({"kernels.convolution", "kernels.convolution_input"})
"""Kernels that treat each example, a part of the first argument, by itself."""
_OF_MATRICES: Final = frozenset(
    f"kernels.{name}"
    for name in (
        *("cholesky", "cholesky_ex", "cholesky_inverse", "cholesky_solve", "eigh", "inv_ex", "lu"),
        *("lu_factor_ex", "pinv", "qr", "solve_ex", "solve_triangular", "svd"),
    )
)
"""Kernels of matrices, whose results have the lengths of their arguments: none is a sum of two."""


def _blank_ufunc(ufunc: Any, args: Any) -> Array | None:
    arrays = [each for each in args if isinstance(each, np.ndarray)]
    if not all(isinstance(each, np.ndarray | np.generic | int | float) for each in args):
        return None
    if 16 * max((each.size for each in arrays), default=0) < LIGHT_FROM:
        return None
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    few = [each[(slice(1),) * each.ndim] if isinstance(each, np.ndarray) else each for each in args]
    dtype = np.asarray(ufunc(*few)).dtype
    if prod(shape) * dtype.itemsize < LIGHT_FROM:
        return None
    made = np.nditer([*arrays, None], op_dtypes=[*(each.dtype for each in arrays), dtype])
    return blank(made.operands[-1])


def _blank_product(function: str, a: Any, b: Any) -> Array | None:
    """Return zeros in the layout of a product of which the result, or a factor, is large."""
    if not all(isinstance(each, np.ndarray) and each.ndim > 1 for each in (a, b)):
        return None
    fits = a.dtype == b.dtype and a.dtype.kind in "fc" and a.shape[-1] == b.shape[-2]
    if not fits or (function == "np.dot" and not a.ndim == b.ndim == 2):
        return None
    few = a[..., :2, :2] @ b[..., :2, :2]  # the dimensions before lie as in the whole product
    shape = (*few.shape[:-2], a.shape[-2], b.shape[-1])
    if prod(shape) * few.itemsize < LIGHT_FROM and not (is_large(a) or is_large(b)):
        return None
    return _laid_out(few, shape)


def _blank_elements(function: str, args: Any) -> Array | None:
    arrays = [each for each in args if isinstance(each, np.ndarray)]
    first = arrays[0]
    if not is_large(first) or any(
        each.shape != first.shape or each.dtype != first.dtype or not each.flags.c_contiguous
        for each in arrays
    ):
        return None
    few = [each.reshape(-1)[:1] if isinstance(each, np.ndarray) else each for each in args]
    return _untouched(first.shape, function_of(function)(*few).dtype)


def _blank_examples(function: str, args: Any) -> Array | None:
    """Return zeros in the layout of the result for two examples."""
    count = len(args[0])
    if count <= 2 or not is_large(args[0]):
        return None
    few = [args[0][:2], *args[1:]]
    if function == "kernels.convolution_input":
        few[2] = (2, *args[2][1:])
    found = function_of(function)(*few)
    shape = (count, *found.shape[1:])
    if not _is_dense(found) or prod(shape) * found.itemsize < LIGHT_FROM:
        return None
    return _laid_out(found, shape)


def _blank_matrices(function: str, args: Any) -> Array | tuple[Array, ...] | None:
    """Return zeros in the layout of the results for identities, which all factorisations take.

    Each length has a small one in its place, in the same order, as the shorter one of two counts.
    """
    arrays = [each for each in args if isinstance(each, np.ndarray)]
    if not any(map(is_large, arrays)) or not all(map(_has_no_gaps, arrays)):
        return None
    lengths = sorted({length for each in arrays for length in each.shape})
    small = {length: min(length, 2 + nr) for nr, length in enumerate(lengths)}
    known = {few: length for length, few in small.items()}
    few = [_identities(each, small) if isinstance(each, np.ndarray) else each for each in args]
    found = function_of(function)(*few)
    results = found if isinstance(found, tuple) else (found,)
    if not all(_is_dense(each) and known.keys() >= {*each.shape} for each in results):
        return None
    made = tuple(_laid_out(each, tuple(known[few] for few in each.shape)) for each in results)
    return made if isinstance(found, tuple) else made[0]


def _identities(like: Array, small: dict[int, int]) -> Array:
    """Return small identities, or ones where there are no matrices, in the layout of an array."""
    made = _laid_out(like, tuple(small[length] for length in like.shape))
    made[...] = np.eye(*made.shape[-2:]) if made.ndim > 1 else 1
    return made


def _is_dense(array: Array) -> bool:
    """Return whether `_laid_out` makes such an array."""
    return _laid_out(array, array.shape).strides == array.strides


def _has_no_gaps(array: Array) -> bool:
    """Return whether its elements lie side by side, whatever the strides of single rows are."""
    return array.transpose(_order(array)).flags.c_contiguous


def _laid_out(like: Array, shape: tuple[int, ...]) -> Array:
    """Return zeros, of which the dimensions lie in the same order."""
    order = _order(like)
    zeros = _untouched(tuple(shape[dim] for dim in order), like.dtype)
    return zeros.transpose([order.index(dim) for dim in range(like.ndim)])


def of_one_example(function: str, args: Any) -> Any:
    """Return arguments of the first example alone where a result is as large without the others.

    One of the arrays is large, therefore zeros, and so is then their gradient of a kernel.
    """
    if (
        function != "kernels.convolution_weight"
        or max(each.nbytes for each in args[:2]) < LIGHT_FROM
    ):
        return args
    return (*(each[:1] for each in args[:2]), *args[2:])
