"""`segment_reduce` beside PyTorch's."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

DATA = np.random.default_rng(5).normal(size=(5, 2))
DATA[1] = DATA[2]
KINDS = ("sum", "mean", "max", "min", "prod")
SEGMENTS: dict[str, dict[str, Any]] = {
    "lengths": {"lengths": [3, 0, 2]},
    "offsets": {"offsets": [0, 3, 3, 5]},
    "initial": {"lengths": [3, 0, 2], "initial": 0.3},
    "unsafe": {"lengths": [3, 0], "unsafe": True},
    "along the second": {"lengths": [[2, 0], [1, 1], [0, 2], [2, 0], [1, 1]], "axis": 1},
}


@pytest.mark.parametrize(("kind", "text"), [*product(KINDS, SEGMENTS)])
def test_values_and_gradients(kind: str, text: str) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        given = {
            name: lib.tensor(value) if isinstance(value, list) else value
            for name, value in SEGMENTS[text].items()
        }
        data = lib.tensor(DATA).requires_grad_()
        y = lib.segment_reduce(data, kind, **given)
        weights = lib.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)))
        (grad,) = lib.autograd.grad((lib.nan_to_num(y, 0, 0, 0) * weights).sum(), data)
        results.append([y.detach().numpy(), grad.numpy()])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("initial", [None, 2.0])
def test_segments_of_no_elements(kind: str, initial: float | None) -> None:
    import torch

    results = []
    for lib in (gs, torch):
        data = lib.zeros(0, 2)
        y = lib.segment_reduce(data, kind, lengths=lib.tensor([0, 0]), initial=initial)
        results.append(y.tolist())
    np.testing.assert_array_equal(*results)


REFUSED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a sum that does not fit": {"lengths": [3, 1]},
    "a negative length": {"lengths": [6, -1]},
    "indices": {"indices": [0, 1]},
    "another dimension": {"lengths": [1, 1], "axis": 1},
    "lengths of floats": {"lengths": [3.0, 2.0]},
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    import torch

    for lib in (gs, torch):
        given = {
            name: lib.tensor(value) if isinstance(value, list) else value
            for name, value in REFUSED[text].items()
        }
        with pytest.raises(RuntimeError):
            lib.segment_reduce(lib.tensor(DATA), "sum", **given)
