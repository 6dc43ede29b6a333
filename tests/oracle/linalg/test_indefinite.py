"""`linalg.ldl_factor`, `ldl_factor_ex` and `ldl_solve`, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

DTYPES = ("float32", "float64", "complex64", "complex128")


def _symmetric(dtype: str, shape: tuple[int, ...], hermitian: bool) -> Any:
    """Matrices of which half the diagonal is zero, so that some blocks have two rows."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    values = (values if dtype.startswith("complex") else values.real).astype(dtype)
    size = shape[-1]
    values[..., range(size), range(size)] *= np.arange(size) % 2 if size > 1 else 1
    turned = values.swapaxes(-1, -2)
    return values + (turned.conj() if hermitian else turned)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (5, 5), (2, 1, 4, 4), (0, 3, 3), (12, 12)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_and_solutions_are_those_of_pytorch(
    dtype: str, shape: tuple[int, ...], hermitian: bool
) -> None:
    matrices = _symmetric(dtype, shape, hermitian)
    sides = np.random.default_rng(1).normal(size=(shape[-1], 2)).astype(dtype)
    mine = gs.linalg.ldl_factor_ex(gs.tensor(matrices), hermitian=hermitian)
    theirs = torch.linalg.ldl_factor_ex(torch.tensor(matrices), hermitian=hermitian)
    solved = gs.linalg.ldl_solve(mine.LD, mine.pivots, gs.tensor(sides), hermitian=hermitian)
    expected = torch.linalg.ldl_solve(
        theirs.LD, theirs.pivots, torch.tensor(sides), hermitian=hermitian
    )
    bound = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    for found, wanted in zip((*mine, solved), (*theirs, expected), strict=True):
        assert found.dtype == wanted.numpy().dtype
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=bound, atol=bound)
        if found.numel() > 1:
            assert found.stride() == wanted.stride()


def _grid(t: Any) -> Any:
    return t.tensor([[4.0, 1.0], [1.0, 3.0]])


CALLS: dict[str, Callable[[Any], Any]] = {
    "singular": lambda t: t.linalg.ldl_factor(t.zeros(2, 2)),
    "singular, told": lambda t: t.linalg.ldl_factor_ex(t.zeros(2, 2)),
    "singular, solved": lambda t: t.linalg.ldl_solve(
        *t.linalg.ldl_factor_ex(t.zeros(1, 1))[:2], t.ones(1, 1)
    ),
    "singular, checked": lambda t: t.linalg.ldl_factor_ex(t.zeros(2, 2), check_errors=True),
    "integers": lambda t: t.linalg.ldl_factor(t.tensor([[1, 2], [2, 1]])),
    "halves": lambda t: t.linalg.ldl_factor(_grid(t).half()),
    "a vector": lambda t: t.linalg.ldl_factor(t.zeros(3)),
    "not square": lambda t: t.linalg.ldl_factor(t.zeros(3, 2)),
    "a vector on the right": lambda t: t.linalg.ldl_solve(
        *t.linalg.ldl_factor(_grid(t)), t.ones(2)
    ),
    "too few rows": lambda t: t.linalg.ldl_solve(*t.linalg.ldl_factor(_grid(t)), t.ones(3, 1)),
    "another dtype": lambda t: t.linalg.ldl_solve(
        *t.linalg.ldl_factor(_grid(t)), t.ones(2, 1, dtype=t.float64)
    ),
    "pivots of floats": lambda t: t.linalg.ldl_solve(_grid(t), t.ones(2), t.ones(2, 1)),
    "pivots of int64": lambda t: t.linalg.ldl_solve(_grid(t), t.tensor([1, 2]), t.ones(2, 1)),
    "too few pivots": lambda t: t.linalg.ldl_solve(
        _grid(t), t.tensor([1], dtype=t.int32), t.ones(2, 1)
    ),
    "out": lambda t: t.linalg.ldl_solve(
        *t.linalg.ldl_factor(_grid(t)), t.ones(2, 1), out=t.empty(2, 1)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_does_what_pytorch_does(name: str) -> None:
    assert_same(CALLS[name], torch)
