"""Convolutions image by image: the windows of one lie as columns on the stack.

The columns of all images are the largest arrays by far of a program with convolutions, and larger
than a cache. Those of one are read by BLAS while they are still in it, and threads share images.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ..program import Step, Value
from . import blas
from .operations import Call, Operation
from .products import SMALL
from .scalars import C_TYPES, DType

COLUMNS_MAX: Final = 1 << 17
"""Bytes up to which the columns of an image may lie on the stack."""
SHARED_FROM: Final = 2_000_000
"""Multiplications from which threads share the images."""


def fits(spans: tuple[int, int, int], dtype: DType) -> bool:
    """Return whether BLAS multiplies columns, and those of an image fit on the stack.

    `spans` are the rows and the places of the columns, and the channels of what they become.
    """
    if dtype.kind != "f" or min(spans) < 2 or prod(spans) <= SMALL or blas.library() is None:
        return False
    return prod(spans[:2]) * dtype.itemsize <= COLUMNS_MAX


def convolved(step: Step) -> list[Operation]:
    """Return the matrix times the columns of each image: (batch, channels, places)."""
    x, matrix, lengths, steps = step.args
    (out,) = step.outputs
    images, channels, places = out.shape
    rows = matrix.shape[1]
    body = [
        *_pointers(out, (x.size // images, 0)),
        f"{C_TYPES[out.dtype]} columns[{rows * places}] __attribute__((aligned(64)));",
        *_loops(lengths, steps, "columns[{}] = a[{}];"),
        _gemm(out, "NN", (places, channels, rows), ("columns", "b", "c")),
    ]
    return _call(step, (x, matrix), body, rows * places * channels, max(places, channels))


def correlated(step: Step) -> list[Operation]:
    """Return the columns of each image times its gradients: (batch, rows, channels)."""
    grad, x, lengths, steps = step.args
    (out,) = step.outputs
    images, rows, channels = out.shape
    places = grad.shape[2]
    body = [
        *_pointers(out, (grad.size // images, x.size // images)),
        f"{C_TYPES[out.dtype]} columns[{rows * places}] __attribute__((aligned(64)));",
        *_loops(lengths, steps, "columns[{}] = b[{}];"),
        _gemm(out, "TN", (channels, rows, places), ("a", "columns", "c")),
    ]
    return _call(step, (grad, x), body, rows * places * channels, max(channels, rows))


def spread(step: Step) -> list[Operation]:
    """Return the products of matrix and gradients, added up where windows overlap."""
    grad, matrix, lengths, steps = step.args
    (out,) = step.outputs
    images, channels, places = grad.shape
    rows = matrix.shape[1]
    body = [
        *_pointers(out, (channels * places, 0)),
        f"{C_TYPES[out.dtype]} columns[{rows * places}] __attribute__((aligned(64)));",
        _gemm(out, "NT", (places, rows, channels), ("a", "b", "columns")),
        f"for (long j = 0; j < {out.size // images}; j++) c[j] = -0.0;",
        *_loops(lengths, steps, "c[{1}] += columns[{0}];"),
    ]
    return _call(step, (grad, matrix), body, rows * places * channels, max(places, rows))


def _pointers(out: Value, sizes: tuple[int, int]) -> list[str]:
    """Declare the operands and the result of image `i`; an operand of size 0 is that of all."""
    ctype = C_TYPES[out.dtype]
    lines = [
        f"const {ctype} *{name} = (const {ctype} *)({{{nr}}}) + i * {size};"
        for nr, (name, size) in enumerate(zip("ab", sizes, strict=True))
    ]
    return [*lines, f"{ctype} *c = ({ctype} *)({{out}}) + i * {prod(out.shape[1:])};"]


def _loops(lengths: Sequence[int], steps: Sequence[int], statement: str) -> list[str]:
    """Return a statement for each element of the columns, and that of the image."""
    inner = [prod(lengths[nr + 1 :]) for nr in range(len(lengths))]
    lines = [
        f"for (long i{nr} = 0; i{nr} < {length}; i{nr}++)" for nr, length in enumerate(lengths)
    ]
    lines.insert(-1, "#pragma omp simd")
    at = (" + ".join(f"i{nr} * {by}" for nr, by in enumerate(each)) for each in (inner, steps))
    return [*lines, statement.format(*at)]


def _gemm(out: Value, by: str, spans: tuple[int, int, int], names: tuple[str, str, str]) -> str:
    """Return the call of BLAS, to which rows are columns: all lies in a row."""
    m, n, k = spans
    lead_a, lead_b = m if by[0] == "N" else k, k if by[1] == "N" else n
    letter = "s" if out.dtype == np.float32 else "d"
    a, b, c = names
    ctype = C_TYPES[out.dtype]
    return (
        f"gs_{letter}gemm_call('{by[0]}', '{by[1]}', {m}, {n}, {k}, "
        f"({ctype} *){a}, {lead_a}, ({ctype} *){b}, {lead_b}, {c}, {m});"
    )


def _call(
    step: Step, operands: tuple[Value, ...], body: list[str], product: int, columns: int
) -> list[Operation]:
    """Return a call for each image, of which threads do some if they take long enough."""
    (out,) = step.outputs
    images = out.shape[0]
    is_shared = images > 1 and images * product >= SHARED_FROM
    work = 2.0 * images * product
    call = Call(step, out, operands, body, work, product, columns, rounds=images)
    call.is_shared = is_shared
    return [call]
