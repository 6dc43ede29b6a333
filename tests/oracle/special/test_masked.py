"""The namespace `masked` beside PyTorch's: values, dtypes, gradients, and refusals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors"),
    pytest.mark.filterwarnings("ignore:torch"),
]

ALONG_ONE = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize", "median")
POSITIONS = ("argmax", "argmin")
OVER_SOME = ("sum", "prod", "amax", "amin", "mean", "norm", "var", "std", "logsumexp")
ORDERED = ("norm", "normalize")
"""Functions with an order before the dimension."""

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(3, 4))
MASK = RNG.random((3, 4)) < 0.6
MASK[1] = False
MASKS = {"none": None, "whole": MASK, "a column": MASK[:, :1], "a row": MASK[0]}

CALLS = [
    *product(ALONG_ONE, (0, 1)),
    *product(POSITIONS, (None, 0, 1)),
    *product(OVER_SOME, (None, 0, 1, (0, 1))),
]


def _call(lib: Any, name: str, x: Any, dim: Any, mask: Any, **options: Any) -> Any:
    order = (2.0,) if name in ORDERED else ()
    selected = None if mask is None else lib.tensor(mask)
    return getattr(lib.masked, name)(x, *order, dim, mask=selected, **options)


def _gradient(lib: Any, y: Any, x: Any) -> Any:
    """The gradient of the finite results, each weighed differently."""
    weights = lib.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)))
    return lib.autograd.grad((lib.nan_to_num(y, 0.0, 0.0, 0.0) * weights).sum(), x)[0].numpy()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("name", "dim"), CALLS)
def test_values_and_gradients(name: str, dim: Any, mask: str) -> None:
    import torch

    results, gradients = [], []
    for lib in (gs, torch):
        x = lib.tensor(DATA).requires_grad_()
        y = _call(lib, name, x, dim, MASKS[mask])
        results.append(y.detach().numpy())
        if name not in POSITIONS:
            gradients.append(_gradient(lib, y, x))
    mine, theirs = results
    assert mine.dtype == theirs.dtype
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    if gradients:
        mine, theirs = gradients
        # PyTorch has nan at elements that are masked out of a variance of one element or none.
        selected = np.ones(DATA.shape, bool) if MASKS[mask] is None else MASKS[mask]
        known = np.broadcast_to(selected, DATA.shape) if name in ("var", "std") else mine == mine
        np.testing.assert_allclose(mine[known], theirs[known], rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(mine[~np.broadcast_to(selected, DATA.shape)], 0)


@pytest.mark.parametrize("dtype", ["int32", "bool", "float32"])
@pytest.mark.parametrize("name", [*ALONG_ONE, *POSITIONS, *OVER_SOME])
def test_dtypes(name: str, dtype: str) -> None:
    import torch

    answers = []
    for lib in (gs, torch):
        x = lib.tensor(DATA * 3).to(getattr(lib, dtype))
        try:
            answers.append(_call(lib, name, x, 1, MASK).numpy())
        except Exception as error:
            answers.append(type(error))
    mine, theirs = answers
    if isinstance(theirs, type):
        assert mine is theirs
        return
    assert mine.dtype == theirs.dtype
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)


@pytest.mark.parametrize("name", ["sum", "amax", "mean", "var", "norm"])
def test_kept_dimensions_and_other_dtypes(name: str) -> None:
    import torch

    answers = []
    for lib in (gs, torch):
        x = lib.tensor(DATA.astype(np.float32))
        answers.append(_call(lib, name, x, 1, MASK, keepdim=True, dtype=lib.float64).numpy())
    assert answers[0].dtype == answers[1].dtype
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-12)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("name", ["var", "std"])
def test_corrections(name: str, unbiased: bool) -> None:
    import torch

    answers = [
        _call(lib, name, lib.tensor(DATA), 1, MASK, unbiased=unbiased).numpy()
        for lib in (gs, torch)
    ]
    np.testing.assert_allclose(*answers, rtol=1e-12)


def test_logaddexp() -> None:
    import torch

    results = []
    for lib in (gs, torch):
        x, y = lib.tensor(DATA).requires_grad_(), lib.tensor(DATA * 2).requires_grad_()
        out = lib.masked.logaddexp(
            x, y, input_mask=lib.tensor(MASK), other_mask=lib.tensor(MASK[:, ::-1].copy())
        )
        results.append([out.detach().numpy(), _gradient(lib, out, x)])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_the_same_names() -> None:
    import torch

    tensors = {"MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"}
    assert set(gs.masked.__all__) == set(torch.masked.__all__) - tensors
