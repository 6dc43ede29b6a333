"""Counts in bins: PyTorch's counts and edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

POINTS = np.random.default_rng(0).normal(size=(3, 10, 2))
WEIGHTS = np.random.default_rng(1).uniform(size=(3, 10))

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "bins of all coordinates": lambda t, x, w: t.histogramdd(x, 3),
    "bins of each coordinate": lambda t, x, w: t.histogramdd(x, [2, 4]),
    "edges": lambda t, x, w: t.histogramdd(
        x, [t.tensor([-1.0, 0.0, 2.0]).double(), t.tensor([-2.0, 2.0]).double()]
    ),
    "a range": lambda t, x, w: t.histogramdd(x, 2, range=(-1.0, 1.0, -0.5, 2.0)),
    "an empty range": lambda t, x, w: t.histogramdd(x, 2, range=(0.0, 0.0, 0.0, 0.0)),
    "weights": lambda t, x, w: t.histogramdd(x, 2, weight=w),
    "densities": lambda t, x, w: t.histogramdd(x, 2, weight=w, density=True),
    "no point": lambda t, x, w: t.histogramdd(x[:0], 2),
    "no coordinate": lambda t, x, w: t.histogramdd(x[..., :0], []),
    "no coordinate's density": lambda t, x, w: t.histogramdd(x[..., :0], 3, density=True),
    "a hundred bins": lambda t, x, w: t.histogram(x),
    "single numbers": lambda t, x, w: t.histogram(x, 4),
    "single numbers in a range": lambda t, x, w: t.histogram(
        x[..., 0], 4, range=(-1.0, 1.0), weight=w, density=True
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_same(torch: Any, name: str) -> None:
    ours = CALLS[name](gs, gs.tensor(POINTS), gs.tensor(WEIGHTS))
    theirs = CALLS[name](torch, torch.tensor(POINTS), torch.tensor(WEIGHTS))
    assert ours.hist.dtype.name == str(theirs.hist.dtype).removeprefix("torch.")
    np.testing.assert_allclose(ours.hist.numpy(), theirs.hist.numpy(), rtol=1e-9)
    if name.startswith("single"):
        np.testing.assert_allclose(ours.bin_edges.numpy(), theirs.bin_edges.numpy(), rtol=1e-9)
        return
    assert len(ours.bin_edges) == len(theirs.bin_edges)
    for one, other in zip(ours.bin_edges, theirs.bin_edges, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("library", ["gs", "torch"])
def test_written_to_out(torch: Any, library: str) -> None:
    lib: Any = gs if library == "gs" else torch
    out = (lib.empty(2), lib.empty(3))
    lib.histogram(lib.tensor([0.0, 1.0, 4.0]), 2, out=out)
    assert out[0].tolist() == [2, 1]
    assert out[1].tolist() == [0, 2, 4]
