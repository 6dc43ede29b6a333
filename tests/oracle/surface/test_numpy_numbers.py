"""NumPy's numbers beside tensors are Python's numbers, which leave the dtype as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

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


def _gradient_of_sums(library: Any, dim: Any) -> Any:
    x = library.arange(6.0).view(2, 3).requires_grad_()
    (x.logsumexp(dim) + x.sum(dim) * x.amax(dim)).sum().backward()
    return x.grad


ONE_DIMENSION: dict[str, Any] = {
    "movedim": lambda lib, dim: lib.arange(6.0).view(2, 3).movedim(dim, 0),
    "fftn": lambda lib, dim: lib.fft.fftn(lib.arange(6.0).view(2, 3), dim=dim),
    "gradient": lambda lib, dim: lib.gradient(lib.arange(6.0).view(2, 3) ** 2, dim=dim),
    "roll": lambda lib, dim: lib.roll(lib.arange(6.0).view(2, 3), dim, dim),
    "norm": lambda lib, dim: lib.norm(lib.arange(6.0).view(2, 3), 2, dim),
    "gradient of sums": lambda lib, dim: _gradient_of_sums(lib, dim),
    "sum of examples": lambda lib, dim: lib.func.vmap(lambda x: x.sum((dim,)))(lib.ones(2, 2, 3)),
    **{
        name: lambda lib, dim, name=name: getattr(lib, name)(lib.arange(6.0).view(2, 3), dim)
        for name in (
            *("sum", "mean", "amax", "amin", "any", "all", "logsumexp", "nansum", "nanmean", "std"),
            *("var_mean", "prod", "cumsum", "argmax", "max", "median", "unbind", "count_nonzero"),
            *("squeeze", "unsqueeze", "softmax", "sort"),
        )
    },
}


@pytest.mark.parametrize("kind", [np.int64, np.int32, "tensor"], ids=str)
@pytest.mark.parametrize("name", ONE_DIMENSION)
def test_a_dimension_of_several_that_is_no_integer_of_pythons(
    torch: Any, name: str, kind: Any
) -> None:
    def run(library: Any) -> Any:
        return ONE_DIMENSION[name](library, library.tensor(1) if kind == "tensor" else kind(1))

    assert_same(run, torch)


@pytest.mark.parametrize("dim", [True, 1.0, np.float64(1.0)], ids=repr)
@pytest.mark.parametrize(
    "name",
    ["sum", "mean", "amax", "any", "logsumexp", "cumsum", "argmax", "unbind", "unsqueeze", "sort"],
)
def test_dimensions_that_are_no_integers(torch: Any, name: str, dim: Any) -> None:
    for library in (gs, torch):
        with pytest.raises(TypeError):
            getattr(library, name)(library.ones(2, 3), dim)
