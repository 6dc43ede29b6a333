"""Results of hooks, re-entrant passes, copies of graphs: the same in PyTorch."""

import copy

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def hooked(lib, hook, register="register_hook", on_leaf=False):
    """The gradient when this hook is on a result, or on the leaf."""
    x = leaf(lib, 1.0, 2.0)
    y = x * 3
    getattr(x if on_leaf else y, register)(hook)
    y.sum().backward()
    return x.grad


def node_hooked(lib, hook, register="register_hook"):
    x, w = leaf(lib, 1.0, 2.0), leaf(lib, 3.0, 4.0)
    y = x * w
    getattr(y.grad_fn, register)(hook)
    y.sum().backward()
    return x.grad, w.grad


def backward_in_hook(lib):
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    y = x * 3
    y.register_hook(lambda g: (w * w).sum().backward())
    y.sum().backward()
    return x.grad, w.grad


def same_graph_in_hook(lib):
    x, log = leaf(lib, 1.0), []
    y = x * x
    z = y * 2

    def hook(g):
        with lib.enable_grad():
            log.append(lib.autograd.grad(y.sum(), x, retain_graph=True)[0])

    z.register_hook(hook)
    z.sum().backward()
    return log, x.grad


def hook_raises(lib):
    x = leaf(lib, 1.0)
    y = x * 3
    handle = y.register_hook(lambda g: {}["nothing"])
    failed = attempt(lambda: y.sum().backward(retain_graph=True))
    handle.remove()
    y.sum().backward()
    return failed, x.grad


def handle_removed_twice(lib):
    x = leaf(lib, 1.0)
    handle = x.register_hook(lambda g: g * 2)
    handle.remove()
    handle.remove()
    (x * 3).backward()
    return x.grad


