"""Grad mode: nesting, decorators, generators, threads."""

import asyncio
import threading

import pytest

import gradspec as gs
from gradspec.core.modes import mode
from gradspec.core.node import next_sequence_nr


def flags_after_an_op():
    """The first op after a block finds out that nothing is unusual any more."""
    gs.ones(1).neg()
    return mode.flags


def requires() -> bool:
    x = gs.tensor([1.0], requires_grad=True)
    return (x * 2).requires_grad


def test_no_grad_and_enable_grad_nest():
    assert requires()
    with gs.no_grad():
        assert not requires()
        with gs.enable_grad():
            assert requires()
        assert not requires()
    assert requires()
    assert flags_after_an_op() == 0


def test_results_of_no_grad_are_leaves():
    x = gs.tensor([1.0], requires_grad=True)
    with gs.no_grad():
        y = gs.exp(x)
    assert y.is_leaf
    assert y.grad_fn is None


def test_set_grad_enabled_switches_at_once():
    gs.set_grad_enabled(False)
    try:
        assert not gs.is_grad_enabled()
    finally:
        gs.set_grad_enabled(True)
    with gs.set_grad_enabled(False):
        assert not requires()
    assert requires()


def test_modes_decorate():
    @gs.no_grad()
    def with_parentheses():
        return requires()

    @gs.no_grad
    def without():
        return requires()

    assert not with_parentheses()
    assert not without()
    assert requires()


def test_a_decorated_generator_switches_only_while_it_runs():
    @gs.no_grad()
    def generate():
        yield gs.is_grad_enabled()
        got = yield gs.is_grad_enabled()
        yield got

    generator = generate()
    assert next(generator) is False
    assert gs.is_grad_enabled()
    assert next(generator) is False
    assert generator.send("sent") == "sent"
    assert gs.is_grad_enabled()


def test_each_thread_has_its_own_mode():
    seen = {}
    inside, checked = threading.Event(), threading.Event()

    def work():
        with gs.no_grad():
            seen["thread"] = requires()
            inside.set()
            checked.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(10)
    seen["main"] = requires()
    checked.set()
    thread.join()
    assert seen == {"thread": False, "main": True}
    assert flags_after_an_op() == 0


def test_a_thread_that_ends_in_no_grad_leaves_no_trace():
    def work():
        gs.set_grad_enabled(False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert flags_after_an_op() == 0
    assert requires()


def test_a_decorated_coroutine_keeps_its_mode_to_itself():
    seen = []

    @gs.no_grad()
    async def quiet(turn: asyncio.Event, other: asyncio.Event):
        seen.append(("quiet", gs.is_grad_enabled()))
        other.set()
        await turn.wait()
        seen.append(("quiet", gs.is_grad_enabled()))
        return 7

    async def loud(turn: asyncio.Event, other: asyncio.Event):
        await turn.wait()
        seen.append(("loud", gs.is_grad_enabled()))
        other.set()

    async def both():
        one, two = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(quiet(one, two), loud(two, one))

    assert asyncio.run(both()) == [7, None]
    assert seen == [("quiet", False), ("loud", True), ("quiet", False)]
    assert flags_after_an_op() == 0


def test_a_generator_that_is_thrown_into_has_its_mode():
    @gs.no_grad()
    def generate():
        try:
            yield 1
        except KeyError:
            yield gs.is_grad_enabled()

    generator = generate()
    next(generator)
    assert generator.throw(KeyError()) is False
    assert gs.is_grad_enabled()


def test_inference_mode_makes_tensors_that_no_node_can_save():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.inference_mode():
        assert gs.is_inference_mode_enabled()
        assert not gs.is_grad_enabled()
        made, created, view = x * 2, gs.ones(2), x.view(2)
        made.add_(1)
        with gs.enable_grad():
            assert not (x * 2).requires_grad
        with gs.inference_mode(False):
            assert (x * 2).requires_grad
    assert not gs.is_inference_mode_enabled()
    assert [t.is_inference() for t in (made, created, made[:1], view)] == [True, True, True, False]
    assert made.tolist() == [3, 5]
    assert (made + x).requires_grad
    assert not (made + 1).is_inference()
    assert (made.clone() * x).requires_grad
    for saving in (lambda: made * x, lambda: gs.exp(x) * created):
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            saving()
    for writing in (lambda: made.add_(1), lambda: made.copy_(x), lambda: made.__setitem__(0, 1)):
        with pytest.raises(RuntimeError, match="outside InferenceMode is not allowed"):
            writing()
    with pytest.raises(RuntimeError, match="do not track version"):
        print(made._version)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True"):
        made.requires_grad_()
    with pytest.raises(RuntimeError, match="created in inference mode"):
        view.add_(1)


def test_inference_mode_decorates():
    @gs.inference_mode
    def bare():
        return gs.ones(1).is_inference()

    @gs.inference_mode()
    def called():
        return gs.ones(1).is_inference()

    assert bare()
    assert called()
    assert flags_after_an_op() == 0


def test_a_view_without_grad_of_a_leaf_is_a_leaf_that_asks_for_its_own():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.no_grad():
        view = x.view(2)
    assert (view.requires_grad, view.is_leaf, view.grad_fn) == (True, True, None)


def test_nothing_is_recorded_to_be_thrown_away() -> None:
    x = gs.ones(3, requires_grad=True)
    before = next_sequence_nr()
    for without in (gs.no_grad, gs.inference_mode):
        with without():
            y = gs.cat([(x * x).sin() + x, x]).sum()
        assert y.grad_fn is None
    assert next_sequence_nr() == before + 1
    with gs.no_grad(), gs.enable_grad():
        assert (x * x).grad_fn is not None
    assert next_sequence_nr() == before + 3
