"""`make_tensor` draws elements within the bounds of its dtype, laid out as it was asked to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.testing import make_tensor

USUAL = [
    (gs.bool, 0, 1),
    (gs.uint8, 0, 9),
    (gs.int8, -9, 9),
    (gs.int64, -9, 9),
    (gs.float16, -9.0, 9.0),
    (gs.float64, -9.0, 9.0),
]


@pytest.mark.parametrize(("dtype", "least", "largest"), USUAL, ids=str)
def test_usual_bounds(dtype: Any, least: float, largest: float) -> None:
    gs.manual_seed(0)
    made = make_tensor(50, 100, dtype=dtype, device="cpu")
    assert made.shape == (50, 100)
    assert made.dtype == dtype
    if dtype.kind == "f":
        assert least <= made.min().item() < least + 0.1
        assert largest - 0.1 < made.max().item() < largest
    else:
        assert set(made.flatten().tolist()) == set(range(least, largest + 1))


def test_both_parts_of_complex_ones() -> None:
    gs.manual_seed(0)
    made = make_tensor((1000,), dtype=gs.complex64, low=2, high=3)
    for part in (made.real, made.imag):
        assert 2 <= part.min() < 2.1
        assert 2.9 < part.max() < 3


def test_integers_between_bounds_that_are_none() -> None:
    gs.manual_seed(0)
    made = make_tensor(100, dtype=gs.int32, low=-0.5, high=2.5)
    assert set(made.tolist()) == {0, 1, 2}


def test_bounds_beyond_the_dtype() -> None:
    gs.manual_seed(0)
    assert set(make_tensor(50, dtype=gs.uint8, low=-7, high=2).tolist()) == {0, 1}
    wide = make_tensor(100, dtype=gs.float32, low=-float("inf"), high=float("inf"))
    assert wide.isfinite().all()
    assert wide.min() < -1e38
    assert wide.max() > 1e38
    assert make_tensor(3, dtype=gs.int64, low=2**63 - 1, high=2**70).tolist() == [2**63 - 1] * 3


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("order", {"dtype": gs.float32, "low": 1, "high": 0}, "`low` must be less than `high`"),
    ("one integer", {"dtype": gs.int32, "low": 1, "high": 1}, "`low` must be less than `high`"),
    ("nan", {"dtype": gs.float32, "low": float("nan")}, "cannot be NaN"),
    ("too large", {"dtype": gs.int8, "low": 200, "high": 300}, r"only supports \[-128, 128\)"),
    ("gradients", {"dtype": gs.int32, "requires_grad": True}, "boolean and integral dtypes"),
    (
        "two layouts",
        {"dtype": gs.float32, "noncontiguous": True, "memory_format": gs.contiguous_format},
        "mutually exclusive",
    ),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_refused(row: tuple[str, dict[str, Any], str]) -> None:
    _, options, text = row
    with pytest.raises(ValueError, match=text):
        make_tensor(2, **options)


def test_one_float_alone() -> None:
    with pytest.warns(FutureWarning, match="`low==high`"):
        made = make_tensor(2, dtype=gs.float32, low=5, high=5)
    assert made.tolist() == [5.0, 5.0]


def test_layouts() -> None:
    gs.manual_seed(0)
    apart = make_tensor(2, 3, dtype=gs.float32, noncontiguous=True)
    assert (apart.stride(), apart.storage_offset()) == ((6, 2), 1)
    assert make_tensor(1, dtype=gs.float32, noncontiguous=True).is_contiguous()
    images = make_tensor(2, 3, 4, 5, dtype=gs.float32, memory_format=gs.channels_last)
    assert images.stride() == (60, 1, 15, 3)


def test_zeros_left_out() -> None:
    gs.manual_seed(0)
    assert make_tensor(20, dtype=gs.bool, exclude_zero=True).all()
    integers = make_tensor(50, dtype=gs.uint8, high=2, exclude_zero=True)
    assert integers.tolist() == [1] * 50
    floats = make_tensor(3, dtype=gs.float32, low=0, high=1e-60, exclude_zero=True)
    assert floats.tolist() == [np.finfo(np.float32).tiny] * 3


def test_a_leaf_that_requires_grad() -> None:
    made = make_tensor(2, dtype=gs.float64, requires_grad=True, noncontiguous=True)
    assert made.is_leaf
    assert made.requires_grad
