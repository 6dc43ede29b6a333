"""Fourier transforms: PyTorch's namespace `fft`.

All functions share their arguments. `n` or `s` are the lengths to which dimensions are padded with
zeros, or cut, first; `norm` says where the sums are divided by their length: in the inverse
transform (`backward`, the default), in the forward one (`forward`), or by the square root in both
(`ortho`). RuntimeError for other norms, for lengths below one and for a dimension given twice,
IndexError for one that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .core.missing import explaining as _explaining
from .core.tensor import normalize_dim
from .dispatch.numbers_given import real_given
from .dispatch.registry import ops
from .dtypes.whole_numbers import dim_numbers, whole_number
from .functions.progressions import arange
from .inplace.keywords import accepts_numpy_names, accepts_out
from .kernels.elementwise.complex_numbers import complex_of

if TYPE_CHECKING:
    from .core.tensor import Tensor

Dims = int | Sequence[int] | None


@accepts_out
@accepts_numpy_names
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform along one dimension; complex."""
    return _along_one("fft", input, n, dim, norm, inverse=False)


@accepts_out
@accepts_numpy_names
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return _along_one("ifft", input, n, dim, norm, inverse=True)


@accepts_out
@accepts_numpy_names
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first half of the transform of real numbers; the rest are the conjugates of it."""
    return _half("rfft", input, *_one(n, dim), norm)


@accepts_out
@accepts_numpy_names
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, an even count unless told."""
    return _from_half("irfft", input, *_one(n, dim), norm)


@accepts_out
@accepts_numpy_names
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform, which is real, of numbers whose second half is the conjugate of the first."""
    return _hermitian("hfft", input, *_one(n, dim), norm)


@accepts_out
@accepts_numpy_names
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: half of the complex numbers."""
    return _inverse_hermitian("ihfft", input, *_one(n, dim), norm)


