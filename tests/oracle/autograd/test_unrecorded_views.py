"""Views made without gradients, and what a write does to views: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def view_made_in(lib, mode, is_leaf=True):
    x = leaf(lib, 1.0, 2.0) if is_leaf else leaf(lib, 1.0, 2.0) * 1
    with getattr(lib, mode)():
        return x, x[:1]


MODES = pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])


@MODES
@pytest.mark.parametrize("is_leaf", [True, False])
def test_it_is_no_root_of_a_pass(torch, mode, is_leaf):
    def behaviour(lib):
        x, view = view_made_in(lib, mode, is_leaf)
        one = lib.ones(1, dtype=lib.float64)
        grad = lib.autograd.grad
        return [
            view.requires_grad,
            attempt(lambda: grad(view, x, one, allow_unused=True)),
            attempt(lambda: grad(view, view, one, allow_unused=True)),
            attempt(lambda: grad([view, x.sum()], x, [one, lib.tensor(1.0)])),
            attempt(lambda: view.backward(one)),
            attempt(lambda: grad((view * 2).sum(), x, allow_unused=True)),
        ]

    assert_same(behaviour, torch)


@MODES
def test_it_has_no_gradient_edge(torch, mode):
    def behaviour(lib):
        x, view = view_made_in(lib, mode)
        graph = lib.autograd.graph
        register = graph.register_multi_grad_hook
        return [
            attempt(lambda: graph.get_gradient_edge(view)),
            attempt(lambda: register([x, view], print)),
        ]

    assert_same(behaviour, torch)


@pytest.mark.parametrize(
    "write",
    [
        lambda lib, x, view: x.copy_(view),
        lambda lib, x, view: x.index_put_((lib.tensor([0, 1]),), view.clone()),
        lambda lib, x, view: x[:1].copy_(view[:1]),
    ],
)
def test_a_view_by_a_function_is_copied_to_its_base(torch, write):
    def behaviour(lib):
        class Part(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        start = leaf(lib, 1.0, 2.0)
        x = start * 1
        write(lib, x, Part.apply(x))
        x.sum().backward()
        return x, start.grad

    assert_same(behaviour, torch)


def test_ravel_copies_what_has_gaps(torch):
    def behaviour(lib):
        x = lib.ones(2, 6, dtype=lib.float64)[:, ::2].detach()
        return [t._is_view() and t._base is x for t in (x.ravel(), x.reshape(-1), x[0].ravel())]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_on_several_gradients_in_grad_by_leaves(torch, mode):
    def behaviour(lib):
        log = []
        x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
        register = lib.autograd.graph.register_multi_grad_hook
        register([x, w], lambda found: log.append(mode), mode=mode)
        y = x * w
        by_leaf = attempt(lambda: lib.autograd.grad(y.sum(), [w], retain_graph=True))
        by_leaves = attempt(lambda: lib.autograd.grad(y.sum(), [x, w], retain_graph=True))
        lib.autograd.grad(y.sum(), [y], retain_graph=True)
        lib.autograd.grad([w.sum()], [x], allow_unused=True)
        y.sum().backward(inputs=[w])
        return by_leaf, by_leaves, log, w.grad

    assert_same(behaviour, torch)


@pytest.mark.parametrize("first", [True, False])
def test_inputs_keep_gradients_up_to_the_one_that_is_refused(torch, first):
    def behaviour(lib):
        x, constant = leaf(lib, 1.0, 2.0) * 1, lib.ones(2)
        inputs = [x, constant] if first else [constant, x]
        refused = attempt(lambda: x.sum().backward(inputs=inputs))
        return refused, x.retains_grad

    assert_same(behaviour, torch)


def test_one_complex_number_and_its_real_part_overlap(torch):
    def behaviour(lib):
        x = lib.ones(2, dtype=lib.complex128)
        one = x[:1]
        return [
            attempt(lambda: one.copy_(one.real)),
            attempt(lambda: one.mul_(one.real)),
            attempt(lambda: one.real.copy_(one)),
            attempt(lambda: one.copy_(one)),
            attempt(lambda: one.real.copy_(one.imag)),
        ]

    assert_same(behaviour, torch)


@MODES
def test_it_takes_no_part_in_a_hook_on_any_gradient(torch, mode):
    def behaviour(lib):
        x, view = view_made_in(lib, mode)
        other = leaf(lib, 3.0, 4.0)
        seen = []
        register = lib.autograd.graph.register_multi_grad_hook
        register([lib.ones(2), view, other], lambda grad: seen.append(grad.tolist()), mode="any")
        (x * other).sum().backward()
        return seen

    assert_same(behaviour, torch)
