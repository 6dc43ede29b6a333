"""The modules of activations are PyTorch's: what they compute, how they print, what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as F
from gradspec import nn

VALUES = np.array([[-7.0, -3.5, -0.75, -0.25], [0.0, 0.25, 2.0, 7.0]])

MODULES: dict[str, Callable[[Any], Any]] = {
    "CELU": lambda lib: lib.nn.CELU(),
    "CELU of 2": lambda lib: lib.nn.CELU(2.0, inplace=True),
    "ELU": lambda lib: lib.nn.ELU(),
    "ELU of 2": lambda lib: lib.nn.ELU(alpha=2.0, inplace=True),
    "GLU": lambda lib: lib.nn.GLU(),
    "GLU of rows": lambda lib: lib.nn.GLU(0),
    "Hardshrink": lambda lib: lib.nn.Hardshrink(),
    "Hardshrink of 3": lambda lib: lib.nn.Hardshrink(3),
    "Hardsigmoid": lambda lib: lib.nn.Hardsigmoid(),
    "Hardsigmoid in place": lambda lib: lib.nn.Hardsigmoid(inplace=True),
    "Hardswish": lambda lib: lib.nn.Hardswish(),
    "Hardswish in place": lambda lib: lib.nn.Hardswish(inplace=True),
    "Hardtanh": lambda lib: lib.nn.Hardtanh(),
    "Hardtanh of 2": lambda lib: lib.nn.Hardtanh(-0.5, 2, inplace=True),
    "LeakyReLU": lambda lib: lib.nn.LeakyReLU(),
    "LeakyReLU of 0.2": lambda lib: lib.nn.LeakyReLU(0.2, inplace=True),
    "LogSigmoid": lambda lib: lib.nn.LogSigmoid(),
    "Mish": lambda lib: lib.nn.Mish(),
    "Mish in place": lambda lib: lib.nn.Mish(inplace=True),
    "PReLU": lambda lib: lib.nn.PReLU(dtype=lib.float64),
    "PReLU of channels": lambda lib: lib.nn.PReLU(4, init=0.5, dtype=lib.float64),
    "ReLU": lambda lib: lib.nn.ReLU(),
    "ReLU in place": lambda lib: lib.nn.ReLU(inplace=True),
    "ReLU6": lambda lib: lib.nn.ReLU6(),
    "ReLU6 in place": lambda lib: lib.nn.ReLU6(inplace=True),
    "SELU": lambda lib: lib.nn.SELU(),
    "SELU in place": lambda lib: lib.nn.SELU(inplace=True),
    "SiLU": lambda lib: lib.nn.SiLU(),
    "SiLU in place": lambda lib: lib.nn.SiLU(inplace=True),
    "Softmin": lambda lib: lib.nn.Softmin(dim=1),
    "Softshrink": lambda lib: lib.nn.Softshrink(),
    "Softshrink of 3": lambda lib: lib.nn.Softshrink(3.0),
    "Softsign": lambda lib: lib.nn.Softsign(),
    "Tanhshrink": lambda lib: lib.nn.Tanhshrink(),
    "Threshold": lambda lib: lib.nn.Threshold(0.2, 20),
    "Threshold in place": lambda lib: lib.nn.Threshold(0.2, 20, inplace=True),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODULES)
def test_values_and_gradients(torch: Any, name: str) -> None:
    answers = []
    for library in (gs, torch):
        x = library.tensor(VALUES, requires_grad=True)
        y = x * 1
        out = MODULES[name](library)(y)
        out.backward(library.ones_like(out))
        answers.append((out.detach().numpy(), x.grad.numpy(), y is out))
    (mine, slope, here), (theirs, their_slope, there) = answers
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(slope, their_slope, rtol=1e-7, atol=1e-15)
    assert here == there


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODULES)
def test_repr(torch: Any, name: str) -> None:
    assert repr(MODULES[name](gs)) == repr(MODULES[name](torch))


@pytest.mark.oracle
def test_slopes_of_prelu_are_a_parameter(torch: Any) -> None:
    layers = nn.PReLU(3), torch.nn.PReLU(3)
    for library, layer in zip((gs, torch), layers, strict=True):
        x = library.tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 3, 2))
        layer(x).sum().backward()
    mine, theirs = layers
    assert [name for name, _ in mine.named_parameters()] == ["weight"]
    assert mine.weight.dtype == np.float32
    np.testing.assert_array_equal(mine.weight.array, theirs.weight.detach().numpy())
    np.testing.assert_allclose(mine.weight.grad.array, theirs.weight.grad.numpy(), rtol=1e-6)


def test_hardtanh_refuses_bounds_in_the_wrong_order() -> None:
    with pytest.raises(AssertionError, match="must be greater than min_val"):
        nn.Hardtanh(1.0, 1.0)


def test_hardtanh_still_takes_the_old_names() -> None:
    with pytest.warns(FutureWarning, match="renamed to `max_val`"):
        layer = nn.Hardtanh(max_value=0.5)
    assert layer(gs.tensor([-2.0, 2.0])).tolist() == [-1.0, 0.5]


def _drawn(count: int, **options: Any) -> Any:
    """Draw a number of samples from the same three classes, with their logits."""
    gs.manual_seed(0)
    logits = gs.tensor([[0.0, 1.0, -1.0]], dtype=gs.float64, requires_grad=True)
    return F.gumbel_softmax(logits.expand(count, 3), **options), logits


def test_hard_gumbel_samples_come_as_often_as_the_softmax_says() -> None:
    drawn, logits = _drawn(20_000, hard=True)
    np.testing.assert_allclose(drawn.sum(1).detach().numpy(), 1)
    assert drawn.detach().round().bool().sum().item() == 20_000
    shares = np.exp(logits.detach().numpy()[0])
    np.testing.assert_allclose(
        drawn.mean(0).detach().numpy(), shares / shares.sum(), rtol=0, atol=0.01
    )


@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_gradients_of_hard_gumbel_samples_are_those_of_soft_ones(tau: float) -> None:
    gradients = []
    for hard in (False, True):
        drawn, logits = _drawn(4, tau=tau, hard=hard)
        (drawn * gs.tensor([1.0, 2.0, 4.0])).sum().backward()
        gradients.append(logits.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_gumbel_samples_are_sharp_where_it_is_cold() -> None:
    warm, cold = _drawn(50, tau=10.0)[0], _drawn(50, tau=0.01)[0]
    assert warm.amax(1).mean().item() < 0.5 < 0.95 < cold.amax(1).mean().item()


@pytest.mark.oracle
@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_samples_have_pytorchs_dtype_shape_and_node(torch: Any, hard: bool) -> None:
    facts = []
    for library in (gs, torch):
        logits = library.zeros(2, 3, requires_grad=True)
        out = library.nn.functional.gumbel_softmax(logits, 0.5, hard, dim=0)
        facts.append((tuple(out.shape), str(out.detach().numpy().dtype), out.grad_fn.name()))
    assert facts[0] == facts[1]


def test_gumbel_eps_is_deprecated() -> None:
    with pytest.warns(UserWarning, match="no effect"):
        F.gumbel_softmax(gs.zeros(2), eps=1e-3)


def test_softmin_without_dim_warns() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmin"):
        found = nn.Softmin()(gs.zeros(2, 4))
    assert found.sum(1).tolist() == [1.0, 1.0]
