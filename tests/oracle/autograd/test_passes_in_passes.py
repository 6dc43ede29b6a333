"""Passes inside of passes, deep graphs, the order of nodes, and what follows a failed pass."""

import threading

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def nested(lib, depth):
    """A function whose backward runs a pass, which runs one, and so on."""

    class Nested(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with lib.enable_grad():
                inner = x.detach().requires_grad_()
                result = Nested.apply(inner, ctx.depth - 1) if ctx.depth else inner * 3
                (slope,) = lib.autograd.grad(result.sum(), inner)
            return grad * slope, None

    return lambda x: Nested.apply(x, depth)


def five_deep(lib):
    x = leaf(lib, 1.0, 2.0)
    nested(lib, 5)(x).sum().backward()
    return x.grad


def into_the_same_leaf(lib):
    x = leaf(lib, 2.0)

    def again(grad):
        with lib.enable_grad():
            (x * 10).sum().backward()

    y = x * 3
    y.register_hook(again)
    y.sum().backward()
    return x.grad


def in_a_leaf_hook(lib):
    x, z = leaf(lib, 2.0), leaf(lib, 5.0)
    x.register_hook(lambda g: (z * z).sum().backward())
    (x * 3).sum().backward()
    return x.grad, z.grad


def that_fails_inside(lib):
    x = leaf(lib, 2.0)

    def fails(grad):
        raise KeyError("inside")

    def inner(grad):
        z = leaf(lib, 1.0)
        w = z * 2
        w.register_hook(fails)
        w.sum().backward()

    y = x * 3
    y.register_hook(inner)
    first = attempt(lambda: y.sum().backward())
    (x * 4).sum().backward()
    return first, x.grad


def caught_inside(lib):
    x = leaf(lib, 2.0)

    def inner(grad):
        return grad * (2 if attempt(lambda: leaf(lib, 1.0, 2.0).backward()) else 3)

    y = x * 3
    y.register_hook(inner)
    y.sum().backward()
    return x.grad


def deep_chain(lib):
    x = leaf(lib, 1.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.sum().backward()
    return x.grad


def deep_chain_of_custom_functions(lib):
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = leaf(lib, 1.0)
    y = x
    for _ in range(3000):
        y = Same.apply(y)
    y.sum().backward()
    del y
    return x.grad


def wide_sum(lib):
    x = leaf(lib, 1.0)
    sum(x * i for i in range(500)).sum().backward()
    return x.grad


def later_nodes_first(lib):
    log = []
    x = leaf(lib, 1.0)
    a = x * 2
    b = x * 3
    c = a * 5
    for name, each in (("a", a), ("b", b), ("c", c)):
        each.register_hook(lambda g, name=name: log.append(name))
    (b + c).sum().backward()
    return log


def order_of_two_roots(lib):
    log = []
    x = leaf(lib, 1.0)
    a = x * 2
    b = x * 3
    a.register_hook(lambda g: log.append("a"))
    b.register_hook(lambda g: log.append("b"))
    lib.autograd.backward([a, b], [lib.ones(1, dtype=lib.float64)] * 2)
    return log, x.grad


def a_root_that_leads_to_another(lib):
    x = leaf(lib, 1.0)
    a = x * 2
    b = a * 3
    lib.autograd.backward([b, a], [lib.ones(1, dtype=lib.float64)] * 2)
    return x.grad


def a_root_given_twice(lib):
    x = leaf(lib, 1.0)
    a = (x * 2).sum()
    lib.autograd.backward([a, a])
    return x.grad


def second_pass_without_retaining(lib):
    x = leaf(lib, 1.0)
    y = (x * x).sum()
    y.backward()
    words = ""
    try:
        y.backward()
    except RuntimeError as error:
        words = str(error)
    return "retain_graph=True" in words, "second time" in words, x.grad


def second_pass_through_what_saves_nothing(lib):
    x = leaf(lib, 1.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    return x.grad


def second_pass_over_a_shared_part(lib):
    x = leaf(lib, 1.0)
    shared = x.exp()
    (shared * 2).sum().backward()
    return attempt(lambda: (shared * 3).sum().backward())


def second_pass_along_what_was_not_needed(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = (x.exp() * w).sum()
    y.backward(inputs=[w])
    return w.grad, attempt(lambda: y.backward()), x.grad


def retained_for_some_inputs(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = (x.exp() * w).sum()
    first = lib.autograd.grad(y, w, retain_graph=True)
    return first, lib.autograd.grad(y, x)


def inner_result_as_input(lib):
    x = leaf(lib, 2.0)
    h = x * 3
    y = (h * h).sum()
    return lib.autograd.grad(y, [h, x, y])


def inner_result_in_backward(lib):
    x = leaf(lib, 2.0)
    h = x * 3
    (h * h).sum().backward(inputs=[h])
    return h.grad, x.grad


def empty_inputs(lib):
    x = leaf(lib, 2.0)
    return attempt(lambda: (x * x).sum().backward(inputs=[]))


def input_that_does_not_require_grad(lib):
    x = leaf(lib, 2.0)
    other = lib.ones(1)
    return (
        attempt(lambda: lib.autograd.grad(x.sum(), other)),
        attempt(lambda: lib.autograd.grad(x.sum(), other, allow_unused=True)),
        attempt(lambda: x.sum().backward(inputs=[other])),
    )


def unused_inputs(lib):
    x, z = leaf(lib, 2.0), leaf(lib, 1.0)
    grad = lib.autograd.grad
    return (
        attempt(lambda: grad((x * 2).sum(), [x, z])),
        grad((x * 2).sum(), [x, z], allow_unused=True),
        grad((x * 2).sum(), [x, z], materialize_grads=True),
        attempt(lambda: grad((x * 2).sum(), z, allow_unused=False, materialize_grads=True)),
    )


def one_input_twice(lib):
    x = leaf(lib, 2.0)
    return lib.autograd.grad((x * x).sum(), [x, x])


def cotangents_of_wrong_shapes(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    return [
        attempt(lambda g=g: y.backward(g))
        for g in (
            lib.ones(3, dtype=lib.float64),
            lib.ones(1, dtype=lib.float64),
            lib.ones(2, 1, dtype=lib.float64),
            None,
            lib.ones(2, dtype=lib.complex128),
            1.0,
        )
    ]


def cotangent_of_another_dtype(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 2).backward(lib.ones(2))
    return x.grad


def cotangent_that_requires_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    v = leaf(lib, 3.0, 4.0)
    (slope,) = lib.autograd.grad(x * x, x, v, create_graph=True)
    return slope, lib.autograd.grad(slope.sum(), [x, v])


def several_cotangents_of_which_one_is_none(lib):
    x = leaf(lib, 1.0, 2.0)
    lib.autograd.backward([x.sum(), x * 3], [None, lib.ones(2, dtype=lib.float64)])
    return x.grad, attempt(lambda: lib.autograd.backward([x * 2, x.sum()], [None, None]))


def numbers_of_cotangents(lib):
    x = leaf(lib, 1.0)
    return (
        attempt(lambda: lib.autograd.grad([x.sum(), x.sum()], x, [None])),
        attempt(lambda: lib.autograd.grad(lib.ones(1), x)),
        attempt(lambda: lib.ones(1).backward()),
        attempt(lambda: lib.tensor([1]).sum().backward()),
    )


def complex_loss(lib):
    x = lib.ones(2, dtype=lib.complex128, requires_grad=True)
    return attempt(lambda: (x * 1j).sum().backward()), attempt(
        lambda: (x * x).abs().sum().backward()
    )


def two_threads(lib):
    x = leaf(lib, 1.0, 2.0)

    def work():
        (x * x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return x.grad


def grad_mode_of_a_thread(lib):
    seen = []
    with lib.no_grad():
        thread = threading.Thread(target=lambda: seen.append(lib.is_grad_enabled()))
        thread.start()
        thread.join()
    return seen


def callbacks_at_the_end(lib):
    log = []
    x = leaf(lib, 1.0)

    def hook(grad):
        queue = lib.autograd.Variable._execution_engine.queue_callback
        queue(lambda: log.append("end"))
        log.append("hook")

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda g: log.append("leaf"))
    y.sum().backward()
    return log


BEHAVIOURS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "nested"
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.__name__)
def test_pass(torch, behaviour):
    assert_same(behaviour, torch)
