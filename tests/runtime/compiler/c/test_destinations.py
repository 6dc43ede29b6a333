"""Products of matrices that are made where a copy of them would lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradspec.compiler.c.source import written
from gradspec.compiler.program import rooted

from .recorded import expected, recorded, run

rng = np.random.default_rng(0)
BATCH, HEADS, LENGTH, WIDTH = 2, 3, 20, 24
A = rng.standard_normal((BATCH, HEADS, LENGTH, LENGTH))
B = rng.standard_normal((BATCH, HEADS, LENGTH, WIDTH))


def merged(x: Any) -> Any:
    return x.transpose(0, 2, 1, 3).reshape(BATCH, x.shape[2], HEADS * x.shape[3])


def side_by_side(a: Any, b: Any) -> Any:
    turned = a.swapaxes(-1, -2) @ b
    keys = (b.swapaxes(-1, -2) @ a).swapaxes(-1, -2)
    return np.concatenate([merged(a @ b), merged(turned), merged(keys)], axis=-1)


def sum_of_both(a: Any, b: Any) -> Any:
    product = a @ b
    return merged(product), product * 2


WITHOUT_A_COPY: dict[str, Callable[[Any, Any], Any]] = {
    "heads": lambda a, b: merged(a @ b),
    "heads that are read": lambda a, b: merged(a @ b) + 1,
    "side by side": side_by_side,
    "transposed": lambda a, b: (a @ b).swapaxes(-1, -2).reshape(BATCH, -1, LENGTH),
    "stacked": lambda a, b: np.stack([a @ b, a.swapaxes(-1, -2) @ b]),
    "one matrix": lambda a, b: (a[0, 0] @ b[0, 0]).T.reshape(-1),
}
WITH_A_COPY: dict[str, Callable[[Any, Any], Any]] = {
    "read twice": sum_of_both,
    "an output as well": lambda a, b: (lambda product: (product, merged(product)))(a @ b),
    "cast": lambda a, b: merged(a @ b).astype(np.float32),
    "a part": lambda a, b: merged((a @ b)[:, :, :, ::2]),
    "every second column": lambda a, b: np.stack([a @ b, b], axis=-1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*WITHOUT_A_COPY, *WITH_A_COPY])
def test_values(name: str, dtype: Any) -> None:
    function = {**WITHOUT_A_COPY, **WITH_A_COPY}[name]
    arrays = A.astype(dtype), B.astype(dtype)
    limit = 1e-4 if dtype == np.float32 else 1e-11
    found, wanted = run(function, *arrays), expected(function, *arrays)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=limit, atol=limit)


@pytest.mark.parametrize("name", WITHOUT_A_COPY)
def test_nothing_is_copied(name: str) -> None:
    text = written(rooted(recorded(WITHOUT_A_COPY[name], A, B))).text
    assert not any(name in text for name in ("reshape", "concatenate", "stack", "copy"))


def test_arguments_are_written_to_after_they_are_read() -> None:
    """A product that becomes an argument's new value is not made in it before its time."""

    def function(a: Any, b: Any) -> Any:
        product = a @ b
        later = b + 1
        b[...] = product
        return later

    a, b = A.copy(), B.copy()
    (later,) = run(function, a, b)
    np.testing.assert_array_equal(later, B + 1)
    np.testing.assert_allclose(b, A @ B, rtol=1e-11)
