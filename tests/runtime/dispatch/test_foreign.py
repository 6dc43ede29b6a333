"""Tensors of PyTorch's among the arguments of ops, and ours among those of PyTorch's functions."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle


class Derived(gs.Tensor):
    pass


@pytest.mark.parametrize("make", ["tensor", "parameter", "subclass"])
def test_an_op_refuses_pytorchs_tensors(torch: Any, make: str) -> None:
    """Their `__torch_function__` would call the op again, and again."""

    class Own(torch.Tensor):
        pass

    given = torch.ones(2)
    if make == "parameter":
        given = torch.nn.Parameter(given)
    elif make == "subclass":
        given = given.as_subclass(Own)
    x = gs.ones(2)
    for call in (
        lambda: gs.add(x, given),
        lambda: gs.add(given, x),
        lambda: gs.sin(given),
        lambda: gs.cat([x, given]),
        lambda: gs.pow(x, given),
        lambda: x * given,
        lambda: given * x,
        lambda: x.add_(given),
        lambda: gs.nn.functional.mse_loss(x, given),
        lambda: gs.add(x.as_subclass(Derived), given),
    ):
        with pytest.raises(TypeError):
            call()
    assert gs.as_tensor(given.detach()).tolist() == [1.0, 1.0]


def test_errors_tell_pytorchs_tensors_from_ours(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"got \(Tensor, torch\.Tensor\)"):
        gs.pow(gs.ones(2), torch.ones(2))


def test_pytorchs_functions_refuse_our_tensors(torch: Any) -> None:
    x = gs.ones(2)
    for given in (x, x.as_subclass(Derived)):
        for call in (lambda: torch.sin(given), lambda: torch.add(torch.ones(2), given)):  # noqa: B023
            with pytest.raises(TypeError, match="NotImplemented"):
                call()
