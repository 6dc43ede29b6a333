"""Convolutions whose windows are laid out for a part of the batch at a time."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from tests.thresholds import set_thresholds

CASES = {
    "plain": ("conv2d", (5, 4, 6, 7), (6, 4, 3, 2), {"padding": 1}),
    "strided, dilated, in groups": (
        "conv2d",
        (7, 4, 9, 8),
        (6, 2, 2, 3),
        {"stride": (2, 1), "dilation": (1, 2), "groups": 2},
    ),
    "transposed": ("conv_transpose2d", (5, 4, 4, 5), (4, 3, 3, 2), {"stride": 2, "padding": 1}),
    "transposed in groups": ("conv_transpose1d", (6, 4, 7), (4, 3, 3), {"groups": 2}),
    "one dimension": ("conv1d", (9, 3, 12), (5, 3, 5), {"padding": "same"}),
}


@pytest.mark.oracle
@pytest.mark.parametrize("most", [1, 150, 2000])
@pytest.mark.parametrize("case", CASES)
def test_parts_together_are_the_whole(
    case: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    set_thresholds(monkeypatch, CONV_COLUMNS_MAX=most)
    function, *shapes, options = CASES[case]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    found = []
    for lib in (gs, torch):
        x, w = (lib.tensor(array, requires_grad=True) for array in arrays)
        y = getattr(lib.nn.functional, function)(x, w, **options)
        grads = lib.autograd.grad((y * y).sum(), (x, w), create_graph=True)
        seconds = lib.autograd.grad(sum((g * g).sum() for g in grads), (x, w))
        found.append([t.detach().numpy() for t in (y, *grads, *seconds)])
    for mine, theirs in zip(*found, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


def test_an_empty_batch_has_no_parts() -> None:
    x = gs.zeros(0, 3, 5, 5, requires_grad=True)
    w = gs.ones(2, 3, 3, 3, requires_grad=True)
    y = gs.nn.functional.conv2d(x, w)
    y.sum().backward()
    assert y.shape == (0, 2, 3, 3)
    assert x.grad.shape == (0, 3, 5, 5)
    assert w.grad.tolist() == np.zeros((2, 3, 3, 3)).tolist()
