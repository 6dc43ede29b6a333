"""NumPy's numbers beside tensors are Python's numbers, which leave the dtype as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ..behaviours import assert_same

pytestmark = pytest.mark.oracle

NUMBERS = (np.float64(2.0), np.float32(2.0), np.int64(2), np.log(3.0))
TENSORS: dict[str, Any] = {
    "0-dim float32": lambda library: library.tensor(3.0),
    "1-dim float32": lambda library: library.ones(3),
    "0-dim int64": lambda library: library.tensor(3),
    "1-dim int64": lambda library: library.arange(3),
    "0-dim float64": lambda library: library.tensor(3.0, dtype=library.float64),
    "1-dim float16": lambda library: library.ones(3, dtype=library.float16),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__}-{n:.1f}")
def test_dtypes(torch: Any, name: str, number: Any) -> None:
    def behaviour(library: Any) -> Any:
        x = TENSORS[name](library)
        return [x * number, x + number, x - number, x / number, x**number, library.mul(x, number)]

    assert_same(behaviour, torch)


def test_parameters_of_no_dimensions_stay_as_they_are(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        scale = library.nn.Parameter(library.ones([]) * np.log(1 / 0.07))
        (scale.exp() * np.float64(2.0)).backward()
        return [scale.detach(), scale.grad]

    assert_same(behaviour, torch)


ONE_DIMENSION: dict[str, Any] = {
    "movedim": lambda lib, dim: lib.arange(6.0).view(2, 3).movedim(dim, 0),
    "fftn": lambda lib, dim: lib.fft.fftn(lib.arange(6.0).view(2, 3), dim=dim),
    "gradient": lambda lib, dim: lib.gradient(lib.arange(6.0).view(2, 3) ** 2, dim=dim),
}


@pytest.mark.parametrize("kind", [np.int64, np.int32, "tensor"], ids=str)
@pytest.mark.parametrize("name", ["movedim", "fftn", "gradient"])
def test_a_dimension_of_several_that_is_no_integer_of_pythons(
    torch: Any, name: str, kind: Any
) -> None:
    def run(library: Any) -> Any:
        return ONE_DIMENSION[name](library, library.tensor(1) if kind == "tensor" else kind(1))

    assert_same(run, torch)
