"""Whole training steps, compiled: forward, backward, and the step of the optimizer."""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec import nn, optim
from gradspec.utils.checkpoint import checkpoint

from .comparing import assert_same

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optim.SGD(p, 0.1),
    "momentum": lambda p: optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "Adam": lambda p: optim.Adam(p, 1e-2),
    "AMSGrad": lambda p: optim.Adam(p, 1e-2, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, 1e-2),
    "RMSprop": lambda p: optim.RMSprop(p, 1e-2, momentum=0.9, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, 1e-2),
    "Adadelta": lambda p: optim.Adadelta(p),
    "Adamax": lambda p: optim.Adamax(p),
    "NAdam": lambda p: optim.NAdam(p),
    "Rprop": lambda p: optim.Rprop(p),
    "RAdam": lambda p: optim.RAdam(p, betas=(0.9, 0.5)),
    "Muon": lambda p: optim.Muon([each for each in p if each.ndim == 2]),
    "ASGD": lambda p: optim.ASGD(p, 1e-2, t0=2),
    "Adafactor": lambda p: optim.Adafactor(p, 1e-2, weight_decay=0.1),
    "a rate as a tensor": lambda p: optim.SGD(p, gs.tensor(0.1)),
}


def model() -> nn.Module:
    gs.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def training_step(model: nn.Module, optimizer: Any) -> Callable[..., Any]:
    def step(x: gs.Tensor, labels: gs.Tensor) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_eager(name: str) -> None:
    ours, theirs = model(), model()
    step = gs.compile(training_step(ours, OPTIMIZERS[name](ours.parameters())), backend="numpy")
    eager = training_step(theirs, OPTIMIZERS[name](theirs.parameters()))
    for _ in range(5):
        x, labels = gs.randn(5, 4), gs.randint(3, (5,))
        assert_same(step(x, labels), eager(x, labels), 1e-6)
        assert_same(list(ours.parameters()), list(theirs.parameters()), 1e-6)
        assert_same(
            [p.grad for p in ours.parameters()], [p.grad for p in theirs.parameters()], 1e-6
        )


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_gradient_that_is_returned_is_the_one_that_is_kept(backend: Any) -> None:
    p = gs.tensor([1.0, 2.0], requires_grad=True)

    def step(x: gs.Tensor) -> Any:
        p.grad = None
        (p * x).sum().backward()
        assert p.grad is not None
        return p.grad, p.grad * 2

    run = gs.compile(step, backend=backend)
    for _ in range(3):  # the second call takes the short way
        x = gs.randn(2)
        found, twice = run(x)
        assert found is p.grad
        assert found.tolist() == x.tolist()
        assert twice.tolist() == (x * 2).tolist()


def test_gradients_accumulate() -> None:
    ours = model()
    theirs = copy.deepcopy(ours)

    def step(model: nn.Module) -> Callable[..., Any]:
        def add(x: gs.Tensor) -> None:
            model(x).square().sum().backward()

        return add

    run = gs.compile(step(ours), backend="numpy")
    for _ in range(3):
        x = gs.randn(5, 4)
        run(x)
        step(theirs)(x)
        assert_same(
            [p.grad for p in ours.parameters()], [p.grad for p in theirs.parameters()], 1e-6
        )


def test_a_result_whose_graph_was_freed() -> None:
    ours = model()

    @gs.compile(backend="numpy")
    def step(x: gs.Tensor) -> Any:
        loss = ours(x).square().sum()
        loss.backward()
        return loss

    loss = step(gs.randn(5, 4))
    assert loss.requires_grad
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_rate_that_changes_is_seen() -> None:
    weight = gs.ones(2, requires_grad=True)
    optimizer = optim.SGD([weight], 1.0)

    @gs.compile(backend="numpy")
    def step() -> None:
        weight.grad = gs.ones(2)
        optimizer.step()

    step()
    optimizer.param_groups[0]["lr"] = 0.5
    step()
    assert weight.tolist() == [-0.5, -0.5]


