"""Adding values into places of an array, some of them more than once.

`np.add.at` is quick where it is given one list of positions in a flat array, and takes 10 ns an
element elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype_kinds import is_symbolic
from ...fast.tuning import ADD_ROW_MIN
from ..elementwise.checks import Array


def add_at(out: Array, places: tuple[Any, ...], values: Array) -> None:
    """`np.add.at(out, places, values)` for positions in every dimension, none of them negative."""
    if not _is_flat(out):
        np.add.at(out, places, values)
        return
    flat: Any = 0
    for position, stride in zip(places, out.strides, strict=True):
        flat = flat + np.asarray(position, np.intp) * (stride // out.itemsize)
    np.add.at(reshaped_view(out, -1), flat.reshape(-1), values.reshape(-1))


def add_rows(out: Array, numbers: Array, rows: Array) -> None:
    """`np.add.at(out, numbers, rows)` for a list of numbers, with a row of values for each."""
    if not _is_flat(out):
        np.add.at(out, numbers, rows)
        return
    table = reshaped_view(out, len(out), -1)
    length = table.shape[1]
    rows = rows.reshape(numbers.size, length)
    numbers = np.asarray(numbers, np.intp)  # places in the whole table are larger than row numbers
    if length < ADD_ROW_MIN:
        flat = (numbers % len(out) * length)[:, None] + np.arange(length)
        np.add.at(reshaped_view(out, -1), flat.reshape(-1), rows.reshape(-1))
        return
    for number, row in zip(numbers.tolist(), rows, strict=True):
        table[number] += row


def _is_flat(out: Array) -> bool:
    return not is_symbolic(out.dtype) and out.flags.c_contiguous and out.size > 0


def reshaped_view(out: Array, *shape: int) -> Array:
    """An array in another shape, to be written to: on its memory, where `reshape` may copy.

    ValueError for an array whose elements do not lie in a row.
    """
    if not out.flags.c_contiguous:
        raise ValueError("only an array in row-major order can be written to in another shape")
    return out.reshape(shape)
