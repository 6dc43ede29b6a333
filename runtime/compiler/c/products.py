"""Products of matrices: loops for vectors and small matrices, BLAS for the others."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..program import Step, Value
from . import blas
from .layout import Access, access, dims_of
from .operations import Call, Map, Operand, Operation, Reduce
from .scalars import C_TYPES

SMALL = 4096
"""Multiplications up to which plain loops are faster than a call of BLAS."""
SHARED_FROM, SHARED_TO = 2e6, 4e6
"""Multiplications of all products of a batch from which threads share them, and of one product up
to which they do: larger ones are shared each by itself."""


def lowered(step: Step) -> list[Operation] | None:
    """Return the operations of `np.matmul`, or `np.dot` where it is the same."""
    a, b = step.args
    (out,) = step.outputs
    if not isinstance(a, Value) or not isinstance(b, Value):
        return None
    if not a.shape or not b.shape or not a.dtype == b.dtype == out.dtype or out.dtype.kind != "f":
        return None
    if step.function == "np.dot" and max(len(a.shape), len(b.shape)) > 2:
        return None
    left = a if len(a.shape) > 1 else _with_axis(a, 0)
    right = b if len(b.shape) > 1 else _with_axis(b, 1)
    rows, inner = left.shape[-2:]
    columns = right.shape[-1]
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    if not inner:
        whole = access(out, out.shape)
        zero = Operand(None, out.dtype, out.dtype, "0")
        return [Map(step, out, dims_of(out.shape), [zero], "{0}", out.dtype, whole)]
    shared = _by_shared_matrix(step, left, right, out, batch)
    if shared is not None:
        return shared
    if rows == 1 or columns == 1 or inner == 1:
        return _by_elements(step, left, right, out, batch)
    call = by_matrices(step, left, right, out, batch, out)
    return None if call is None else [call]


def _with_axis(value: Value, axis: int) -> Value:
    shape, strides = list(value.shape), list(value.strides)
    shape.insert(axis, 1)
    strides.insert(axis, value.dtype.itemsize)
    base = value if value.base is None else value.base
    return Value(value.name, tuple(shape), value.dtype, tuple(strides), base, value.offset)


def _by_shared_matrix(
    step: Step, left: Value, right: Value, out: Value, batch: tuple[int, ...]
) -> list[Operation] | None:
    """Return one product of matrices for that of one matrix and many vectors, if there is one."""
    long = [nr for nr, length in enumerate(batch) if length != 1]
    (rows, inner), columns = left.shape[-2:], right.shape[-1]
    if len(long) != 1 or (rows == 1) == (columns == 1) or inner == 1:
        return None
    at, count = long[0] - len(batch) - 2, batch[long[0]]
    matrix, vectors = (left, right) if columns == 1 else (right, left)
    is_shared = len(matrix.shape) < -at or matrix.shape[at] == 1 or not matrix.strides[at]
    if not is_shared or len(vectors.shape) < -at or vectors.shape[at] == 1:
        return None
    along = -2 if columns == 1 else -1
    down, across = (-1, -2) if columns == 1 else (-2, -1)
    length = matrix.shape[across]
    if count * inner * length <= SMALL:
        return None
    seen = (
        _as_matrix(vectors, (count, inner), (vectors.strides[at], vectors.strides[along])),
        _as_matrix(matrix, (inner, length), (matrix.strides[down], matrix.strides[across])),
        _as_matrix(out, (count, length), (out.strides[at], out.strides[along])),
    )
    call = by_matrices(step, *seen, (), out)
    return None if call is None else [call]


def _as_matrix(value: Value, shape: tuple[int, int], strides: tuple[int, int]) -> Value:
    base = value if value.base is None else value.base
    return Value(value.name, shape, value.dtype, strides, base, value.offset)


def _by_elements(
    step: Step, left: Value, right: Value, out: Value, batch: tuple[int, ...]
) -> list[Operation]:
    """Return a multiplication and a sum, which are put into loops with what is around them."""
    rows, inner = left.shape[-2:]
    columns = right.shape[-1]
    spans: dict[Any, int] = dict(enumerate(batch))
    spans |= {"row": rows, "inner": inner, "column": columns}
    matrix, kept = (left, "row") if columns == 1 else (right, "column")
    products = [name for name in ("row", "column") if inner == 1] or [
        *_memory_order(matrix, kept, columns == 1)
    ]
    order = [name for name in (*range(len(batch)), *products) if spans[name] != 1]
    dims = tuple(spans[name] for name in order)
    dtype = out.dtype
    operands = []
    for value, down, right_ in ((left, "row", "inner"), (right, "inner", "column")):
        by: dict[Any, int] = {down: value.strides[-2], right_: value.strides[-1]}
        lead = len(batch) - len(value.shape) + 2
        for nr in range(lead, len(batch)):
            by[nr] = value.strides[nr - lead] if value.shape[nr - lead] != 1 else 0
        strides = tuple(by.get(name, 0) for name in order)
        root = value if value.base is None else value.base
        operands.append(Operand(Access(root, value.offset, strides), dtype, dtype))
    made = [name for name in (*range(len(batch)), "row", "column") if spans[name] != 1]
    own = dict(zip(made, access(out, out.shape).strides, strict=True))
    target = Access(out, 0, tuple(own.get(name, 0) for name in order))
    if inner == 1:
        return [Map(step, out, dims, operands, "{0} * {1}", dtype, target)]
    contiguous = _contiguous(dims, dtype.itemsize)
    product = Value(f"{out.name}_products", dims, dtype, contiguous)
    whole = Access(product, 0, contiguous)
    reduced = tuple(name == "inner" for name in order)
    summed = Operand(whole, dtype, dtype)
    return [
        Map(step, product, dims, operands, "{0} * {1}", dtype, whole),
        Reduce(step, out, dims, reduced, summed, "add", target),
    ]


def _memory_order(matrix: Value, kept: str, is_left: bool) -> tuple[str, str]:
    """Return the dimensions in the order that the matrix has in memory."""
    first, second = (kept, "inner") if is_left else ("inner", kept)
    if abs(matrix.strides[-2]) < abs(matrix.strides[-1]):
        first, second = second, first
    return first, second


def _contiguous(dims: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * prod(dims[nr + 1 :]) for nr in range(len(dims)))


def by_matrices(
    step: Step, left: Value, right: Value, out: Value, batch: tuple[int, ...], whole: Value
) -> Call | None:
    """Return a call for each pair of matrices; `whole` is made, and seen as `out`."""
    (rows, inner), columns = left.shape[-2:], right.shape[-1]
    size = out.dtype.itemsize
    if out.shape != (*batch, rows, columns) or out.strides[-1] != size:
        return None
    layouts = [_layout(value, size) for value in (left, right)]
    is_small = rows * inner * columns <= SMALL
    if None in layouts or not (is_small or blas.library()):
        return None
    loops, offsets = _batch_loops(left, right, out, batch)
    ctype = C_TYPES[out.dtype]
    pointers = [
        f"({ctype} *)({{{name}}} + {offset})"
        for name, offset in zip(
            ("0", "1", "out"),
            (*offsets[:2], f"{offsets[2]} + {out.offset - whole.offset}"),
            strict=True,
        )
    ]
    if is_small:
        body = _plain(ctype, pointers, (rows, inner, columns), (left, right, out), size)
    else:
        body = [_gemm(out, pointers, (rows, inner, columns), layouts)]
    product = 1.0 * rows * inner * columns
    work = 2 * prod(batch) * product
    called = 0 if is_small else product
    call = Call(step, whole, (left, right), [], work, called, matrices=(left, right, out))
    call.columns = max(rows, columns)
    long = [(nr, length) for nr, length in enumerate(batch) if length != 1]
    if long and prod(batch) * product >= SHARED_FROM and product < SHARED_TO:
        nr, call.rounds = long[0]
        call.is_shared = True
        loops[0] = f"const long b{nr} = i;"
    call.lines = [*loops, "{{", *body, "}}"]
    return call


def _layout(value: Value, size: int) -> tuple[str, int] | None:
    """Return how BLAS has to read a matrix, and its leading dimension; None if it cannot."""
    (rows, columns), (down, right) = value.shape[-2:], value.strides[-2:]
    if (right == size or columns == 1) and (down >= columns * size or rows == 1):
        return "N", max(down // size, columns)
    if (down == size or rows == 1) and (right >= rows * size or columns == 1):
        return "T", max(right // size, rows)
    return None


def _batch_loops(
    left: Value, right: Value, out: Value, batch: tuple[int, ...]
) -> tuple[list[str], list[str]]:
    loops, terms = [], [["0"], ["0"], ["0"]]
    for nr, length in enumerate(batch):
        if length == 1:
            continue
        loops.append(f"for (long b{nr} = 0; b{nr} < {length}; b{nr}++)")
        for found, value in zip(terms, (left, right, out), strict=True):
            dim = nr - len(batch) + len(value.shape) - 2
            if dim >= 0 and value.shape[dim] != 1:
                found.append(f"b{nr} * {value.strides[dim]}L")
    return loops, [" + ".join(found) for found in terms]


def _gemm(out: Value, pointers: list[str], spans: tuple[int, int, int], layouts: list[Any]) -> str:
    """Return the call: BLAS counts along columns, so that it computes the transposed product."""
    rows, inner, columns = spans
    (by_a, lead_a), (by_b, lead_b) = layouts
    lead_c = max(out.strides[-2] // out.dtype.itemsize, columns)
    letter = "s" if out.dtype == np.float32 else "d"
    a, b, c = pointers
    return (
        f"gs_{letter}gemm_call('{by_b}', '{by_a}', {columns}, {rows}, {inner}, "
        f"{b}, {lead_b}, {a}, {lead_a}, {c}, {lead_c});"
    )


def _plain(
    ctype: str,
    pointers: list[str],
    spans: tuple[int, int, int],
    values: tuple[Value, Value, Value],
    size: int,
) -> list[str]:
    rows, inner, columns = spans
    (a0, a1), (b0, b1), (c0, c1) = (
        tuple(stride // size for stride in value.strides[-2:]) for value in values
    )
    a, b, c = pointers
    return [
        f"const {ctype} *a = {a};",
        f"const {ctype} *b = {b};",
        f"{ctype} *c = {c};",
        f"for (long i = 0; i < {rows}; i++) {{{{",
        f"    for (long j = 0; j < {columns}; j++) c[i * {c0} + j * {c1}] = 0;",
        f"    for (long k = 0; k < {inner}; k++) {{{{",
        f"        const {ctype} x = a[i * {a0} + k * {a1}];",
        "        #pragma omp simd",
        f"        for (long j = 0; j < {columns}; j++)"
        f" c[i * {c0} + j * {c1}] += x * b[k * {b0} + j * {b1}];",
        "    }}",
        "}}",
    ]