def test_a_power_iteration_continues_at_each_call() -> None:
    module = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3))
    other = copy.deepcopy(module)
    run = gs.compile(lambda x: module(x).sum(), backend="numpy")
    for _ in range(3):
        x = gs.randn(2, 4)
        assert_same(run(x), other(x).sum())
    assert_same(list(module.buffers()), list(other.buffers()))


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_draws_the_same_numbers(use_reentrant: bool) -> None:
    part = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Dropout(0.5))

    def loss(x: gs.Tensor) -> Any:
        return checkpoint(part, x, use_reentrant=use_reentrant).square().sum()

    found = []
    for call in (gs.compile(loss, backend="numpy"), loss):
        gs.manual_seed(0)
        for _ in range(2):
            x = gs.ones(3, 4, requires_grad=True)
            result = call(x)
            result.backward()
            found += [result, x.grad]
    assert_same(found[:4], found[4:])
    assert not gs.equal(found[1], found[3])


def test_an_optimizer_that_asks_for_values_is_refused() -> None:
    weight = gs.ones(2, requires_grad=True)
    optimizer = optim.LBFGS([weight])

    def closure() -> gs.Tensor:
        optimizer.zero_grad()
        loss = weight.square().sum()
        loss.backward()
        return loss

    @gs.compile(backend="numpy")
    def step() -> None:
        optimizer.step(closure)

    step()  # in which the optimizer makes its state
    with pytest.raises(gs.compiler.CaptureError, match=r"test_training.py:\d+: the value of a ten"):
        step()


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_arguments_have_gradients_or_not(dynamic: bool, backend: str) -> None:
    def step(x: Any, weight: Any) -> Any:
        (x @ weight).sum().backward()
        return x * 1

    compiled = gs.compile(step, backend=backend, dynamic=dynamic)
    weight = gs.ones(3, requires_grad=True)
    for size in (4, 4, 6, 9):
        x = gs.ones(size, 3, requires_grad=True)
        for times in (1, 2, 3):
            compiled(x, weight)
            assert_same(x.grad, gs.full((size, 3), float(times)))
    assert_same(weight.grad, gs.full((3,), 3.0 * (4 + 4 + 6 + 9)))


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_one_program_does_for_the_first_step_and_the_others(backend: str) -> None:
    ours, theirs = model(), model()
    step = gs.compile(training_step(ours, optim.SGD(ours.parameters(), 0.1)), backend=backend)
    eager = training_step(theirs, optim.SGD(theirs.parameters(), 0.1))
    for _ in range(4):
        x, labels = gs.randn(5, 4), gs.randint(3, (5,))
        assert_same(step(x, labels), eager(x, labels), 1e-6)
        assert_same(
            [p.grad for p in ours.parameters()], [p.grad for p in theirs.parameters()], 1e-6
        )
        ours.zero_grad()
        assert_same(step(x, labels), eager(x, labels), 1e-6)
    assert step.count_captures() == 1


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_gradients_that_are_added_to_or_asked_for_have_programs_of_their_own(backend: str) -> None:
    weight = gs.ones(2, requires_grad=True)

    def added(x: gs.Tensor) -> gs.Tensor:
        (weight * x).sum().backward()
        return x * 1

    def asked(x: gs.Tensor) -> gs.Tensor:
        factor = 1.0 if weight.grad is None else 10.0
        weight.grad = None
        (weight * x).sum().backward()
        return x * factor

    run = gs.compile(added, backend=backend)
    for expected in ([1, 2], [2, 4], [3, 6]):
        run(gs.tensor([1.0, 2.0]))
        assert weight.grad is not None
        assert weight.grad.tolist() == expected
    run, weight.grad = gs.compile(asked, backend=backend), None
    assert [run(gs.ones(1)).item() for _ in range(3)] == [1, 10, 10]
    weight.grad = None
    assert run(gs.ones(1)).item() == 1
    assert run.count_captures() == 2


def test_gradients_are_let_go_of_before_others_are_computed() -> None:
    weight = gs.ones(300, 300, requires_grad=True)

    def step(x: gs.Tensor) -> None:
        weight.grad = None
        (weight * x).sum().backward()

    run = gs.compile(step, backend="numpy")
    for _ in range(3):
        run(gs.ones(300, 300))
    size = weight.grad.array.nbytes if weight.grad is not None else 0
    tracemalloc.start()
    run(gs.ones(300, 300))
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size == 360_000
    assert peak < 1.5 * size + size  # the argument, the gradient, and nothing of the last one
    assert after >= size