@accepts_out
@accepts_numpy_names
def fft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`fft` over two dimensions."""
    return _forward("fft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def ifft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `fft2`."""
    return _inverse("ifft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def rfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`fft2` of real numbers, without the second half of the last dimension."""
    return _half("rfft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def irfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `rfft2`."""
    return _from_half("irfft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def hfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfft` over two dimensions."""
    return _hermitian("hfft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def ihfft2(input: Tensor, s: Dims = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `hfft2`."""
    return _inverse_hermitian("ihfft2", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def fftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fft` over some dimensions; the last `len(s)`, or all, unless told."""
    return _forward("fftn", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def ifftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`."""
    return _inverse("ifftn", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def rfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`fftn` of real numbers, without the second half of the last dimension."""
    return _half("rfftn", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def irfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`."""
    return _from_half("irfftn", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def hfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """`hfft` over some dimensions."""
    return _hermitian("hfftn", input, s, dim, norm)


@accepts_out
@accepts_numpy_names
def ihfftn(input: Tensor, s: Dims = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`."""
    return _inverse_hermitian("ihfftn", input, s, dim, norm)


@accepts_numpy_names
def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The frequencies in ascending order: zero in the middle."""
    dims = _dims(input, dim)
    return ops.roll(input, [input.shape[each] // 2 for each in dims], dims)


@accepts_numpy_names
def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of `fftshift`."""
    dims = _dims(input, dim)
    return ops.roll(input, [(input.shape[each] + 1) // 2 for each in dims], dims)


@accepts_out
def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of `fft` for `n` samples at distances `d`."""
    n, d, dtype = _sampling("fftfreq", n, d, dtype)
    found = ifftshift(arange(n, dtype=dtype) - n // 2) / (n * d)
    found.requires_grad = requires_grad
    return found


@accepts_out
def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The frequencies of `rfft` for `n` samples at distances `d`."""
    n, d, dtype = _sampling("rfftfreq", n, d, dtype)
    found = arange(n // 2 + 1, dtype=dtype) / (n * d)
    found.requires_grad = requires_grad
    return found


def _sampling(name: str, n: Any, d: Any, dtype: Any) -> tuple[int, Any, Any]:
    """Check the number of samples, their distance, and the dtype of their frequencies."""
    n = whole_number(f"fft_{name}", "n", n)
    d = real_given(f"fft_{name}", "d", d)
    chosen = _default_dtype() if dtype is None else np.dtype(dtype)
    if chosen.kind not in "fc":
        raise RuntimeError(f"{name} requires a floating point or complex dtype, not {chosen}")
    return n, d, chosen


def _default_dtype() -> Any:
    from .dtypes.promotion import get_default_dtype

    return get_default_dtype()


# ---- the four kinds


def _along_one(
    name: str, input: Tensor, n: int | None, dim: int, norm: str | None, *, inverse: bool
) -> Tensor:
    """The transform along one dimension, which knows that of real numbers half tell the rest."""
    dims, sizes = _dims_and_sizes(input, *_one(n, dim))
    given = _resized(_floating(input), dims, sizes)
    divisor = _divisor(name, norm, inverse=inverse)
    if given.is_complex():
        return ops._fft_c2c(given, dims, divisor, inverse)
    forward = ops._fft_r2c(given, dims, divisor, False)
    return ops.conj(forward) if inverse else forward


def _forward(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    return _along_several(name, input, s, dim, norm, inverse=False)


def _inverse(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    return _along_several(name, input, s, dim, norm, inverse=True)


def _along_several(
    name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None, *, inverse: bool
) -> Tensor:
    dims, sizes = _dims_and_sizes(input, s, dim)
    given = _complex(_resized(_floating(input), dims, sizes))
    divisor = _divisor(name, norm, inverse=inverse)
    return ops._fft_c2c(given, dims, divisor, inverse) if dims else given.clone()


def _half(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    dims, sizes = _last_needed(name, input, s, dim)
    return ops._fft_r2c(_real(name, input, dims, sizes), dims, _divisor(name, norm), True)


def _from_half(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    dims, sizes = _last_needed(name, input, s, dim)
    given, length = _halved(input, s, dims, sizes)
    return ops._fft_c2r(given, dims, _divisor(name, norm, inverse=True), length)


def _hermitian(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    dims, sizes = _last_needed(name, input, s, dim)
    given, length = _halved(input, s, dims, sizes)
    divisor = _divisor(name, norm)
    if len(dims) > 1:
        given = ops._fft_c2c(given, dims[:-1], divisor, False)
    return ops._fft_c2r(ops.conj(given), dims[-1:], divisor, length)


def _inverse_hermitian(name: str, input: Tensor, s: Dims, dim: Dims, norm: str | None) -> Tensor:
    dims, sizes = _last_needed(name, input, s, dim)
    divisor = _divisor(name, norm, inverse=True)
    half = ops._fft_r2c(_real(name, input, dims, sizes), dims[-1:], divisor, True)
    if len(dims) == 1:
        return ops.conj(half)
    return ops._fft_c2c(ops.conj_physical(half), dims[:-1], divisor, True)


# ---- arguments


def _one(n: int | None, dim: int) -> tuple[Dims, Dims]:
    """`s` and `dim` of a transform along one dimension, whose length is at least one if given."""
    if n is not None and n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return (None if n is None else (n,)), (dim,)


def _divisor(name: str, norm: str | None, *, inverse: bool = False) -> int:
    """Return the `normalization` of the ops."""
    if norm == "ortho":
        return 1
    if norm not in (None, "backward", "forward"):
        raise RuntimeError(f"{name}: Invalid normalization mode: {norm!r}")
    return 2 if (norm == "forward") is not inverse else 0


def _dims(input: Tensor, dim: Dims) -> list[int]:
    """The dimensions, counted from the front; all of them if None."""
    if dim is None:
        return list(range(input.ndim))
    dims = [normalize_dim(each, input.ndim) for each in dim_numbers(dim)]
    if len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    return dims


def _dims_and_sizes(input: Tensor, s: Dims, dim: Dims) -> tuple[list[int], list[int]]:
    """Choose the dimensions to transform, and the lengths they get."""
    if s is None:
        dims = _dims(input, dim)
        sizes = [input.shape[each] for each in dims]
    else:
        wanted = [s] if isinstance(s, int) else list(s)
        if dim is None and len(wanted) > input.ndim:
            raise RuntimeError(f"Got shape with {len(wanted)} values but input has {input.ndim}")
        last = range(input.ndim - len(wanted), input.ndim)
        dims = _dims(input, list(last) if dim is None else dim)
        if len(wanted) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        sizes = [
            input.shape[each] if size == -1 else size
            for each, size in zip(dims, wanted, strict=True)
        ]
    for size in sizes:
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return dims, sizes


def _last_needed(name: str, input: Tensor, s: Dims, dim: Dims) -> tuple[list[int], list[int]]:
    dims, sizes = _dims_and_sizes(input, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return dims, sizes


def _halved(input: Tensor, s: Dims, dims: list[int], sizes: list[int]) -> tuple[Tensor, int]:
    """The half that a real transform is of, complex, and the length of the whole."""
    explicit = s is not None and ([s] if isinstance(s, int) else list(s))[-1] != -1
    length = sizes[-1] if explicit else 2 * (sizes[-1] - 1)
    if length < 1:
        raise RuntimeError(f"Invalid number of data points ({length}) specified")
    given = _resized(_floating(input), dims, [*sizes[:-1], length // 2 + 1])
    return _complex(given), length


def _complex(input: Tensor) -> Tensor:
    """Complex numbers as they are, real ones as complex ones."""
    return input if input.is_complex() else input.to(complex_of(input.dtype))


def _real(name: str, input: Tensor, dims: list[int], sizes: list[int]) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"{name} expects a real input tensor, but got {input.dtype}")
    return _resized(_floating(input), dims, sizes)


def _floating(input: Tensor) -> Tensor:
    """Integers and bools in the default float dtype; RuntimeError for half precision."""
    if input.dtype.kind in "iub":
        return input.to(_default_dtype())
    if input.dtype.kind == "f" and input.dtype.itemsize == 2:
        raise RuntimeError("Unsupported dtype Half: transform float32, float64 or complex numbers")
    return input


def _resized(input: Tensor, dims: list[int], sizes: list[int]) -> Tensor:
    """Padded with zeros, or cut, at the ends of dimensions."""
    for dim, size in zip(dims, sizes, strict=True):
        if size < input.shape[dim]:
            input = ops.slice(input, dim, 0, size)
    missing = {d: n - input.shape[d] for d, n in zip(dims, sizes, strict=True)}
    if not any(missing.values()):
        return input
    pads = [pad for dim in reversed(range(input.ndim)) for pad in (0, missing.get(dim, 0))]
    return ops.constant_pad_nd(input, pads)


__getattr__ = _explaining(__name__)
