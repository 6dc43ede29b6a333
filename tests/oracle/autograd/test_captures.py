"""The gradients that a pass captures, and the hooks that run meanwhile: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def as_lists(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def watch(log, name, tensor):
    """Hooks of every kind on a result and its node."""

    def on_grad(grad):
        log.append((name, "tensor", *as_lists([grad])))
        return None if grad is None else grad * 10

    def before(grads):
        log.append((name, "before", as_lists(grads)))
        return tuple(None if grad is None else grad * 2 for grad in grads)

    def after(grads, arrived):
        log.append((name, "after", as_lists(grads), as_lists(arrived)))

    tensor.register_hook(on_grad)
    tensor.grad_fn.register_prehook(before)
    tensor.grad_fn.register_hook(after)
    return tensor


def watch_leaf(log, name, tensor):
    """The same for a leaf; its node comes back too, as in PyTorch nothing else holds that."""

    def after(*_):
        log.append((name, "after", as_lists([tensor.grad])))

    tensor.register_hook(lambda grad: log.append((name, "tensor", *as_lists([grad]))))
    tensor.register_post_accumulate_grad_hook(lambda _: log.append((name, "accumulated")))
    accumulate = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: log.append((name, "before", as_lists(grads))))
    accumulate.register_hook(after)
    return tensor, accumulate


def capture(wanted):
    """The gradients of `x` and `h = 3 * x`, which has hooks, in some order."""

    def behaviour(lib):
        log = []
        x = leaf(lib, 1.0, 2.0)
        h = watch(log, "h", x * 3)
        h.retain_grad()
        places = {"x": x, "h": h}
        loss = (h**2).sum()
        return lib.autograd.grad(loss, [places[name] for name in wanted]), h.grad, log

    return behaviour


def capture_with_create_graph(lib):
    log = []
    x = leaf(lib, 1.0, 2.0)
    h = watch(log, "h", x * 3)
    grads = lib.autograd.grad((h**2).sum(), [h, x], create_graph=True)
    return grads, [lib.autograd.grad(grad.sum(), x, retain_graph=True) for grad in grads]


def capture_of_the_root(lib):
    log = []
    y = watch(log, "y", leaf(lib, 1.0, 2.0).exp())
    grads = lib.autograd.grad(y, y, lib.ones_like(y))
    return grads, attempt(lambda: y.sum().backward()), log


def capture_of_one_of_two_roots(lib):
    log = []
    x = leaf(lib, 1.0, 2.0)
    y, z = watch(log, "y", x.exp()), watch(log, "z", x.sin())
    grads = lib.autograd.grad([y, z], [y], [lib.ones_like(y), lib.ones_like(z)])
    return grads, [attempt(lambda t=t: t.sum().backward()) for t in (y, z)], log


def capture_of_nothing(lib):
    log = []
    x = leaf(lib, 1.0, 2.0)
    y, z = watch(log, "y", x.exp()), x.sin()
    return lib.autograd.grad(y.sum(), [z], allow_unused=True), log


def parts(lib):
    return (lib.arange(6.0, requires_grad=True) * 1).split(3)


def hooks_of_an_unused_output(lib):
    log = []
    first, second = parts(lib)
    for name, part in (("second", second), ("first", first)):
        part.register_hook(lambda grad, name=name: log.append((name, *as_lists([grad]))))
        part.retain_grad()
    first.grad_fn.register_prehook(lambda grads: log.append(as_lists(grads)))
    first.sum().backward()
    return log, first.grad, second.grad


def hook_that_answers_for_nothing(lib):
    first, second = parts(lib)
    second.register_hook(lambda grad: lib.ones(3))
    try:
        first.sum().backward()
    except RuntimeError as error:
        return "None" in str(error)
    return None


def captures_of_outputs(lib):
    log = []
    first, second = parts(lib)
    for part in (second, first):
        part.register_hook(lambda grad: log.append(as_lists([grad])))
        part.retain_grad()
    watch(log, "first", first)
    loss = (first * 2).sum() + (second * 3).sum()
    answers = [
        lib.autograd.grad(loss, wanted, retain_graph=True)
        for wanted in ([first, second], [second], [first, second, first])
    ]
    return answers, first.grad, second.grad, second.retains_grad, log


def outputs_as_roots(lib):
    log = []
    first, second = parts(lib)
    second.register_hook(lambda grad: log.append(as_lists([grad])))
    one = lib.ones(3)
    lib.autograd.grad(first, first, one, retain_graph=True)
    lib.autograd.grad(first, second, one, allow_unused=True, retain_graph=True)
    lib.autograd.grad([first, second], first, [one, one], retain_graph=True)
    first.backward(one, inputs=[first])
    return log, first.grad


def multi_grad_hooks_of_outputs(lib):
    log = []
    first, second = parts(lib)
    register = lib.autograd.graph.register_multi_grad_hook
    register([first, second], lambda grads: log.append(as_lists(grads)))
    register([second, first], lambda grad: log.append(as_lists([grad])), mode="any")
    first.sum().backward()
    return log


class NoneForTheSecond:
    """A function that answers no gradient for its second argument."""

    @staticmethod
    def of(lib):
        class Product(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

            @staticmethod
            def backward(ctx, grad):
                return grad, None

        return Product.apply


def hooks_where_no_gradient_arrives(lib):
    log = []
    product = NoneForTheSecond.of(lib)
    x = leaf(lib, 1.0, 2.0)
    h = watch(log, "h", x * 2)
    w, _node = watch_leaf(log, "w", leaf(lib, 1.0, 1.0))
    h.retain_grad()
    (product(x, h) + product(x, w)).sum().backward()
    return log, h.grad, w.grad, x.grad


def function_where_no_gradient_arrives(materializes):
    def behaviour(lib):
        log = []

        class Twice(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materializes)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, *grads):
                log.append(as_lists(grads))
                return grads[0]

        x = leaf(lib, 1.0, 2.0)
        first, _ = Twice.apply(x)
        w = leaf(lib, 1.0, 1.0)
        NoneForTheSecond.of(lib)(w, first).sum().backward()
        return log, x.grad, w.grad

    return behaviour


def edges_made_by_hand(lib):
    edge = lib.autograd.graph.GradientEdge
    first, second = parts(lib)
    node = first.grad_fn
    loss = (first * 2).sum() + (second * 3).sum()
    found = [lib.autograd.grad(loss, [edge(node, 1), edge(node, 0), second], retain_graph=True)]
    rows = (leaf(lib, 1.0, 2.0, 3.0) * 2).reshape(3, 1).unbind()
    loss = sum(row.sum() for row in rows) + (rows[1] * 3).sum()
    node = rows[0].grad_fn
    found.append(lib.autograd.grad(loss, [edge(node, 1), rows[1], edge(node, 2)]))
    q, r = lib.linalg.qr(lib.eye(3, dtype=lib.float64).requires_grad_() * 2)
    wanted = [edge(q.grad_fn, 1), r, edge(r.grad_fn, 0)]
    found.append(lib.autograd.grad(q.sum() + (r * 2).sum(), wanted))
    return found


def hooks_of_leaves_that_are_inputs(lib):
    log = []
    a, _node_of_a = watch_leaf(log, "a", leaf(lib, 1.0, 2.0))
    b, _node_of_b = watch_leaf(log, "b", leaf(lib, 3.0, 4.0))
    h = watch(log, "h", a * 2)
    loss = (h * b).sum()
    loss.backward(inputs=[b, a], retain_graph=True)
    loss.backward(inputs=[b], retain_graph=True)
    grads = lib.autograd.grad(loss, [a, b], retain_graph=True)
    loss.backward(inputs=[h, a])
    return log, a.grad, b.grad, h.grad, grads


def pass_to_a_result_only(lib):
    log = []
    a = leaf(lib, 1.0, 2.0)
    h = watch(log, "h", a * 2)
    k = h.exp()
    k.sum().backward(inputs=[h])
    return log, h.grad, a.grad, attempt(lambda: k.sum().backward())


def retained_with_create_graph(lib):
    x = leaf(lib, 1.0, 2.0)
    h = x * 2
    h.retain_grad()
    (h**2).sum().backward(create_graph=True)
    return h.grad, x.grad


BEHAVIOURS = {
    **{f"captures {wanted}": capture(wanted) for wanted in (["h"], ["x"], ["h", "x"], "xhh")},
    "a function without gradients, materialized": function_where_no_gradient_arrives(True),
    "a function without gradients": function_where_no_gradient_arrives(False),
    **{
        behaviour.__name__: behaviour
        for behaviour in (
            capture_with_create_graph,
            capture_of_the_root,
            capture_of_one_of_two_roots,
            capture_of_nothing,
            hooks_of_an_unused_output,
            hook_that_answers_for_nothing,
            captures_of_outputs,
            outputs_as_roots,
            multi_grad_hooks_of_outputs,
            hooks_where_no_gradient_arrives,
            edges_made_by_hand,
            hooks_of_leaves_that_are_inputs,
            pass_to_a_result_only,
            retained_with_create_graph,
        )
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
