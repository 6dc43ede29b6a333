"""Indices of several dimensions take what NumPy takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradspec_codegen.ir.guard import FormulaError
from gradspec_codegen.ir.nodes import Call, Const, Expr, Name, Subscript, Unary
from gradspec_codegen.ir.parse import parse

ARRAY = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


def value(expr: Expr | None) -> Any:
    """Evaluate what stands for an index, as PyTorch's functions of the same names do."""
    match expr:
        case Name("x"):
            return ARRAY
        case Const(number):
            return number
        case Unary("-", operand):
            return -value(operand)
        case Call("unsqueeze", (array, dim)):
            return np.expand_dims(value(array), value(dim))
        case Call("select", (array, dim, place)):
            return np.take(value(array), value(place), value(dim))
        case Call("flip", (array, dim)):
            return np.flip(value(array), value(dim))
        case Call("slice", (array, dim, start, *others)):
            stop, step = (*map(value, others), *[None] * (2 - len(others)))
            along = np.moveaxis(value(array), value(dim), 0)
            return np.moveaxis(along[value(start) : stop : step], 0, value(dim))
    raise AssertionError(f"not expected: {expr}")


def part(index: str) -> Any:
    return value(parse(f"x[{index}]").expression)


SLICES = st.sampled_from([":", "1:", ":-1", "::2", "-2:", "1:3", "::-1", ":2:1", "0", "-1", "1"])
PARTS = st.lists(st.one_of(SLICES, st.just("None")), max_size=4)


@given(PARTS, PARTS, st.booleans())
def test_parts_are_what_numpy_takes(before: list[str], behind: list[str], ellipsis: bool) -> None:
    parts = [*before, *(["..."] if ellipsis else []), *behind]
    named = sum(part not in ("None", "...") for part in parts)
    if named > ARRAY.ndim or len(parts) < 2:
        return
    index = ", ".join(parts)
    np.testing.assert_array_equal(part(index), eval(f"ARRAY[{index}]"), index)


def test_none_alone_is_a_new_dimension() -> None:
    assert part("None").shape == (1, 2, 3, 4, 5)


def test_an_index_of_one_dimension_stays_one_of_lists_or_tensors() -> None:
    assert isinstance(parse("x[1:]").expression, Subscript)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("..., 0, ...", "two ellipses"),
        (":, 3::-1", "whole dimension"),
        (":, ::-2", "whole dimension"),
        (":, 1.5", "not an integer"),
    ],
)
def test_what_is_no_index_is_refused(index: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        parse(f"x[{index}]")
