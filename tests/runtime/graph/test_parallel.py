"""Passes in several threads: off by default, the same to the bit when on."""

import threading

import numpy as np
import pytest

import gradspec as gs

LARGE = 2**17


@pytest.fixture
def parallel():
    gs.autograd.set_parallel(2)
    yield
    gs.autograd.set_parallel(1)


def branches(seed, count=6):
    """A sum of branches that share a leaf; large enough for the pool."""
    rng = np.random.default_rng(seed)
    x = gs.from_numpy(rng.normal(size=LARGE)).requires_grad_()
    total = sum((x * factor).sin().exp() for factor in range(1, count))
    return x, total


def gradient(seed):
    x, total = branches(seed)
    total.sum().backward()
    return x.grad.numpy()


def watch(monkeypatch, node, seen):
    """Note the thread in which the VJP of a node runs."""
    kind = type(node)
    apply = kind.apply

    def noting(self, grad, needs):
        seen.append(threading.current_thread().name)
        return apply(self, grad, needs)

    monkeypatch.setattr(kind, "apply", noting)


def test_it_is_off_by_default():
    assert gs.autograd.get_parallel() == 1


def test_results_are_the_same_to_the_bit(parallel):
    gs.autograd.set_parallel(1)
    expected = gradient(0)
    gs.autograd.set_parallel(2)
    for _ in range(5):
        np.testing.assert_array_equal(gradient(0), expected)


def test_heavy_nodes_run_in_the_pool_and_light_ones_do_not(parallel, monkeypatch):
    seen = []
    watch(monkeypatch, gs.ones(1, requires_grad=True).exp().grad_fn, seen)
    gradient(1)
    assert any(name.startswith("gradspec-backward") for name in seen)
    seen.clear()
    x = gs.ones(3, requires_grad=True)
    (x.exp() + (2 * x).exp()).sum().backward()
    assert set(seen) == {threading.current_thread().name}


def test_grad_of_inputs(parallel):
    x, total = branches(2)
    y = x * 1
    (of_x,) = gs.autograd.grad((total + y).sum(), x)
    gs.autograd.set_parallel(1)
    x, total = branches(2)
    (expected,) = gs.autograd.grad((total + x * 1).sum(), x)
    np.testing.assert_array_equal(of_x.numpy(), expected.numpy())


def test_hooks_run_in_the_calling_thread(parallel):
    x, total = branches(3)
    seen = []
    x.register_hook(lambda grad: seen.append(threading.current_thread()))
    total.grad_fn.register_hook(lambda *_: seen.append(threading.current_thread()))
    total.sum().backward()
    assert seen == [threading.current_thread()] * 2


def test_a_pass_in_a_hook(parallel):
    x, total = branches(4)
    inner, inner_total = branches(5)
    inner_loss = inner_total.sum()
    total.register_hook(lambda grad: inner_loss.backward())
    total.sum().backward()
    assert inner.grad is not None
    assert x.grad is not None


def test_a_failure_names_the_op_and_leaves_the_engine_usable(parallel, monkeypatch):
    kind = type(gs.ones(1, requires_grad=True).exp().grad_fn)

    def fail(self, grad, needs):
        raise ArithmeticError("no")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "apply", fail)
        _, total = branches(6)
        with pytest.raises(ArithmeticError, match="no") as caught:
            total.sum().backward()
        assert "in the gradient of the op 'exp' (ExpBackward0)" in caught.value.__notes__
    assert gradient(7).shape == (LARGE,)


def test_a_graph_is_freed_and_noticed(parallel):
    _, total = branches(8)
    loss = total.sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_create_graph_runs_as_ever(parallel):
    x = gs.tensor(2.0, requires_grad=True)
    (slope,) = gs.autograd.grad(x**3, x, create_graph=True)
    (second,) = gs.autograd.grad(slope, x)
    assert second.item() == pytest.approx(12.0)


def test_the_number_of_threads_is_positive():
    with pytest.raises(ValueError, match="positive number of threads"):
        gs.autograd.set_parallel(0)
