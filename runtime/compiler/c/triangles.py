"""Triangles of matrices, triangular systems by substitution or BLAS, Cholesky factors by LAPACK."""

from __future__ import annotations

import numpy as np

from ..program import Step, Value
from . import blas
from .operations import Call, Operation
from .products import SMALL
from .scalars import C_TYPES

_NOT_DEFINITE = (
    "linalg.cholesky: The factorization could not be completed because the input is not "
    "positive-definite."
)


def lowered(step: Step) -> list[Operation] | None:
    """Return the operation of `kernels.solve_triangular` for one matrix."""
    matrix, right, upper, is_left, has_units = step.args
    (out,) = step.outputs
    values = (matrix, right, out)
    if step.kwargs or any(len(v.shape) != 2 or v.dtype != out.dtype for v in values):
        return None
    if out.dtype.kind != "f":
        return None
    size = out.dtype.itemsize
    a, b, x = (tuple(stride // size for stride in value.strides) for value in values)
    if not is_left:  # X A = B is the transpose of A X = B
        a, b, x = a[::-1], b[::-1], x[::-1]
        upper = not upper
    count, columns = matrix.shape[0], right.size // matrix.shape[0]
    ctype = C_TYPES[out.dtype]
    lines = [
        "{{",
        f"const {ctype} *a = (const {ctype} *)({{0}});",
        f"const {ctype} *b = (const {ctype} *)({{1}});",
        f"{ctype} *x = ({ctype} *)({{out}});",
        # Eight columns at a time: one of the two may lie along the other dimension.
        f"for (long j0 = 0; j0 < {columns}; j0 += 8)",
        f"    for (long i = 0; i < {count}; i++)",
        f"        for (long j = j0; j < j0 + 8 && j < {columns}; j++)",
        f"            x[i * {x[0]} + j * {x[1]}] = b[i * {b[0]} + j * {b[1]}];",
    ]
    call = None
    if count * count * columns > SMALL and blas.library():
        call = _call(out, (count, columns), a, x, upper, has_units)
    if call is not None:
        lines += [
            "_Bool is_singular = 0;",
            f"for (long i = 0; i < {0 if has_units else count}; i++)"
            f" is_singular |= a[i * {sum(a)}] == 0;",
            f"if (!is_singular) {call}",
            "else",
        ]
    lines += [*_substitution((count, columns), a, x, upper, has_units), "}}"]
    work = 1.0 * count * count * columns
    return [Call(step, out, (matrix, right), lines, work, work / 2 if call else 0, columns)]


def _substitution(
    spans: tuple[int, int], a: tuple[int, ...], x: tuple[int, ...], upper: bool, has_units: bool
) -> list[str]:
    """Return the loops that find one row after the other, with infinities for zeros."""
    count, columns = spans
    row = f"({count - 1} - nr)" if upper else "nr"
    known = f"{row} + 1; k < {count}" if upper else f"0; k < {row}"
    each = f"for (long j = 0; j < {columns}; j++) x[{row} * {x[0]} + j * {x[1]}]"
    lines = [
        f"for (long nr = 0; nr < {count}; nr++) {{{{",
        f"    for (long k = {known}; k++)",
        f"        {each} -= a[{row} * {a[0]} + k * {a[1]}] * x[k * {x[0]} + j * {x[1]}];",
    ]
    if not has_units:
        lines.append(f"    {each} /= a[{row} * {sum(a)}];")
    return [*lines, "}}"]


def _call(
    out: Value,
    spans: tuple[int, int],
    a: tuple[int, ...],
    x: tuple[int, ...],
    upper: bool,
    has_units: bool,
) -> str | None:
    """Return the call of BLAS, which counts along columns; None for another layout."""
    count, columns = spans
    by_rows = x[1] == 1 and x[0] >= columns
    by_columns = x[0] == 1 and x[1] >= count
    if not (by_rows or by_columns) or 1 not in a or max(a) < count:
        return None
    # By rows it is the transpose that BLAS sees: X^T A^T = B^T.
    side, m, n = ("R", columns, count) if by_rows else ("L", count, columns)
    is_seen_transposed = a[1] == 1
    transposed = "N" if is_seen_transposed == by_rows else "T"
    half = "U" if upper != is_seen_transposed else "L"
    letter = "s" if out.dtype == np.float32 else "d"
    units = "U" if has_units else "N"
    if columns == 1:
        by = "T" if is_seen_transposed else "N"
        return (
            f"gs_{letter}trsv_call('{half}', '{by}', '{units}', {count}, a, {max(a)}, x, {x[0]});"
        )
    return (
        f"gs_{letter}trsm_call('{side}', '{half}', '{transposed}', '{units}', {m}, {n}, "
        f"a, {max(a)}, x, {x[0] if by_rows else x[1]});"
    )


def factor(step: Step) -> list[Operation] | None:
    """Return the operations of `kernels.cholesky_ex` for one matrix.

    Of one that is not positive definite, as none of nan is, all of the factor is nan, also the half
    that else is zero: its last element holds `info` in the bits of a nan that are free.
    """
    matrix, upper, check_errors = step.args
    out, info = step.outputs
    if step.kwargs or len(matrix.shape) != 2 or out.dtype.kind != "f" or not blas.library():
        return None
    size, count = out.dtype.itemsize, matrix.shape[0]
    a, lower = (tuple(stride // size for stride in value.strides) for value in (matrix, out))
    if upper:
        a, lower = a[::-1], lower[::-1]
    if count < 2 or 1 not in lower or max(lower) < count or matrix.shape != (count, count):
        return None
    ctype, letter = C_TYPES[out.dtype], "s" if size == 4 else "d"
    half = "U" if lower[1] == 1 else "L"  # LAPACK counts along columns
    each = f"x[i * {lower[0]} + j * {lower[1]}]"
    nan, bits = ("0x7fc00000u", "uint32_t") if size == 4 else ("0x7ff8000000000000u", "uint64_t")
    zero = f"(({bits} *)({{0}}))[{(count - 1) * lower[1]}]"
    failed = f'return "L{_NOT_DEFINITE}";' if check_errors else ""
    lines = [
        "{{",
        f"const {ctype} *a = (const {ctype} *)({{0}});",
        f"{ctype} *x = ({ctype} *)({{out}});",
        f"for (long i = 0; i < {count}; i++)",
        f"    for (long j = 0; j < {count}; j++) {each} = j > i ? 0 : a[i * {a[0]} + j * {a[1]}];",
        f"int info = gs_{letter}potrf_call('{half}', {count}, x, {max(lower)});",
        f"for (long i = 0; i < {count} && !info; i++)",  # of nan
        f"    if (x[i * {sum(lower)}] != x[i * {sum(lower)}]) info = i + 1;",
        "if (info) {{",
        f"    {failed}",
        f"    for (long i = 0; i < {count}; i++)",
        f'        for (long j = 0; j < {count}; j++) {each} = __builtin_nan("");',
        f"    {zero.format('x')} = {nan} | ({bits})info;",
        "}}",
        "}}",
    ]
    told = f"*(int32_t *)({{out}}) = (int32_t)({zero} & {0x3FFFFF});"
    return [
        Call(step, out, (matrix,), lines, count**3 / 3, count**3 / 6, is_factor=True),
        Call(step, info, (out,), [told]),
    ]


def part(step: Step, *, lower: bool) -> list[Operation] | None:
    """Return the operation of `kernels.tril` or `kernels.triu`: elements, and zeros for others."""
    matrix, diagonal = step.args
    (out,) = step.outputs
    if step.kwargs or matrix.shape != out.shape or matrix.dtype != out.dtype:
        return None
    rows, columns = out.shape[-2:]
    ctype, size = C_TYPES[out.dtype], out.dtype.itemsize
    names = [f"b{nr}" for nr in range(len(out.shape) - 2)]
    loops = [
        f"for (long {name} = 0; {name} < {length}; {name}++)"
        for name, length in zip(names, out.shape[:-2], strict=True)
    ]
    places = [
        " + ".join(f"{name} * {stride // size}" for name, stride in pairs)
        for pairs in (
            [*zip((*names, "i"), value.strides[:-1], strict=True)] for value in (matrix, out)
        )
    ]
    across = [value.strides[-1] // size for value in (matrix, out)]
    copied, zeros = f"to[j * {across[1]}] = from[j * {across[0]}]", f"to[j * {across[1]}] = 0"
    first, second = (copied, zeros) if lower else (zeros, copied)
    return [
        Call(
            step,
            out,
            (matrix,),
            [
                *loops,
                f"for (long i = 0; i < {rows}; i++) {{{{",
                f"    const {ctype} *from = (const {ctype} *)({{0}}) + {places[0]};",
                f"    {ctype} *to = ({ctype} *)({{out}}) + {places[1]};",
                f"    long middle = i + {diagonal + (1 if lower else 0)};",
                f"    middle = middle < 0 ? 0 : middle > {columns} ? {columns} : middle;",
                f"    for (long j = 0; j < middle; j++) {first};",
                f"    for (long j = middle; j < {columns}; j++) {second};",
                "}}",
            ],
            float(out.size),
        )
    ]
