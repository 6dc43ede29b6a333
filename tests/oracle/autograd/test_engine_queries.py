"""Questions of frameworks to the engine while a pass runs (`_C`): as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def answers(lib, ask, run=lambda out: out.backward()):
    """Return the answers of `ask` in a hook on the middle of three ops."""
    seen = []
    x, other = leaf(lib, 0.5), leaf(lib, 2.0)
    middle = (x * other).sin()
    middle.register_hook(lambda grad: seen.append(attempt(lambda: ask(x, other, middle))))
    run(middle.cos().exp().sum())
    return seen


def node_of(leaf):
    return leaf.view_as(leaf).grad_fn.next_functions[0][0]


def passes(lib):
    numbers = answers(lib, lambda *_: lib._C._current_graph_task_id())
    numbers += answers(lib, lambda *_: lib._C._current_graph_task_id())
    return numbers[1] - numbers[0], lib._C._current_graph_task_id()


def running_node(lib):
    running = []
    x = leaf(lib, 2.0)

    def unpack(tensor):
        running.append(lib._C._current_autograd_node().name())
        return tensor

    with lib.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        y = x.sin() * 3.0
    y.sum().backward()
    return running, lib._C._current_autograd_node()


def order(lib, make):
    """The order as a hook of the root sees it: PyTorch fails at any other node."""
    seen = []
    x, other = leaf(lib, 0.5), leaf(lib, 2.0)
    out = make(x, other)
    out.register_hook(lambda grad: seen.append(lib._C._current_graph_task_execution_order()))
    with lib.autograd.set_multithreading_enabled(False):
        out.backward()
    return seen


def executed(lib, run):
    def ask(x, other, middle):
        nodes = (node_of(x), node_of(other), middle.grad_fn, (x * other).grad_fn)
        return [attempt(lambda n=n: lib._C._will_engine_execute_node(n)) for n in nodes]

    return answers(lib, ask, run)


def by_inputs(lib):
    x, other = leaf(lib, 0.5), leaf(lib, 2.0)
    middle = x * other
    seen = []

    def ask(grad):
        for node in (node_of(x), node_of(other), middle.grad_fn):
            seen.append(attempt(lambda n=node: lib._C._will_engine_execute_node(n)))

    out = middle.sin()
    out.register_hook(ask)
    out.sum().backward(inputs=[x], retain_graph=True)
    lib.autograd.grad(out.sum(), [x])
    return seen


def roots_of_several(lib):
    x = leaf(lib, 1.0)
    b = x * 2
    outs = [each.sum() for each in (b.sin(), b.cos(), b.exp())]
    seen = []
    outs[2].register_hook(lambda g: seen.append(lib._C._current_graph_task_execution_order()))
    with lib.autograd.set_multithreading_enabled(False):
        lib.autograd.grad(outs, [x])
    return seen


def delayed_error(lib):
    def message(function):
        try:
            function()
        except RuntimeError as error:
            return "Boom" in str(error)
        return None

    x, y = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
    safe = lib._C._functions.DelayedError("Boom", 1)(y)
    out = x.clone().view(-1)
    out += safe
    return (
        message(lambda: out.sum().backward(retain_graph=True)),
        message(lambda: lib.autograd.grad(out.sum(), [y], retain_graph=True)),
        lib.autograd.grad(out.sum(), [x], retain_graph=True),
        lib.autograd.grad(out.sum(), [x, safe]),
    )


def undefined_gradient(lib):
    class Sees(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad)
            return grad

    seen = []
    x = leaf(lib, 1.0)
    lib._C._functions.UndefinedGrad()(Sees.apply(x)).sum().backward()
    return seen, x.grad


def switches(lib):
    hooks = lib._C._autograd._saved_tensors_hooks_is_enabled
    with lib.autograd.graph.disable_saved_tensors_hooks("no"):
        inside = hooks()
    with lib.no_grad():
        grads = lib._C.is_grad_enabled()
    return inside, hooks(), grads, lib._C.is_grad_enabled()


def weak_reference(lib):
    x = leaf(lib, 1.0)
    reference = lib._C._WeakTensorRef(x)
    before = reference.expired()
    del x
    return before, reference.expired()


def kinds(lib):
    x = leaf(lib, 1.0)
    y = x.exp()
    return (
        isinstance(node_of(x), lib._C._functions.AccumulateGrad),
        isinstance(y.grad_fn._raw_saved_result, lib._C._autograd.SavedTensor),
    )


BEHAVIOURS = {
    "passes are numbered": passes,
    "the node that runs": running_node,
    "the order of a path": lambda lib: order(lib, lambda x, _: x.sin().exp().sum()),
    "the order of branches": lambda lib: order(lib, lambda x, y: (x.sin() * (x * y).cos()).sum()),
    "the order for an input": roots_of_several,
    "what runs": lambda lib: executed(lib, lambda out: out.backward()),
    "what runs for inputs": by_inputs,
    "asked of a tensor": lambda lib: answers(
        lib, lambda x, *_: lib._C._will_engine_execute_node(x)
    ),
    "asked outside of a pass": lambda lib: lib._C._will_engine_execute_node(leaf(lib, 1.0).exp()),
    "order outside of a pass": lambda lib: lib._C._current_graph_task_execution_order(),
    "an error that waits": delayed_error,
    "no gradient": undefined_gradient,
    "switches": switches,
    "a weak reference": weak_reference,
    "kinds of nodes": kinds,
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)


def test_a_version_is_set_by_hand():
    import gradspec as gs

    x = gs.ones(2, requires_grad=True).clone()
    x.add_(1)
    gs._C._autograd._unsafe_set_version_counter(x, 0)
    assert x._version == 0
    with pytest.raises(RuntimeError, match="Cannot set"):
        gs._C._autograd._unsafe_set_version_counter(x, -1)
