"""The ops do what they say; that their derivatives are right has been proved."""

from __future__ import annotations

import gradspec as gs
import pytest

from acme import ops


def test_softsign_is_a_function_a_method_and_in_place() -> None:
    x = gs.tensor([-2.0, -0.5, 0.0, 1.0], requires_grad=True)
    y = ops.softsign(x)
    y.sum().backward()
    # 1 / (1 + |x|)**2
    assert gs.allclose(x.grad, gs.tensor([1 / 9, 4 / 9, 1.0, 1 / 4]))
    assert gs.equal(x.softsign(), y)
    z = x.detach().clone()
    assert z.softsign_() is z
    assert gs.equal(z, y)


def test_moving_sums_and_their_gradients() -> None:
    x = gs.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = ops.moving_sum(x, 2)
    assert y.tolist() == [3.0, 5.0, 7.0]
    y.backward(gs.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [1.0, 11.0, 110.0, 100.0]


def test_a_width_that_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match="width must be between 1 and 3, not 4"):
        ops.moving_sum(gs.ones(3), 4)
