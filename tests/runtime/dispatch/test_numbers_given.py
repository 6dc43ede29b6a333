"""Arguments of ops that count as numbers."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec.nn import functional

CALLS = {
    "alpha": lambda number: gs.add(gs.ones(2), gs.ones(2), alpha=number),
    "slope": lambda number: functional.leaky_relu(gs.ones(2), number),
    "beta": lambda number: functional.softplus(gs.ones(2), beta=number),
    "elu": lambda number: functional.elu(gs.ones(2), number),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_with_dimensions_is_no_number(call: str) -> None:
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        CALLS[call](gs.ones(2))


@pytest.mark.parametrize("call", CALLS)
def test_nor_is_one_whose_gradient_would_be_lost(call: str) -> None:
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        CALLS[call](gs.tensor(0.5, requires_grad=True))


def test_a_tensor_without_dimensions_is_one() -> None:
    assert CALLS["alpha"](gs.tensor(2)).tolist() == [3, 3]
