"""Checkpoints: gradients are the same, and functions are called again, as in PyTorch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.utils.checkpoint import CheckpointError, checkpoint

from ..behaviours import assert_same, attempt


def tools(library: Any) -> Any:
    return import_module(f"{library.__name__}.utils.checkpoint")


def leaf(library: Any) -> Any:
    return library.tensor([1.0, -2.0], dtype=library.float64, requires_grad=True)


@pytest.mark.oracle
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_gradients_and_calls(torch, use_reentrant):
    def behaviour(library: Any) -> Any:
        calls: list[bool] = []

        def function(x: Any, number: Any, y: Any) -> Any:
            calls.append(library.is_grad_enabled())
            hidden = (x * number).exp() * y
            return hidden.sin(), "text", y.detach() * 2

        x, y = leaf(library), leaf(library)
        options = {"use_reentrant": use_reentrant}
        found = tools(library).checkpoint(function, x * 1, 0.5, y, **options)
        before = list(calls)
        (found[0] * x).sum().backward()
        return before, calls, x.grad, y.grad, found[1], found[2].requires_grad

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_other_uses(torch):
    def behaviour(library: Any) -> Any:
        module, x = tools(library), leaf(library)
        calls: list[int] = []

        def function(x: Any, scale: float = 1.0) -> Any:
            calls.append(1)
            return (x * scale).exp().sin()

        y = module.checkpoint(function, x, use_reentrant=False, scale=2.0)
        facts = [library.autograd.grad(y.sum(), x, create_graph=True)[0]]
        facts.append(len(calls))
        facts.append(library.autograd.grad(facts[0].sum(), x, retain_graph=True)[0])
        facts.append(y)
        again = module.checkpoint(function, x, use_reentrant=True)
        facts += [
            attempt(lambda: library.autograd.grad(again.sum(), x)),
            attempt(lambda: module.checkpoint(function, x, use_reentrant=True, scale=2.0)),
            attempt(lambda: module.checkpoint(function, x, use_reentrant=True, debug=True)),
            attempt(lambda: module.checkpoint(function, x.detach(), use_reentrant=True)),
            attempt(lambda: module.checkpoint(function, x)),
        ]
        return [f.detach() if hasattr(f, "detach") else f for f in facts]

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_sequences(torch, segments, use_reentrant):
    def behaviour(library: Any) -> Any:
        calls: list[int] = []

        def numbered(number: int) -> Any:
            def function(x: Any) -> Any:
                calls.append(number)
                return (x + number).tanh()

            return function

        x = leaf(library)
        functions = [numbered(number) for number in range(5)]
        y = tools(library).checkpoint_sequential(
            functions, segments, x, use_reentrant=use_reentrant
        )
        y.sum().backward()
        return x.grad, calls

    assert_same(behaviour, torch)


def test_modules_and_random_numbers():
    model = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.Dropout(0.5), gs.nn.Tanh())
    x = gs.ones(5, 3)
    grads = []
    for use_reentrant in (None, False, True):
        gs.manual_seed(3)
        model.zero_grad()
        given = x.clone().requires_grad_()
        if use_reentrant is None:
            out = model(given)
        else:
            out = checkpoint(model, given, use_reentrant=use_reentrant)
        after = gs.rand(1).item()
        out.sum().backward()
        grads.append([given.grad.numpy(), model[0].weight.grad.numpy(), gs.rand(1).item(), after])
    for found in grads[1:]:
        for mine, expected in zip(found, grads[0], strict=True):
            np.testing.assert_array_equal(mine, expected)


def test_what_is_saved_is_not_kept():
    kept: list[Any] = []

    def pack(tensor: Any) -> Any:
        kept.append(tensor)
        return tensor

    x = gs.ones(3, requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = checkpoint(lambda t: t.exp().sin().exp(), x, use_reentrant=False)
    assert not kept
    y.sum().backward()
    expected = gs.ones(3, requires_grad=True)
    expected.exp().sin().exp().sum().backward()
    assert x.grad.tolist() == expected.grad.tolist()


def test_functions_that_change_are_found():
    calls: list[int] = []

    def grows(x: Any) -> Any:
        calls.append(1)
        for _ in calls:
            x = x.exp()
        return x

    with pytest.raises(CheckpointError, match="different number of tensors"):
        checkpoint(grows, gs.ones(2, requires_grad=True), use_reentrant=False).sum().backward()

    sizes = [3, 4]

    def widens(x: Any) -> Any:
        return x.expand(sizes.pop(0), 2).exp().sum()

    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(widens, gs.ones(2, requires_grad=True), use_reentrant=False).backward()
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(grows, gs.ones(2), use_reentrant=False, determinism_check="all")
