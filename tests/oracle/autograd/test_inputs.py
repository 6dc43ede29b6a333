"""Passes that are for some tensors only, retained gradients, and what hooks see of both."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle

WRITES = ("mul_(2)", "floor_()", "zero_()", "copy_(3 * b)", "sin_()", "fill_(1.5)")
VIEWS = ("y", "y[0]", "y.t()", "y[..., 1:]", "y.view(-1)[:2]", "y.unsqueeze(0)")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_a_retained_gradient_is_that_of_what_was_written_through_a_view(torch, view, write):
    def behaviour(lib):
        x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = x * 2
        y.retain_grad()
        names = {"y": y, "b": lib.ones(1)}
        eval(f"{view}.{write}", names)
        (y * 3).sum().backward()
        return y.grad, x.grad

    assert_same(behaviour, torch)


def test_backward_with_a_result_among_inputs_runs_and_frees_its_node(torch):
    def behaviour(lib):
        log = []
        x = leaf(lib, 1.0, 2.0)
        y = x.exp()
        y.register_hook(lambda grad: log.append("tensor"))
        y.grad_fn.register_prehook(lambda grads: log.append("before"))
        y.grad_fn.register_hook(lambda into, out: log.append([g is None for g in into]))
        (y * 3).sum().backward(inputs=[y])
        return y.grad, x.grad, log, attempt(lambda: y.sum().backward())

    assert_same(behaviour, torch)


def test_backward_with_one_of_several_outputs_among_inputs_runs_the_node(torch):
    def behaviour(lib):
        log = []
        x = leaf(lib, 1.0, 2.0)
        first, second = lib.stack([x, x * 2]).unbind(0)
        first.grad_fn.register_hook(lambda into, out: log.append([g is None for g in into]))
        (first * 2 + second).sum().backward(inputs=[first])
        return first.grad, x.grad, log

    assert_same(behaviour, torch)


@pytest.mark.parametrize("create_graph", [True, False])
@pytest.mark.parametrize(
    "make", [lambda lib, x: x.chunk(2)[0], lambda lib, x: lib.var_mean(x)[1], lambda lib, x: x * 2]
)
def test_hooks_of_one_of_several_outputs_run_where_it_is_the_only_root(torch, make, create_graph):
    def behaviour(lib):
        log = []
        x, other = leaf(lib, 1.0, 3.0), leaf(lib, 2.0)
        y = make(lib, x)
        y.retain_grad()
        y.register_hook(lambda grad: log.append(grad.clone()))
        y.grad_fn.register_prehook(lambda grads: log.append("prehook"))
        weights = lib.ones_like(y) * 2
        options = {"allow_unused": True, "create_graph": create_graph}
        found = lib.autograd.grad(y, [other], weights, **options)
        both = lib.autograd.grad([y, y], [other], [weights, weights], **options)
        return found, both, log, y.grad

    assert_same(behaviour, torch)


def test_tensor_hooks_of_the_only_root_run_though_it_leads_to_no_input(torch):
    def behaviour(lib):
        log = []
        x, other = leaf(lib, 1.0), leaf(lib, 2.0)
        x.register_hook(lambda grad: log.append(grad.clone()))
        found = lib.autograd.grad(x.sum(), [other], allow_unused=True)
        again = lib.autograd.grad(x, [other], allow_unused=True)
        both = lib.autograd.grad([x, other], [other], allow_unused=True)
        return found, again, both, log

    assert_same(behaviour, torch)


def test_hooks_of_the_leaves_of_an_op_run_in_the_order_of_its_arguments(torch):
    def behaviour(lib):
        log = []
        leaves = [leaf(lib, 1.0, 2.0) for _ in range(3)]
        for name, x in zip("abc", leaves, strict=True):
            x.register_hook(lambda grad, name=name: log.append(name))
        a, b, c = leaves
        (a * b).sum().backward()
        lib.addcmul(c, a, b).sum().backward()
        lib.stack([b, c, a]).sum().backward()
        lib.autograd.backward([c, b, a], [lib.ones(2)] * 3)
        return log

    assert_same(behaviour, torch)


@pytest.mark.parametrize("call", ["T.ceil(x)", "T.sign(x)", "T.round(x)", "x**0", "T.trunc(x)"])
def test_no_graph_leads_through_a_gradient_that_is_zero_everywhere(torch, call):
    def behaviour(lib):
        x = leaf(lib, 1.2, -2.0)
        (grad,) = lib.autograd.grad(
            eval(call, {"x": x, "T": lib}).square().sum(), x, create_graph=True
        )
        return grad

    assert_same(behaviour, torch)


def test_a_hook_for_any_gradient_leaves_out_tensors_without_one(torch):
    def behaviour(lib):
        log = []
        x, constant = leaf(lib, 1.0), lib.ones(2)
        register = lib.autograd.graph.register_multi_grad_hook
        register([constant, x], lambda grad: log.append(grad.clone()), mode="any")
        register([constant], log.append, mode="any")
        (x * 3).sum().backward()
        refused = attempt(lambda: register([constant, x], log.append))
        return log, refused

    assert_same(behaviour, torch)


def test_a_view_made_in_inference_mode_is_an_input_that_is_not_used(torch):
    def behaviour(lib):
        x = leaf(lib, 1.0, 2.0)
        with lib.inference_mode():
            view = x[:1]
        grad = lib.autograd.grad
        unused = grad(x.sum(), [view], allow_unused=True)
        of_itself = attempt(lambda: grad(view.sum(), [view]))
        return unused, of_itself, attempt(lambda: grad(x.sum(), [view]))

    assert_same(behaviour, torch)


def test_a_function_of_several_outputs_does_not_modify_a_view(torch):
    def behaviour(lib):
        class Swap(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                y.mul_(3)
                ctx.mark_dirty(y)
                return y, x * 2

            @staticmethod
            def backward(ctx, first, second):
                return second * 2, first * 3

        x = leaf(lib, 1.0, 2.0)
        base = lib.ones(2, dtype=lib.float64)
        refused = attempt(lambda: Swap.apply(x, base.unsqueeze(0)))
        whole = Swap.apply(x, base)
        return refused, whole

    assert_same(behaviour, torch)


def test_what_a_function_returned_of_its_input_goes_stale_with_it(torch):
    def behaviour(lib):
        class Same(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad, grad

        base = lib.ones(2, dtype=lib.float64)
        out = Same.apply(base, leaf(lib, 1.0, 2.0))
        base.mul_(2)
        return attempt(lambda: out.grad_fn)

    assert_same(behaviour, torch)
