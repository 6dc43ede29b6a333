"""JAX code of more than a line, for `spellings.yaml`: convolutions, losses, cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import stats

__all__ = [
    "METHODS",
    "across",
    "adaptive",
    "along",
    "apart",
    "average",
    "conv",
    "conv_transpose",
    "cosine",
    "gru",
    "huber",
    "lax",
    "lstm",
    "others",
    "padded",
    "pairs",
    "parts",
    "pool",
    "reduced",
    "sampled",
    "solve",
    "stats",
    "triplet",
]

METHODS = {"sum": "add", "prod": "multiply", "amax": "max", "amin": "min"}
"""Names of the updates of an array at some indices."""

Sizes = int | tuple[int, ...]


def across(index: Any, dim: int) -> tuple[Any, ...]:
    """Index of a dimension; all of the others."""
    every = slice(None)
    return (every,) * dim + (index,) if dim >= 0 else (..., index, *(every,) * (-dim - 1))


def along(index: Any, dim: int) -> tuple[Any, ...]:
    """Index of a dimension, one for each element; places of their own in the others."""
    places = enumerate(jnp.indices(index.shape))
    return tuple(index if n == dim % index.ndim else place for n, place in places)


def parts(x: Any, size: int | Sequence[int], dim: int = 0) -> list[Any]:
    """Cut an array into parts of one size, or of several."""
    ends = range(size, x.shape[dim], size) if isinstance(size, int) else np.cumsum(size)[:-1]
    return jnp.split(x, [int(end) for end in ends], dim)


def solve(a: Any, b: Any, left: bool = True) -> Any:
    """Solve `a y = b`, or `y a = b`."""
    turned = jnp.matrix_transpose
    return jnp.linalg.solve(a, b) if left else turned(jnp.linalg.solve(turned(a), turned(b)))


def conv(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Sizes = 1,
    padding: str | Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Any:
    """Convolve a batch, or one image."""
    n = w.ndim - 2
    pads = padding if isinstance(padding, str) else [(p, p) for p in _each(padding, n)]
    found = lax.conv_general_dilated(
        x if x.ndim == n + 2 else x[None],
        w,
        _each(stride, n),
        pads,
        rhs_dilation=_each(dilation, n),
        feature_group_count=groups,
    )
    found = found if bias is None else found + _by_channel(bias, n)
    return found if x.ndim == n + 2 else found[0]


def conv_transpose(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
) -> Any:
    """Transpose a convolution without dilation and groups."""
    n = w.ndim - 2
    widths = zip(w.shape[2:], _each(padding, n), _each(output_padding, n), strict=True)
    pads = [(size - 1 - p, size - 1 - p + more) for size, p, more in widths]
    turned = jnp.swapaxes(jnp.flip(w, range(2, n + 2)), 0, 1)
    found = lax.conv_general_dilated(x, turned, (1,) * n, pads, lhs_dilation=_each(stride, n))
    return found if bias is None else found + _by_channel(bias, n)


def pool(
    x: Any,
    size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    *,
    dims: int,
    start: float = -float("inf"),
    how: Callable[..., Any] = lax.max,
) -> Any:
    """Reduce windows of the last dimensions, by default to their largest elements."""
    ones = (1,) * (x.ndim - dims)
    pads = [(0, 0) for _ in ones] + [(p, p) for p in _each(padding, dims)]
    steps = _each(size if stride is None else stride, dims)
    return lax.reduce_window(x, start, how, ones + _each(size, dims), ones + steps, pads)


def average(
    x: Any, size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, *, dims: int
) -> Any:
    """Means over windows of the last dimensions."""
    total = pool(x, size, stride, padding, dims=dims, start=0.0, how=lax.add)
    return total / np.prod(_each(size, dims))


def adaptive(x: Any, counts: Sizes, dims: int) -> Any:
    """Means over nearly equal windows, a number of them in each of the last dimensions."""
    for axis, count in zip(range(-dims, 0), _each(counts, dims), strict=True):
        n = x.shape[axis]
        windows = [slice(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]
        x = jnp.stack([jnp.mean(x[across(window, axis)], axis) for window in windows], axis)
    return x


def padded(x: Any, widths: Sequence[int], value: float = 0) -> Any:
    """Pad the last dimensions, of which the last comes first."""
    pairs = [*zip(widths[::2], widths[1::2], strict=True)][::-1]
    before = [(0, 0)] * (x.ndim - len(pairs))
    return jnp.pad(x, before + pairs, constant_values=value)


def sampled(image: Any, grid: Any, kind: int, padding: int, aligned: bool) -> Any:
    """Read one image at places between -1 and 1, linearly, its border continued."""
    if (kind, padding, aligned) != (0, 1, True):
        raise NotImplementedError
    sizes = enumerate(image.shape[2:])
    places = [(grid[0, ..., -1 - n] + 1) * (size - 1) / 2 for n, size in sizes]
    order: dict[str, Any] = {"order": 1, "mode": "nearest"}
    return jax.scipy.ndimage.map_coordinates(image[0, 0], places, **order)[None, None]


def reduced(x: Any, how: str = "mean") -> Any:
    """Reduce the losses of a batch."""
    by: dict[str, Callable[..., Any]] = {"mean": jnp.mean, "sum": jnp.sum, "none": jnp.asarray}
    return jnp.sum(x) / len(x) if how == "batchmean" else by[how](x)


def huber(d: Any, delta: float = 1.0) -> Any:
    """Huber's loss."""
    size = jnp.abs(d)
    return jnp.where(size <= delta, d * d / 2, delta * (size - delta / 2))


def cosine(a: Any, b: Any) -> Any:
    """Cosines of the angles between rows."""
    return jnp.sum(a * b, 1) / (jnp.linalg.norm(a, axis=1) * jnp.linalg.norm(b, axis=1))


def apart(a: Any, b: Any) -> Any:
    """Distances of rows, with PyTorch's shift."""
    return jnp.linalg.norm(a - b + 1e-6, axis=-1)


def triplet(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Return the hinge of a margin: how far the negative misses it."""
    far = apart(anchor, negative)
    far = jnp.minimum(far, apart(positive, negative)) if swap else far
    return reduced(jnp.maximum(apart(anchor, positive) - far + margin, 0), reduction)


def others(x: Any, target: Any) -> Any:
    """True for the classes that are not the target."""
    return jnp.arange(x.shape[1]) != target[:, None]


def pairs(x: Any) -> tuple[Any, Any]:
    """Every two rows."""
    first, second = jnp.triu_indices(len(x), 1)
    return first, second


def lstm(x: Any, state: Any, w_ih: Any, w_hh: Any, b_ih: Any = 0, b_hh: Any = 0) -> tuple[Any, Any]:
    """Take one step of a long short-term memory."""
    i, f, g, o = jnp.split(x @ w_ih.T + b_ih + state[0] @ w_hh.T + b_hh, 4, 1)
    cell = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


def gru(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = 0, b_hh: Any = 0) -> Any:
    """Take one step of a gated recurrent unit."""
    a, b = (jnp.split(t, 3, 1) for t in (x @ w_ih.T + b_ih, h @ w_hh.T + b_hh))
    reset, update = jax.nn.sigmoid(a[0] + b[0]), jax.nn.sigmoid(a[1] + b[1])
    new = jnp.tanh(a[2] + reset * b[2])
    return new + update * (h - new)


def _each(sizes: Sizes, n: int) -> tuple[int, ...]:
    return sizes * (n // len(sizes)) if isinstance(sizes, tuple) else (sizes,) * n


def _by_channel(bias: Any, n: int) -> Any:
    return bias.reshape(-1, *(1,) * n)
