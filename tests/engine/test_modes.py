"""Grad mode: nesting, decorators, generators, threads."""

import threading

import gradspec as gs
from gradspec.modes import mode


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
    assert mode.flags == 0


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
    assert mode.flags == 0


def test_a_thread_that_ends_in_no_grad_leaves_no_trace():
    def work():
        gs.set_grad_enabled(False)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert mode.flags == 0
    assert requires()
