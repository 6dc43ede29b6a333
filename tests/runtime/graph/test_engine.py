"""The backward pass: order, accumulation, release, depth."""

import gc
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.accumulate_grad import AccumulateGrad


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


def test_gradients_of_all_paths_are_summed():
    x = leaf(2.0)
    a = x * 3
    b = a * a + a + x
    b.backward()
    # b = 9x^2 + 3x + x
    assert x.grad.tolist() == [2 * 9 * 2.0 + 4]


def test_a_second_backward_adds_to_grad():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]
    assert x.grad is first


def test_first_gradients_of_two_leaves_do_not_share_memory():
    x, y = leaf(1.0), leaf(2.0)
    (x + y).backward(gs.tensor([1.0], dtype=gs.float64))
    x.grad.array[0] = 7.0
    assert y.grad.tolist() == [1.0]


def test_the_graph_is_freed_by_the_first_pass():
    x = leaf(1.0)
    y = gs.exp(x)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_saved_input_is_freed_too():
    x, w = leaf(1.0), leaf(3.0)
    y = x * w
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_retain_graph_allows_a_second_pass():
    x = leaf(1.0)
    y = gs.exp(x)
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.array, [2 * np.e])


def test_create_graph_gives_higher_derivatives():
    x = leaf(1.5)
    y = x**4
    (first,) = gs.autograd.grad(y, x, create_graph=True)
    (second,) = gs.autograd.grad(first, x, create_graph=True)
    (third,) = gs.autograd.grad(second, x)
    np.testing.assert_allclose(
        [first.item(), second.item(), third.item()], [4 * 1.5**3, 12 * 1.5**2, 24 * 1.5]
    )


def test_only_what_leads_to_the_inputs_runs():
    x, y = leaf(1.0), leaf(2.0)
    called = []
    a, b = x * 2, y * 3
    b.register_hook(lambda grad: called.append("b"))
    (grad,) = gs.autograd.grad(a * b, x)
    assert grad.tolist() == [12.0]
    assert called == ["b"] or called == []
    assert y.grad is None
    assert x.grad is None


def test_the_gradient_of_a_result_can_be_asked_for():
    x = leaf(3.0)
    y = x * x
    z = y * 5
    (grad,) = gs.autograd.grad(z, y)
    assert grad.tolist() == [5.0]


def test_nodes_run_most_recent_first():
    x = leaf(1.0)
    order = []
    a, b = x * 2, x * 3
    for name, tensor in (("a", a), ("b", b)):
        tensor.register_hook(lambda grad, name=name: order.append(name))
    (a + b).backward()
    assert order == ["b", "a"]


def test_next_functions_name_the_inputs():
    x = leaf(1.0)
    y = x * 2
    (first, second) = y.grad_fn.next_functions
    assert type(first[0]) is AccumulateGrad
    assert first[0].variable is x
    assert second == (None, 0)
    assert y.grad_fn.name() == "MulBackward0"


def test_accumulate_grad_keeps_the_leaf_reachable():
    x = leaf(1.0)
    y = x * 2
    del x
    (node, _), _ = y.grad_fn.next_functions
    again = node.variable
    y.backward()
    assert again.tolist() == [1.0]
    assert again.grad.tolist() == [2.0]


def test_a_dropped_graph_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0)
        y = gs.exp(x) * x
        watched = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
        y.backward()
        del x, y
        assert [ref() for ref in watched] == [None, None, None]
    finally:
        gc.enable()


def test_a_long_chain_needs_no_stack():
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y + x
    limit = sys.getrecursionlimit()
    y.backward()
    assert x.grad.tolist() == [200_001.0]
    assert sys.getrecursionlimit() == limit
    del y


def test_max_keeps_its_other_output_out_of_the_graph():
    x = leaf(1.0, 3.0, 2.0)
    values, indices = gs.max(x, 0)
    assert indices.requires_grad is False
    values.backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_a_node_with_several_outputs_gets_zeros_for_the_unused_ones():
    x = leaf(1.0, 2.0, 3.0)
    first, _, third = gs.unbind(x)
    (first * 10 + third).backward()
    assert x.grad.tolist() == [10.0, 0.0, 1.0]


def test_an_exception_in_a_hook_leaves_the_engine_usable():
    x = leaf(1.0)

    def fail(grad):
        raise ZeroDivisionError("on purpose")

    handle = x.register_hook(fail)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        (x * 2).backward()
    handle.remove()
    assert gs.is_grad_enabled()
    (x * 2).backward()
    assert x.grad.tolist() == [2.0]


def test_backward_may_be_called_inside_a_hook():
    x, w = leaf(2.0), leaf(3.0)
    y = x * x

    def inner(grad):
        with gs.enable_grad():
            (w * w).backward()

    y.register_hook(inner)
    y.backward()
    assert x.grad.tolist() == [4.0]
    assert w.grad.tolist() == [6.0]


def test_threads_have_graphs_of_their_own():
    found = []

    def work():
        x = leaf(2.0)
        for _ in range(50):
            (x * x).backward()
        found.append(x.grad.item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [200.0] * 4


def _views():
    y = gs.ones(8, requires_grad=True) * 1
    y[1:].mul_(2)
    y.view(2, 4)[0].add_(1)
    y.sum().backward()


def _in_place():
    (gs.ones(8, requires_grad=True) * 1).sin_().mul_(2).sum().backward()


def _hooks():
    x = gs.ones(8, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: grad * 2)
    y.retain_grad()
    y.grad_fn.register_hook(lambda *_: None)
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    y.sum().backward()


def _second_derivative():
    x = gs.ones(8, requires_grad=True)
    (slope,) = gs.autograd.grad((x**3).sum(), x, create_graph=True)
    slope.sum().backward()


@pytest.mark.parametrize("step", [_views, _in_place, _hooks, _second_derivative])
def test_memory_is_flat_without_the_garbage_collector(step):
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(500):  # in which tables of the interpreter may grow once
            step()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(2_000):
            step()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < 10_000  # five bytes a step; an object has sixteen at least
