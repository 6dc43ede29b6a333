"""`where` with a domain: no gradient is nan for a branch that is not taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

POINTS = np.array([-1.0, 0.0, 0.5, 4.0])


def chosen(function: Callable[[Any], Any], other: Any) -> Callable[[Any], Any]:
    return lambda x: gs.where(x > 0, function, other, domain=x)


CASES: dict[str, tuple[Callable[[Any], Any], list[list[float]]]] = {
    # values, slopes and second slopes at POINTS
    "log": (
        chosen(gs.log, 0.0),
        [[0, 0, np.log(0.5), np.log(4)], [0, 0, 2, 0.25], [0, 0, -4, -0.0625]],
    ),
    "sqrt": (
        chosen(gs.sqrt, gs.neg),
        [[1, 0, np.sqrt(0.5), 2], [-1, -1, np.sqrt(0.5), 0.25], [0, 0, -np.sqrt(0.5), -1 / 32]],
    ),
    "quotient": (
        chosen(lambda x: 1 / x, lambda x: 3 * x),
        [[-3, 0, 2, 0.25], [3, 3, -4, -0.0625], [0, 0, 16, 2 / 64]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes_are_those_of_the_branch_that_is_taken(name: str) -> None:
    function, (values, slopes, bends) = CASES[name]
    x = gs.tensor(POINTS, requires_grad=True)
    y = function(x)
    (first,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    for found, wanted in ((y, values), (first, slopes), (second, bends)):
        np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-14)
    _, tangent = gs.func.jvp(function, (x.detach(),), (gs.ones_like(x.detach()),))
    np.testing.assert_allclose(tangent.numpy(), slopes, rtol=1e-14)


def test_examples_of_a_batch_choose_for_themselves() -> None:
    function, (_, slopes, _) = CASES["log"]
    rows = gs.tensor(np.stack([POINTS, np.full(4, -1.0)]))
    found = gs.func.vmap(gs.func.grad(lambda x: function(x).sum()))(rows)
    np.testing.assert_allclose(found.numpy(), [slopes, [0, 0, 0, 0]], rtol=1e-14)


def test_a_domain_of_several_tensors_is_broadcast() -> None:
    x = gs.tensor([[0.0, 1.0], [2.0, 0.0]], dtype=gs.float64, requires_grad=True)
    y = gs.tensor([2.0, 4.0], dtype=gs.float64, requires_grad=True)
    gs.where(x != 0, lambda x, y: y / x, 1.0, domain=(x, y)).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [[0, -4], [-0.5, 0]])
    np.testing.assert_array_equal(y.grad.numpy(), [0.5, 1])


def test_a_domain_without_elements_gives_none() -> None:
    x = gs.ones(0, 3)
    assert gs.where(x > 0, gs.log, 0.0, domain=x).shape == (0, 3)
