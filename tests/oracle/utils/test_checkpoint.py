"""Checkpoints: gradients are the same, and functions are called again, as in PyTorch."""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    set_checkpoint_debug_enabled,
)

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

    x = gs.ones(2, requires_grad=True)
    with pytest.raises(CheckpointError, match="more tensors during recomputation"):
        checkpoint(grows, x, use_reentrant=False, early_stop=False).sum().backward()
    calls += [1] * 5

    def shrinks(x: Any) -> Any:
        for _ in range(len(calls)):
            x = x.exp()
        calls.pop()
        return x

    with pytest.raises(CheckpointError, match="different number of tensors"):
        checkpoint(shrinks, gs.ones(2, requires_grad=True), use_reentrant=False).sum().backward()

    sizes = [3, 4]

    def widens(x: Any) -> Any:
        return x.expand(sizes.pop(0), 2).exp().sum()

    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(widens, gs.ones(2, requires_grad=True), use_reentrant=False).backward()
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(grows, gs.ones(2), use_reentrant=False, determinism_check="all")


def counted(library: Any, function: Any, *args: Any, **options: Any) -> Any:
    """A checkpoint, and how often its function was called."""
    calls: list[int] = []

    def call(*given: Any) -> Any:
        calls.append(1)
        return function(*given)

    return tools(library).checkpoint(call, *args, use_reentrant=False, **options), calls


@pytest.mark.oracle
@pytest.mark.parametrize("option", [None, True, False])
@pytest.mark.parametrize("block", [None, True, False])
def test_early_stops(torch, option, block):
    def behaviour(library: Any) -> Any:
        ends: list[int] = []

        def function(x: Any) -> Any:
            y = x.sin().cos()
            ends.append(1)
            return y.clone()

        options = {} if option is None else {"early_stop": option}
        if block is None:
            y, calls = counted(library, function, leaf(library), **options)
        else:
            with tools(library).set_checkpoint_early_stop(block):
                y, calls = counted(library, function, leaf(library), **options)
        y.sum().backward()
        return len(calls), len(ends)

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_calls_at_each_look_and_pass(torch):
    def behaviour(library: Any) -> Any:
        y, calls = counted(library, lambda x: (x * x).exp(), leaf(library))
        facts = [len(calls)]
        for _ in range(2):
            facts += [y.grad_fn._saved_result.detach(), len(calls)]
        for _ in range(2):
            y.sum().backward(retain_graph=True)
            facts.append(len(calls))
        y.sum().backward()
        return [*facts, len(calls), attempt(lambda: y.grad_fn._saved_result)]

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_values_are_unpacked_once(torch):
    def behaviour(library: Any) -> Any:
        class Twice(library.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                y = x * 2
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                found.append([tensor.detach() for tensor in ctx.saved_tensors])
                found.append(attempt(lambda: ctx.saved_tensors))
                return grad * 2

        found: list[Any] = []
        y, calls = counted(library, lambda x: Twice.apply(x * x), leaf(library))
        y.sum().backward()
        return found[0], len(calls), found[1].startswith("raises RuntimeError"), str(found[1])[:7]

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize("grouped", [True, False])
def test_groups_share_a_recomputation(torch, grouped):
    def behaviour(library: Any) -> Any:
        def function(x: Any) -> Any:
            y = x.sin().cos()
            return y, y.sin().cos()

        x = leaf(library)
        group = tools(library).GraphExecGroup() if grouped else nullcontext()
        (y, z), calls = counted(library, function, x)
        with group:
            (inner,) = library.autograd.grad(z.sum(), y)
            (outer,) = library.autograd.grad(y, x, inner)
        facts = [outer, len(calls)]
        y, calls = counted(library, lambda x: x.sin().cos(), x)
        with group:
            y.sum().backward(retain_graph=True)
            facts += [attempt(lambda: y.sum().backward()), len(calls)]
        return facts

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize("stop", [True, False])
def test_checkpoints_of_gradients_of_checkpoints(torch, stop):
    def behaviour(library: Any) -> Any:
        def gradient(function: Any) -> Any:
            def call(x: Any) -> Any:
                with library.enable_grad():
                    (found,) = library.autograd.grad(function(x), x, create_graph=True)
                return found

            return call

        def kept(function: Any) -> Any:
            return lambda x: tools(library).checkpoint(
                function, x, use_reentrant=False, early_stop=stop
            )

        def function(x: Any) -> Any:
            return x.sin().exp().sin()

        x = library.tensor(0.3, dtype=library.float64, requires_grad=True)
        calls = [
            kept(kept(function)),
            gradient(kept(kept(function))),
            gradient(kept(gradient(kept(function)))),
            kept(gradient(gradient(kept(function)))),
            gradient(kept(gradient(gradient(kept(function))))),
            gradient(kept(gradient(kept(gradient(kept(function)))))),
        ]
        return [call(x).detach() for call in calls]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("as_block", [True, False])
def test_debug_lists_the_nodes_of_both_times(as_block):
    calls: list[int] = []

    def changes(x: Any) -> Any:
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin() * gs.tensor([1.0, 2.0])

    x = gs.ones(1, requires_grad=True)
    with set_checkpoint_debug_enabled(True) if as_block else nullcontext():
        y = checkpoint(changes, x, use_reentrant=False, debug=not as_block)
    with pytest.raises(CheckpointError, match=r"debug=True(.|\n)*ExpBackward0(.|\n)*MulBackward0"):
        y.backward()
