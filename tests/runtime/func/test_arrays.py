"""Transforms of functions of NumPy arrays, with SciPy's solvers, and of trees of all kinds."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import approx_fprime, minimize, root, rosen, rosen_der

import gradspec as gs
from gradspec.func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

X = np.array([1.3, 0.7, 0.8, 1.9])


def banana(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_values_and_gradients_are_arrays() -> None:
    gradient, value = grad_and_value(banana)(X)
    assert type(gradient) is np.ndarray
    assert isinstance(value, np.float64)
    assert value == pytest.approx(rosen(X))
    np.testing.assert_allclose(gradient, rosen_der(X))
    np.testing.assert_allclose(jacrev(np.sin)(X), np.diag(np.cos(X)), atol=1e-15)
    np.testing.assert_allclose(jacfwd(np.sin)(X), np.diag(np.cos(X)), atol=1e-15)
    np.testing.assert_allclose(
        hessian(banana)(X), approx_fprime(X, rosen_der, 1e-7), rtol=1e-4, atol=1e-3
    )
    np.testing.assert_array_equal(vmap(lambda row: row.sum())(np.ones((2, 3))), [3.0, 3.0])


def test_functions_that_are_returned_take_arrays() -> None:
    value, pull_back = vjp(np.sin, X)
    (gradient,) = pull_back(X)
    _, push_forward = linearize(np.sin, X)
    for found in (gradient, push_forward(X), jvp(np.sin, (X,), (X,))[1]):
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, X * np.cos(X))
    np.testing.assert_array_equal(value, np.sin(X))


def test_a_tensor_among_the_arguments_gives_tensors() -> None:
    found = grad(lambda w, x: (w * gs.as_tensor(x)).sum())(gs.ones(4, dtype=gs.float64), X)
    assert isinstance(found, gs.Tensor)
    np.testing.assert_array_equal(found.numpy(), X)


def test_minimize() -> None:
    with_value = grad_and_value(banana)

    def value_and_gradient(x: Any) -> tuple[Any, Any]:
        gradient, value = with_value(x)
        return value, gradient

    def product(x: Any, direction: Any) -> Any:
        return jvp(grad(banana), (x,), (direction,))[1]

    quasi = minimize(value_and_gradient, X, jac=True, method="BFGS", tol=1e-10)
    newton = minimize(value_and_gradient, X, jac=True, hessp=product, method="trust-ncg")
    exact = minimize(banana, X, jac=grad(banana), hess=hessian(banana), method="trust-exact")
    for found in (quasi, newton, exact):
        np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_root() -> None:
    def circle_and_line(x: Any) -> Any:
        return np.stack([x[0] ** 2 + x[1] ** 2 - 2, x[0] - x[1]])

    found = root(circle_and_line, np.array([2.0, 0.5]), jac=jacfwd(circle_and_line))
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-8)


def test_sensitivities_of_a_differential_equation() -> None:
    """`y' = -k y` from 1: the derivative of `exp(-k t)` by `k` is `-t exp(-k t)`."""

    def rate(y: Any, k: Any) -> Any:
        return -k * y

    def augmented(t: float, state: Any, k: float) -> Any:
        y, s = state[:1], state[1:]
        by_y, by_k = jacfwd(rate, (0, 1))(y, np.array(k))
        return np.concatenate([rate(y, k), by_y @ s + by_k])

    found = solve_ivp(augmented, (0, 2), [1.0, 0.0], args=(0.7,), rtol=1e-9, atol=1e-11)
    y, s = found.y[:, -1]
    assert y == pytest.approx(np.exp(-1.4), rel=1e-7)
    assert s == pytest.approx(-2 * np.exp(-1.4), rel=1e-7)


class Pair(NamedTuple):
    w: Any
    b: Any


@dataclass(frozen=True)
class Record:
    w: Any
    b: Any


Old = namedtuple("Old", "w b")
W, B = np.arange(6.0).reshape(3, 2), np.array([0.5, -1.0])


def model(parameters: Any, x: Any) -> Any:
    return ((x @ parameters.w + parameters.b) ** 2).sum()


@pytest.mark.parametrize("kind", [Pair, Record, Old])
@pytest.mark.parametrize("to", [gs.tensor, np.asarray])
def test_trees_of_one_class(kind: Any, to: Any) -> None:
    given, x = kind(to(W), to(B)), to(np.ones((4, 3)))
    found = grad(model)(given, x)
    assert type(found) is kind
    residual = np.ones((4, 3)) @ W + B
    np.testing.assert_allclose(np.asarray(found.w), 2 * np.ones((3, 4)) @ residual)
    np.testing.assert_allclose(np.asarray(found.b), 2 * residual.sum(0))
    each = vmap(grad(model), in_dims=(None, 0))(given, x)
    assert each.w.shape == (4, 3, 2)
    shared = vmap(model, in_dims=(kind(None, 0), None))(kind(given.w, to(np.ones((5, 2)))), x)
    assert shared.shape == (5,)
    value, slope = jvp(model, (given, x), (given, x * 0))
    np.testing.assert_allclose(float(slope), 2 * float(value))
    hessian_w = hessian(lambda p: model(p, x))(given)
    assert hessian_w.w.b.shape == (3, 2, 2)


def test_settings_are_no_trees() -> None:
    @dataclass
    class Settings:
        power: int

    found = vmap(lambda x, s: x**s.power, in_dims=(0, None))(gs.tensor([2.0, 3.0]), Settings(2))
    assert found.tolist() == [4.0, 9.0]


def test_linearize_calls_the_function_once() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return x.sin() * x

    x = gs.tensor(X)
    _, push_forward = linearize(function, x)
    slopes = [push_forward(x * scale) for scale in (1.0, 2.0)]
    assert len(calls) == 1
    np.testing.assert_allclose(slopes[0].numpy(), X * (np.sin(X) + X * np.cos(X)))
    np.testing.assert_allclose(slopes[1].numpy(), 2 * slopes[0].numpy())
    with pytest.raises(RuntimeError, match="tangent of shape"):
        push_forward(gs.ones(2))


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: gs.rand(3),
        lambda x: gs.randn(3),
        lambda x: gs.randint(0, 10**9, (3,)),
        lambda x: gs.randperm(100)[:3],
        lambda x: gs.rand_like(x),
        lambda x: gs.normal(x, 1.0),
        lambda x: gs.bernoulli(gs.full((64,), 0.5)),
        lambda x: gs.multinomial(gs.ones(1000), 3),
        lambda x: (x * 1).uniform_(),
        lambda x: (x * 1).exponential_(),
        lambda x: gs.nn.functional.dropout(gs.ones(64)),
        lambda x: gs.nn.functional.dropout1d(gs.ones(64, 2)),
        lambda x: gs.nn.functional.alpha_dropout(gs.ones(64), training=True),
        lambda x: gs.nn.functional.gumbel_softmax(x),
        lambda x: gs.nn.functional.rrelu(-gs.ones(64), training=True),
    ],
)
def test_random_numbers_of_examples(draw: Any) -> None:
    gs.manual_seed(0)
    x = gs.zeros(5, 3)
    found = vmap(draw, randomness="different")(x)
    assert len(np.unique(found.numpy().reshape(5, -1), axis=0)) == 5
    nested = vmap(vmap(draw, randomness="different"), randomness="different")(gs.zeros(2, 5, 3))
    assert len(np.unique(nested.numpy().reshape(10, -1), axis=0)) == 10


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: gs.rand(3),
        lambda x: gs.rand_like(x),
        lambda x: gs.nn.functional.dropout(x + 1),
        lambda x: (x * 1).uniform_(),
    ],
)
def test_the_same_random_numbers(draw: Any) -> None:
    found = vmap(draw, randomness="same")(gs.zeros(5, 3)).numpy()
    np.testing.assert_array_equal(found, np.broadcast_to(found[0], found.shape))
    with pytest.raises(RuntimeError, match="random"):
        vmap(draw)(gs.zeros(5, 3))


def test_gradients_through_different_numbers() -> None:
    gs.manual_seed(0)
    slopes = vmap(grad(lambda x: gs.nn.functional.dropout(x).sum()), randomness="different")(
        gs.ones(4, 50)
    )
    assert set(slopes.unique().tolist()) == {0.0, 2.0}
    assert len(np.unique(slopes.numpy(), axis=0)) == 4
