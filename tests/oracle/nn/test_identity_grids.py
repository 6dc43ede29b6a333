"""The grid of an identity is PyTorch's bit for bit: a rounding moves samples across kinks."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid:UserWarning"),
]


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spatial", [2, 3])
def test_bit_for_bit(torch: Any, spatial: int, dtype: str, align_corners: bool) -> None:
    theta = np.stack([np.eye(spatial, spatial + 1, dtype=dtype)] * 2)
    for sizes in product(range(1, 10), repeat=spatial):
        mine, theirs = (
            library.nn.functional.affine_grid(
                library.tensor(theta), (2, 3, *sizes), align_corners=align_corners
            ).numpy()
            for library in (gs, torch)
        )
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes(), sizes
