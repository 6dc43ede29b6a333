"""Tensors in the place of numbers, inside of transforms: values, and no derivative that is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda g, n: g.ones(2).add(g.ones(2), alpha=n),
    "rsub": lambda g, n: g.rsub(g.ones(2), g.ones(2), alpha=n),
    "addcmul": lambda g, n: g.addcmul(g.ones(2), g.ones(2), g.ones(2), value=n),
    "leaky_relu": lambda g, n: g.nn.functional.leaky_relu(-g.ones(2), n),
    "softplus": lambda g, n: g.nn.functional.softplus(g.ones(2), n),
    "pad": lambda g, n: g.nn.functional.pad(g.ones(2), (1, 1), value=n),
    "huber_loss": lambda g, n: g.nn.functional.huber_loss(g.ones(2), 3 * g.ones(2), delta=n),
    "trapezoid": lambda g, n: g.trapezoid(g.ones(3), dx=n),
    "full": lambda g, n: g.full((2,), n),
    "full_like": lambda g, n: g.full_like(g.ones(2), n),
    "arange": lambda g, n: g.arange(0, 3, n),
    "logspace": lambda g, n: g.logspace(0, 1, 3, base=n),
}


def _x(g: Any) -> Any:
    return g.tensor([[0.3, 1.7], [1.1, 0.4], [0.9, 2.0]])


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(torch: Any, name: str) -> None:
    f = NUMBERS[name]
    assert_same(lambda g: f(g, _x(g)[0, 0]), torch)
    assert_same(lambda g: f(g, _x(g)[0, 0].clone().requires_grad_()), torch)
    assert_same(lambda g: g.func.grad(lambda x: f(g, x[0]).sum())(_x(g)[0]), torch)
    assert_same(lambda g: g.func.vmap(lambda x: f(g, x[0]))(_x(g)), torch)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_tangent_is_not_dropped(name: str) -> None:
    """PyTorch drops it: the result is a constant there."""
    f = NUMBERS[name]
    x = _x(gs)[0]
    for run in (
        lambda: gs.func.jvp(lambda x: f(gs, x[0]), (x,), (x,)),
        lambda: gs.func.jacfwd(lambda x: f(gs, x[0]))(x),
    ):
        with pytest.raises(TypeError, match=r"must be .*, not Tensor with a tangent"):
            run()
    found = gs.func.jvp(lambda x: f(gs, x.detach()[0]) * x[1], (x,), (x,))[1]
    assert found.tolist() == (f(gs, x[0]) * x[1]).tolist()


FILLED: dict[str, Callable[[Any, Any], Any]] = {
    "uniform_": lambda g, n: g.ones(2).uniform_(0, n) * 0,
    "normal_": lambda g, n: g.ones(2).normal_(n) * 0,
    "log_normal_": lambda g, n: g.ones(2).log_normal_(0, n) * 0,
    "exponential_": lambda g, n: g.ones(2).exponential_(n) * 0,
    "cauchy_": lambda g, n: g.ones(2).cauchy_(n) * 0,
    "geometric_": lambda g, n: g.ones(2).geometric_(n) * 0,
    "dropout": lambda g, n: g.nn.functional.dropout(g.ones(2), n) * 0,
    "embedding": lambda g, n: g.nn.functional.embedding(g.tensor([1]), g.ones(2, 2), max_norm=n),
}


@pytest.mark.parametrize("name", FILLED)
def test_numbers_of_what_is_filled(torch: Any, name: str) -> None:
    f = FILLED[name]
    assert_same(lambda g: f(g, _x(g)[0, 0]), torch)
    assert_same(lambda g: f(g, _x(g)[0, 0].clone().requires_grad_()), torch)


BOUNDS: dict[str, Callable[[Any, Any], Any]] = {
    "linspace to": lambda g, x: g.linspace(0, x[1], 4),
    "linspace from": lambda g, x: g.linspace(x[0], 3.0, 4),
    "linspace": lambda g, x: g.linspace(x[0], x[1], 4),
    "logspace": lambda g, x: g.logspace(0, x[1], 4),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(torch: Any, name: str) -> None:
    f = BOUNDS[name]
    assert_same(lambda g: f(g, _x(g)[0].requires_grad_()), torch)
    assert_same(lambda g: g.func.vmap(lambda x: f(g, x).float())(_x(g)), torch)
    assert_same(
        lambda g: g.func.vmap(g.func.vmap(lambda x: f(g, x).float()))(_x(g).unsqueeze(1)), torch
    )
    assert_same(lambda g: g.func.grad(lambda x: (f(g, x) * x[0]).sum())(_x(g)[0]), torch)
    assert_same(lambda g: g.func.jvp(lambda x: f(g, x), (_x(g)[0],), (_x(g)[1],)), torch)


def test_a_jacobian_may_read_values_where_numbers_differ(torch: Any) -> None:
    def f(g: Any) -> Any:
        def read(x: Any) -> Any:
            return x * x[0].item()

        return g.func.jacfwd(read, randomness="different")(_x(g)[0])

    assert_same(f, torch)
