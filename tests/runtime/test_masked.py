"""Elements that are masked out do not matter, whatever they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradspec as gs

NAMES = ("sum", "prod", "amax", "amin", "mean", "norm", "var", "std", "logsumexp")
ALONG = ("cumsum", "cumprod", "median", "softmax", "softmin", "normalize")


def _call(name: str, x: Any, **options: Any) -> Any:
    order = (2.0,) if name in ("norm", "normalize") else ()
    return getattr(gs.masked, name)(x, *order, 0, **options)


@pytest.mark.parametrize("outside", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", [*NAMES, *ALONG])
def test_gradients_are_those_of_the_others_alone(name: str, outside: float) -> None:
    mask = gs.tensor([True, False, True, True])
    x = gs.tensor([0.5, outside, -1.25, 2.0], dtype=gs.float64, requires_grad=True)
    alone = gs.tensor([0.5, -1.25, 2.0], dtype=gs.float64, requires_grad=True)
    masked, plain = _call(name, x, mask=mask), _call(name, alone)
    kept = masked if masked.shape != x.shape else masked[mask]
    np.testing.assert_allclose(kept.detach().numpy(), plain.detach().numpy(), rtol=1e-14)
    (kept * kept).sum().backward()
    (plain * plain).sum().backward()
    assert x.grad[1].item() == 0
    np.testing.assert_allclose(x.grad[mask].numpy(), alone.grad.numpy(), rtol=1e-13, atol=1e-15)


def test_a_mask_that_does_not_fit_is_refused() -> None:
    with pytest.raises(RuntimeError):
        gs.masked.sum(gs.ones(2, 3), mask=gs.tensor([True, False]))


def test_integers_have_no_mean() -> None:
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        gs.masked.mean(gs.tensor([1, 2]))


@pytest.mark.parametrize("name", NAMES)
def test_no_dimensions_are_all(name: str) -> None:
    x = gs.tensor([[0.5, -1.25], [2.0, 1.5]], dtype=gs.float64)
    options: dict[str, Any] = {"mask": gs.tensor([True, False]), "keepdim": True}
    order = (2.0,) if name == "norm" else ()
    reduce = getattr(gs.masked, name)
    found = reduce(x, *order, (), **options)
    assert found.shape == (1, 1)
    assert found.tolist() == reduce(x, *order, None, **options).tolist()


def test_extremes_of_bools() -> None:
    x = gs.tensor([[True, False], [True, True]])
    assert gs.masked.amin(x, 1).tolist() == [False, True]
    assert gs.masked.amax(x).tolist() is True
    with pytest.raises(NotImplementedError):
        gs.masked.amax(x, mask=x)
