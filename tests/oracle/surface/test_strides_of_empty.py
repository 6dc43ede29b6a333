"""Strides of tensors without elements, as PyTorch has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

EMPTY: dict[str, Callable[[Any], Any]] = {
    "zeros(0)": lambda library: library.zeros(0),
    "zeros(0, 2)": lambda library: library.zeros(0, 2),
    "zeros(2, 0, 3)": lambda library: library.zeros(2, 0, 3),
    "arange(0)": lambda library: library.arange(0),
    "a sum": lambda library: library.ones(0, 2) + 1,
    "another dtype": lambda library: library.ones(0, 2).to(library.float64),
    "elements that a mask chooses": lambda library: library.ones(3)[library.ones(3) > 2],
    "a part": lambda library: library.ones(3, 4)[1:1],
}


@pytest.mark.parametrize("made", EMPTY.values(), ids=EMPTY)
def test_strides_of_nothing(torch: Any, made: Callable[[Any], Any]) -> None:
    assert made(gs).stride() == made(torch).stride()