def retain_twice(lib):
    x = leaf(lib, 1.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    y.backward(retain_graph=True)
    first = y.grad * 1
    y.backward()
    return first, y.grad, y.retains_grad, x.retains_grad


def retain_of_leaf(lib):
    x = leaf(lib, 1.0)
    x.retain_grad()
    return x.retains_grad


def grad_of_a_result_not_retained(lib):
    y = leaf(lib, 1.0) * 3
    y.backward()
    return y.grad


def hooks_of_written(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * 3
    y.register_hook(lambda g: log.append(("before", g)))
    y.mul_(2)
    y.register_hook(lambda g: log.append(("after", g)))
    (y * 5).sum().backward()
    return log


def hooks_of_base_of_written(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * 3
    v = y[:1]
    v.register_hook(lambda g: log.append(("view", g)))
    y.register_hook(lambda g: log.append(("base", g)))
    v.mul_(2)
    (y * 5).sum().backward()
    return log, x.grad


def deep_copies(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 3).sum().backward()
    copied = copy.deepcopy(x)
    copied.data[0] = 7.0
    return x, copied, copied.grad, attempt(lambda: copy.deepcopy(x * 2)), copy.copy(x)


def node_identity(lib):
    x = leaf(lib, 1.0)
    y, z = x * 2, x * 3
    node = y.grad_fn.next_functions[0][0]
    return node is z.grad_fn.next_functions[0][0], y.grad_fn is y.grad_fn, node.variable is x


def accumulate_hooks(lib):
    x, log = leaf(lib, 1.0), []
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_prehook(lambda g: (g[0] * 10,))
    node.register_hook(lambda i, o: log.append((i, o)))
    (x * 2).backward()
    return x.grad, log


def set_grad_in_hook(lib):
    x = leaf(lib, 1.0)
    x.register_hook(lambda g: setattr(x, "grad", lib.ones(1).double() * 100))
    (x * 2).backward()
    return x.grad


def hooks_and_inputs(lib):
    x, w, log = leaf(lib, 1.0), leaf(lib, 2.0), []
    x.register_hook(lambda g: log.append("x"))
    w.register_hook(lambda g: log.append("w"))
    y = x * w
    y.register_hook(lambda g: log.append("y"))
    y.backward(inputs=[w])
    return log, x.grad, w.grad


def hooks_and_captured(lib):
    x, log = leaf(lib, 1.0), []
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    y.grad_fn.register_hook(lambda i, o: log.append("ran"))
    return lib.autograd.grad((y * 3).sum(), y), log


def hook_keeps_graph(lib):
    x = leaf(lib, 2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g, lib.autograd.grad(g.sum(), x)


def order_of_nodes(lib):
    x, log = leaf(lib, 1.0), []
    results = [x.exp(), x.sin(), x.cos()]
    for y in results:
        y.grad_fn.register_hook(lambda i, o, node=y.grad_fn: log.append(node.name()))
    total = results[2] + results[0] * results[1]
    total.sum().backward()
    return log


def saved_gradient(lib):
    """A gradient that an op has saved, and that another pass adds to."""
    x, w = leaf(lib, 1.0), leaf(lib, 2.0)
    (x * x).backward()
    z = w * x.grad
    (x * x).backward()
    return attempt(z.backward), x.grad


def recorded_gradient(lib):
    """A pass adds in place to what has a history."""
    x = leaf(lib, 1.0)
    x.grad = leaf(lib, 2.0) * 3
    (x * x).backward()
    return x.grad, x.grad._version


def gradient_that_requires_grad(lib):
    x = leaf(lib, 1.0)
    x.grad = leaf(lib, 3.0)
    (x * x).backward()
    return x.grad


def deleted_gradient(lib):
    x = leaf(lib, 1.0)
    (x * x).backward()
    del x.grad
    return x.grad


def own_gradient(lib):
    x = leaf(lib, 1.0)
    x.grad = x


def hook_on_detached(lib):
    x, log = leaf(lib, 1.0), []
    y = x * 2
    y.register_hook(lambda g: log.append(1))
    (y.detach() * x).sum().backward()
    return log, x.grad


def leaf_frozen_and_thawed(lib):
    seen = []
    x = leaf(lib, 1.0)
    handle = x.register_hook(lambda g: seen.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    x.requires_grad_(False).requires_grad_(True)
    (x * 2).backward()
    x.requires_grad = False
    x.requires_grad = True
    handle.remove()
    x.register_hook(lambda g: g * 5)
    (x * 2).backward()
    return seen, x.grad


def hooks_around_accumulation(lib):
    x = leaf(lib, 1.0, 2.0, 3.0)
    node = (x * 1).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g - 2.0)
    node.register_prehook(lambda grads: (grads[0] / 5.0,))
    x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(0.5))
    node.register_hook(lambda _, grads: setattr(x, "grad", grads[0] * 10))
    x.sum().backward()
    return x.grad


def memory_of_what_hooks_of_leaves_see(lib):
    shared = []
    x = leaf(lib, 1.0, 2.0)
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_hook(lambda _, grads: shared.append(grads[0].data_ptr() == x.grad.data_ptr()))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return shared


BEHAVIOURS = {
    "around accumulation": hooks_around_accumulation,
    "memory of what a leaf's hooks see": memory_of_what_hooks_of_leaves_see,
    "a leaf frozen and thawed": leaf_frozen_and_thawed,
    "answers None": lambda lib: hooked(lib, lambda g: None),
    "answers a tensor": lambda lib: hooked(lib, lambda g: g * 2),
    "answers a number": lambda lib: hooked(lib, lambda g: 3.0),
    "answers a tuple": lambda lib: hooked(lib, lambda g: (g,)),
    "answers another shape": lambda lib: hooked(lib, lambda g: g[:1]),
    "answers what broadcasts": lambda lib: hooked(lib, lambda g: g.sum()),
    "answers another dtype": lambda lib: hooked(lib, lambda g: g.float()),
    "answers integers": lambda lib: hooked(lib, lambda g: g.long()),
    "answers a tensor that requires grad": lambda lib: hooked(lib, lambda g: g * leaf(lib, 2.0)),
    "on a leaf": lambda lib: hooked(lib, lambda g: g * 2, on_leaf=True),
    "on a leaf, another dtype": lambda lib: hooked(lib, lambda g: g.float(), on_leaf=True),
    "on a leaf, another shape": lambda lib: hooked(lib, lambda g: g[:1], on_leaf=True),
    "of two arguments": lambda lib: hooked(lib, lambda g, h: g),
    "no function": lambda lib: hooked(lib, 3),
    "node: one answer": lambda lib: node_hooked(lib, lambda i, o: (i[0] * 2, i[1])),
    "node: too few": lambda lib: node_hooked(lib, lambda i, o: (i[0],)),
    "node: a tensor": lambda lib: node_hooked(lib, lambda i, o: i[0]),
    "node: a list": lambda lib: node_hooked(lib, lambda i, o: list(i)),
    "node: None inside": lambda lib: node_hooked(lib, lambda i, o: (None, i[1])),
    "node: a number inside": lambda lib: node_hooked(lib, lambda i, o: (3.0, i[1])),
    "node: another shape": lambda lib: node_hooked(lib, lambda i, o: (i[0][:1], i[1])),
    "node: another dtype": lambda lib: node_hooked(lib, lambda i, o: (i[0].float(), i[1])),
    "prehook": lambda lib: node_hooked(lib, lambda o: (o[0] * 2,), "register_prehook"),
    "prehook: too many": lambda lib: node_hooked(lib, lambda o: o + o, "register_prehook"),
    "prehook: a tensor": lambda lib: node_hooked(lib, lambda o: o[0], "register_prehook"),
    "prehook: None inside": lambda lib: node_hooked(lib, lambda o: (None,), "register_prehook"),
    "prehook: another shape": lambda lib: node_hooked(
        lib, lambda o: (o[0][:1],), "register_prehook"
    ),
    "a pass in a hook": backward_in_hook,
    "the same graph in a hook": same_graph_in_hook,
    "a hook that raises": hook_raises,
    "removed twice": handle_removed_twice,
    "retained twice": retain_twice,
    "retain_grad of a leaf": retain_of_leaf,
    "retain_grad without grad": lambda lib: lib.ones(1).retain_grad(),
    "grad of a result": grad_of_a_result_not_retained,
    "before and after a write": hooks_of_written,
    "of a view that is written": hooks_of_base_of_written,
    "deep copies": deep_copies,
    "identities": node_identity,
    "hooks of AccumulateGrad": accumulate_hooks,
    "grad set in a hook": set_grad_in_hook,
    "with inputs": hooks_and_inputs,
    "at what is asked for": hooks_and_captured,
    "recorded": hook_keeps_graph,
    "order of nodes": order_of_nodes,
    "of a detached": hook_on_detached,
    "a gradient that was saved": saved_gradient,
    "a gradient with a history": recorded_gradient,
    "a gradient that requires grad": gradient_that_requires_grad,
    "a gradient deleted": deleted_gradient,
    "its own gradient": own_gradient,
    "iteration": lambda lib: [row.grad_fn for row in leaf(lib, 1.0, 2.0)],
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
