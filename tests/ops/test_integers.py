"""Integers and bools given to functions of floats: the result has the default dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional

CALLS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "gelu": (nn_functional.gelu, [0.8413447460685429, 0.0]),
    "silu": (nn_functional.silu, [0.7310585786300049, 0.0]),
    "logsigmoid": (nn_functional.logsigmoid, [-0.31326168751822286, -0.6931471805599453]),
    "softplus": (nn_functional.softplus, [1.3132616875182228, 0.6931471805599453]),
    "hypot": (lambda x: gs.hypot(x, x), [1.4142135623730951, 0.0]),
}


@pytest.mark.parametrize("default", [gs.float32, gs.float64], ids=str)
@pytest.mark.parametrize("dtype", [gs.int64, gs.uint8, gs.bool], ids=str)
@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_integers_become_floats(
    call: Callable[[Any], Any], expected: list[float], dtype: Any, default: Any
) -> None:
    gs.set_default_dtype(default)
    try:
        found = call(gs.tensor([1, 0], dtype=dtype))
    finally:
        gs.set_default_dtype(gs.float32)
    assert found.dtype == default
    np.testing.assert_allclose(found.array, expected, rtol=1e-6)
