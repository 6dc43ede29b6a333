"""Values written by a mask or an index, and refused ones, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

VALUES = [float("nan"), float("inf"), 300, -1, -300, 2.7, 1e10, 1e40, 1j, 1 + 0j, True]


def _fill(library: Any, value: Any, dtype: str, way: str) -> Any:
    written = library.tensor([1, 0, 2]).to(getattr(library, dtype))
    mask = written != 0
    number = library.tensor(value, dtype=library.float64) if type(value) is float else None
    number = library.tensor(value) if number is None else number
    if way == "mask":
        written[mask] = number
    elif way == "recorded":
        written = written.requires_grad_() * 1
        written[mask] = number
    elif way == "masked_fill":
        return written.masked_fill(mask, number)
    else:
        written.masked_fill_(mask, number)
    return written


@pytest.mark.parametrize("way", ["mask", "masked_fill", "masked_fill_"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "bool", "float16", "float32"])
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_tensor_for_a_mask_has_to_fit_as_a_number_has(
    torch: Any, value: Any, dtype: str, way: str
) -> None:
    assert_same(lambda library: _fill(library, value, dtype, way), torch)


@pytest.mark.parametrize("value", [1j, 1e40, 2.5], ids=str)
def test_so_has_one_whose_writing_is_recorded(torch: Any, value: Any) -> None:
    assert_same(lambda library: _fill(library, value, "float32", "recorded"), torch)


LYING: dict[str, Any] = {
    "another row": lambda x: x.__setitem__((0, [0, 1]), x[1, :2]),
    "this row": lambda x: x.__setitem__((0, [0, 1]), x[0, :2]),
    "a column of it": lambda x: x.__setitem__(([0, 1], 0), x[:, 1]),
    "a row, for a column": lambda x: x.__setitem__(([0, 1], 0), x[1, :2]),
    "the same rows": lambda x: x.__setitem__(([0, 1],), x[:2]),
    "all of it": lambda x: x.__setitem__(([2, 1, 0],), x),
    "every other": lambda x: x.__setitem__((slice(None), [0, 1]), x[:, ::2]),
}


@pytest.mark.parametrize("write", LYING.values(), ids=LYING)
def test_what_lies_on_the_part_that_is_written_is_refused(torch: Any, write: Any) -> None:
    def run(library: Any) -> Any:
        x = library.arange(12.0).reshape(3, 4)
        write(x)
        return x

    assert_same(run, torch)


NESTED: list[Any] = [
    ["a"],
    [["a"]],
    ["a", 1],
    [1, "a"],
    [b"a"],
    [1, None],
    [1, [2]],
    [[1], 2],
    [[1], [[2]]],
    [1.0, [2.0]],
    [[1, 2], [3]],
    [object()],
    [{}],
]


@pytest.mark.parametrize("data", NESTED, ids=lambda data: str(data)[:20])
def test_what_makes_no_tensor_raises_the_same_type(torch: Any, data: Any) -> None:
    assert_same(lambda library: library.tensor(data), torch)


@pytest.mark.parametrize("inner", [[1, 2], [1.0, 2.0], [True, False], [1j, 2j]], ids=str)
def test_so_do_tensors_of_several_elements(torch: Any, inner: Any) -> None:
    assert_same(lambda library: library.tensor([library.tensor(inner)]), torch)


@pytest.mark.parametrize("size", [(True,), ((True,),), (2, 3), (False,), (np.int64(2),)], ids=str)
def test_sizes_that_are_bools(torch: Any, size: Any) -> None:
    assert_same(lambda library: library.zeros(*size), torch)


def test_a_mask_names_its_value(torch: Any) -> None:
    for library in (gs, torch):
        x = library.tensor([1, 2])
        with pytest.raises(RuntimeError, match="cannot be converted to type int64_t without"):
            x[x > 1] = library.tensor(float("nan"))
        assert x.tolist() == [1, 2]


@pytest.mark.parametrize("index", [[False, True, True], [0, 1]], ids=["mask", "positions"])
def test_a_wrong_shape_is_told_before_a_wrong_dtype(torch: Any, index: list[Any]) -> None:
    for each in (gs, torch):
        x, where = each.tensor([1, 2, 3]), each.tensor(index)
        with pytest.raises(RuntimeError, match=r"shape mismatch: value tensor of shape \[3\]"):
            x[where] = each.tensor([1.0, 2.0, 3.0])
        with pytest.raises(RuntimeError, match="Index put requires the source and destination"):
            x[where] = each.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda library: library.zeros(0, 4, 2**61),
        lambda library: library.empty(0, 4, 2**61),
        lambda library: library.rand(0, 4, 2**61),
        lambda library: library.ones(1).resize_((0, 4, 2**61)),
    ],
)
def test_sizes_that_no_stride_can_count(torch: Any, make: Any) -> None:
    for library in (gs, torch):
        with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
            make(library)
