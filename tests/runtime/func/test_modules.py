"""Modules as functions of their parameters, and ensembles of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.func import functional_call, grad, stack_module_state, vmap

X = gs.tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))


def made() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def test_other_parameters_for_one_call() -> None:
    model = made()
    before = model(X)
    zeros = {name: gs.zeros_like(p) for name, p in model.named_parameters()}
    assert not functional_call(model, zeros, X).any()
    assert (model(X) == before).all()


def test_an_error_in_the_call_leaves_the_module_as_it_was() -> None:
    model = made()
    before = model(X)
    with pytest.raises(RuntimeError):
        functional_call(model, {"0.weight": gs.zeros(4, 3)}, X[:, :2])
    assert (model(X) == before).all()


def test_a_name_that_is_not_there() -> None:
    model = made()
    assert (functional_call(model, {"nothing": X}, X) == model(X)).all()
    with pytest.raises(RuntimeError, match="nothing"):
        functional_call(model, {"nothing": X}, X, strict=True)


def test_tied_weights_are_replaced_together() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    eye = gs.eye(3)
    assert (functional_call(model, {"0.weight": eye * 2}, X) == X * 4).all()
    untied = functional_call(model, {"0.weight": eye * 2}, X, tie_weights=False)
    assert (untied == model[1](X * 2)).all()


def test_a_module_under_two_names_is_as_before_afterwards() -> None:
    layer = nn.Linear(3, 3, bias=False)
    model = nn.Sequential(layer, layer)
    weight = layer.weight
    eye = gs.eye(3)
    assert (functional_call(model, {"1.weight": eye * 2}, X) == X * 4).all()
    assert layer.weight is weight


def test_the_gradient_of_every_sample() -> None:
    model = made()
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: Any, x: Any) -> Any:
        return (functional_call(model, parameters, x) ** 2).sum()

    found = vmap(grad(loss), (None, 0))(parameters, X)
    for nr, x in enumerate(X):
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None
            np.testing.assert_allclose(found[name][nr].numpy(), parameter.grad.numpy(), rtol=1e-4)


def test_an_ensemble() -> None:
    models = [made() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    assert not buffers

    def call(parameters: Any, x: Any) -> Any:
        return functional_call(models[0], parameters, x)

    found = vmap(call, (0, None))(parameters, X)
    for nr, model in enumerate(models):
        np.testing.assert_allclose(found[nr].detach().numpy(), model(X).detach().numpy(), rtol=1e-5)
