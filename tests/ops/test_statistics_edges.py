"""Statistics that differ from PyTorch's, with the values written out."""

from __future__ import annotations

import math

import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual

VALUES = (-math.inf, -math.inf, 1.0, -math.inf, 3.0)


def test_running_sums_of_exponentials_from_minus_infinity_on() -> None:
    """Forward mode as PyTorch, and the backward pass as forward mode."""
    x = gs.tensor(VALUES, dtype=gs.float64, requires_grad=True)
    y = x.logcumsumexp(0)
    (slope,) = gs.autograd.grad(y.sum(), x)
    share = 1 / (1 + math.exp(2.0))  # of exp(1) in exp(1) + exp(3)
    assert slope.tolist() == pytest.approx([0, 0, 2 + share, 0, 1 - share])
    with dual_level():
        dual = make_dual(x.detach(), gs.ones_like(x))
        tangent = unpack_dual(dual.logcumsumexp(0)).tangent
    assert tangent.tolist() == pytest.approx([0, 0, 1, 1, 1])
