"""`assert_close` passes what is close, and says how the rest differs; the texts are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.testing import assert_close

CLOSE: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("nothing", None, None, {}),
    ("a bool of NumPy", True, np.bool_(True), {}),
    ("a number of NumPy", 2, np.int64(2), {}),
    ("integers that no dtype holds", 10**30, 10**30, {}),
    ("infinities", float("inf"), float("inf"), {}),
    ("nan", float("nan"), float("nan"), {"equal_nan": True}),
    ("an integer and a float", gs.tensor([1]), gs.tensor([1.0]), {"check_dtype": False}),
    ("wide unsigned integers", np.uint16([3]), np.int32([3]), {"check_dtype": False}),
    ("bytes", gs.tensor([1], dtype=gs.uint8), gs.tensor([2], dtype=gs.uint8), {"atol": 1}),
    ("reversed arrays", np.arange(3.0)[::-1], np.array([2.0, 1.0, 0.0]), {}),
    ("a tensor that requires grad", gs.ones(2, requires_grad=True), gs.ones(2), {}),
]


@pytest.mark.parametrize("row", CLOSE, ids=lambda row: row[0])
def test_close(row: tuple[str, Any, Any, dict[str, Any]]) -> None:
    _, actual, expected, options = row
    if "atol" in options:
        options = {"rtol": 0, **options}
    assert_close(actual, expected, **options)


def int8(*values: int) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.int8)


APART: list[tuple[str, Any, Any, str]] = [
    ("nothing and a bool", None, False, "None mismatch: None is not False"),
    ("a number and nothing", 1.5, None, "None mismatch: 1.5 is not None"),
    ("bools", np.bool_(True), False, "Booleans mismatch: True is not False"),
    (
        "large integers",
        10**30,
        10**30 + 5,
        f"Scalars are not equal!\n\nExpected {10**30 + 5} but got {10**30}.\n"
        "Absolute difference: 5\nRelative difference: 5e-30",
    ),
    (
        "integers whose difference their dtype does not hold",
        int8(-128, 0),
        int8(0, 0),
        "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n"
        "Greatest absolute difference: 128 at index (0,)\n"
        "Greatest relative difference: inf at index (0,)",
    ),
    (
        "a scalar of zero",
        gs.tensor(1.0),
        gs.tensor(0.0),
        "Scalars are not close!\n\nExpected 0.0 but got 1.0.\n"
        "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
        "Relative difference: inf (up to 1.3e-06 allowed)",
    ),
    (
        "lengths inside",
        [{"a": [1, 2]}],
        [{"a": [1]}],
        "The length of the sequences mismatch: 2 != 1\n\nThe failure occurred for item [0]['a']",
    ),
    ("a length after a number", [1, [2]], [9, []], "The length of the sequences mismatch: 1 != 0"),
    ("the order of keys", {10: 1, 9: 2}, {10: 5, 9: 6}, "Expected 6 but got 2."),
]


@pytest.mark.parametrize("row", APART, ids=lambda row: row[0])
def test_apart(row: tuple[str, Any, Any, str]) -> None:
    _, actual, expected, text = row
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert text in str(caught.value)


def test_what_cannot_be_compared_is_refused_before_anything_is() -> None:
    with pytest.raises(TypeError, match="<class 'str'>"):
        assert_close([1, "x"], [2, "x"])


def test_strides_of_arrays() -> None:
    array = np.arange(6.0).reshape(2, 3)
    with pytest.raises(AssertionError, match=r"'stride\(\)' do not match: \(1, 2\) != \(3, 1\)"):
        assert_close(np.asfortranarray(array), array, check_stride=True)


def test_a_message_of_ones_own_is_for_elements_alone() -> None:
    with pytest.raises(AssertionError, match=r"\Amine\Z"):
        assert_close([1], [2], msg="mine")
    with pytest.raises(AssertionError, match="The length of the sequences"):
        assert_close([1], [], msg="mine")
