"""Callbacks at the end of a pass, batches of cotangents, deleted attributes: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def queue(lib, callback):
    lib.autograd.Variable._execution_engine.queue_callback(callback)


def callbacks_in_order(lib):
    log = []
    x = leaf(lib, 1.0, 2.0)
    y = x * 2

    def last():
        log.append("last")

    def hook(grad):
        log.append("hook")
        queue(lib, lambda: (log.append((x.grad.tolist(), lib.is_grad_enabled())), queue(lib, last)))
        queue(lib, lambda: log.append("second"))

    y.register_hook(hook)
    y.sum().backward()
    return log


def callback_of_a_recorded_pass(lib):
    log = []
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda grad: queue(lib, lambda: log.append(lib.is_grad_enabled())))
    lib.autograd.grad(y.sum(), x, create_graph=True)
    return log


def callbacks_of_nested_passes(lib):
    log = []

    class Nested(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            queue(lib, lambda: log.append("outer"))
            with lib.enable_grad():
                y = leaf(lib, 1.0) * 2
                y.register_hook(lambda g: queue(lib, lambda: log.append("inner")))
                y.backward()
            log.append("backward")
            return grad

    Nested.apply(leaf(lib, 1.0, 2.0)).sum().backward()
    return log


def callback_that_fails(lib):
    y = leaf(lib, 1.0, 2.0) * 2
    y.register_hook(lambda grad: queue(lib, lambda: 1 / 0))
    return attempt(lambda: y.sum().backward())


def callback_of_a_pass_that_fails(lib):
    log = []
    y = leaf(lib, 1.0, 2.0) * 2

    def hook(grad):
        queue(lib, lambda: log.append("called"))
        raise ValueError

    y.register_hook(hook)
    return attempt(lambda: y.sum().backward()), log


def names(node):
    if node is None:
        return None
    return type(node).__name__, [names(next_node) for next_node, _ in node.next_functions]


def twice_differentiated(lib):
    class Once(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, number, w):
            ctx.save_for_backward(x, w)
            return x * w * number

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            return grad * w, None, grad * x

    x, w, seed = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0), leaf(lib, 1.0, 1.0)
    grads = lib.autograd.grad(Once.apply(x, 2, w), [x, w], seed, create_graph=True)
    return [
        names(grads[0].grad_fn),
        attempt(lambda: grads[0].sum().backward()),
        attempt(lambda: lib.autograd.grad(grads[0].sum(), seed, allow_unused=True)),
    ]


def batch_of(*shape):
    def behaviour(lib):
        x = lib.ones(2, 2, requires_grad=True)
        cotangents = lib.ones(*shape) if shape else lib.tensor(1.0)
        return lib.autograd.grad(x * 2, x, cotangents, is_grads_batched=True)

    return behaviour


def deleted(name):
    def behaviour(lib):
        x = lib.ones(2, requires_grad=True)
        x.grad = lib.ones(2)
        return attempt(lambda: delattr(x, name)), x.grad is None

    return behaviour


def dirty_outputs_lose_their_gradient(lib):
    class Swap(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            y.mul_(3)
            ctx.mark_dirty(y)
            return y, x * 2

        @staticmethod
        def backward(ctx, first, second):
            return second * 2, first * 3

    y = leaf(lib, 1.0, 2.0) * 1
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    constant = lib.ones(2, dtype=lib.float64)
    constant.grad = lib.ones(2, dtype=lib.float64)
    Swap.apply(lib.ones(2, dtype=lib.float64), y)
    Swap.apply(constant.clone(), constant)
    after = y.grad, constant.grad
    y.sum().backward()
    return after, y.retains_grad, y.grad


BEHAVIOURS = {
    **{
        behaviour.__name__: behaviour
        for behaviour in (
            callbacks_in_order,
            callback_of_a_recorded_pass,
            callbacks_of_nested_passes,
            callback_that_fails,
            callback_of_a_pass_that_fails,
            twice_differentiated,
            dirty_outputs_lose_their_gradient,
        )
    },
    "callback outside of a pass": lambda lib: queue(lib, print),
    **{f"batch of {shape}": batch_of(*shape) for shape in ((2, 2), (3, 2, 2), (3, 4), (2,), ())},
    **{f"del {name}": deleted(name) for name in ("data", "requires_grad", "grad", "is_leaf", "T")},
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
