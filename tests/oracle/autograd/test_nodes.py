"""Nodes, edges and hooks: the same in PyTorch."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf, observe

pytestmark = pytest.mark.oracle


def names(node):
    return [
        (None if n is None else n.name().removeprefix("torch::autograd::"), nr)
        for n, nr in node.next_functions
    ]


def removed_while_running(lib):
    x, log = leaf(lib, 1.0), []
    handles = []
    handles.append(x.register_hook(lambda g: log.append("first") or handles[1].remove()))
    handles.append(x.register_hook(lambda g: log.append("second")))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return log


def added_while_running(lib):
    x, log = leaf(lib, 1.0), []

    def hook(g):
        log.append("outer")
        x.register_hook(lambda g: log.append("inner"))

    x.register_hook(hook)
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return log


def handle_as_context(lib):
    x = leaf(lib, 1.0)
    with x.register_hook(lambda g: g * 10):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    return x.grad


def hooks_before_and_after(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    y = x * 3
    n = y.grad_fn
    n.register_prehook(lambda g: log.append(("pre 1", g)))
    n.register_prehook(lambda g: (g[0] * 2,))
    n.register_prehook(lambda g: log.append(("pre 3", g)))
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: log.append(("tensor", g)))
    n.register_hook(lambda i, o: log.append(("post", i, o)))
    n.register_hook(lambda i, o: (i[0] * 5, i[1]))
    n.register_hook(lambda i, o: log.append(("post 2", i, o)))
    y.sum().backward()
    return log, x.grad


def hook_order_with_retain(lib):
    x = leaf(lib, 1.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda g: (g[0] * 7,))
    y.sum().backward()
    return y.grad, x.grad


def retain_before_in_place(lib):
    x = leaf(lib, 1.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.mul_(5)
    y.register_hook(lambda g: g * 100)
    y.sum().backward()
    return y.grad, x.grad


def post_accumulate(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    x.register_post_accumulate_grad_hook(lambda t: log.append(("one", t.grad * 1)))
    h = x.register_post_accumulate_grad_hook(lambda t: setattr(t, "grad", None))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("two", t.grad is None)))
    (x * 2 + x * 3).sum().backward()
    h.remove()
    (x * 2).sum().backward()
    return log, x.grad


def post_accumulate_answer_is_ignored(lib):
    x = leaf(lib, 1.0)
    x.register_post_accumulate_grad_hook(lambda t: t * 100)
    (x * 2).sum().backward()
    return x.grad


def post_accumulate_not_by_grad(lib):
    x, log = leaf(lib, 1.0), []
    x.register_post_accumulate_grad_hook(lambda t: log.append(1))
    lib.autograd.grad((x * 2).sum(), x)
    return log


def hook_in_grad(lib):
    x, log = leaf(lib, 1.0), []
    y = x * 2
    y.register_hook(lambda g: log.append("y"))
    x.register_hook(lambda g: g * 10)
    return lib.autograd.grad(y.sum(), x), lib.autograd.grad((x * y.detach()).sum(), x), log


def hook_sees_recorded(lib):
    x, log = leaf(lib, 2.0), []
    y = x * x
    y.register_hook(lambda g: log.append((g.requires_grad, lib.is_grad_enabled())))
    y.sum().backward(retain_graph=True)
    y.sum().backward(create_graph=True)
    return log


def hook_on_output_of_several(lib):
    x, log = leaf(lib, 1.0, 2.0, 3.0), []
    a, b, c = x.unbind()
    a.register_hook(lambda g: g * 10)
    c.register_hook(lambda g: log.append("c"))
    (a * 2 + b + c).backward()
    return x.grad, log, a.grad_fn is b.grad_fn, [t.output_nr for t in (a, b, c)]


def node_hook_of_several(lib):
    x, log = leaf(lib, 1.0, 2.0, 3.0), []
    parts = x.unbind()
    parts[0].grad_fn.register_prehook(lambda g: log.append([item is None for item in g]))
    parts[0].grad_fn.register_hook(lambda i, o: log.append((i, [t is None for t in o])))
    parts[1].backward()
    return log


def multi_all(lib):
    x, y, z = leaf(lib, 1.0), leaf(lib, 2.0), leaf(lib, 3.0)
    log = []
    lib.autograd.graph.register_multi_grad_hook((x, y, z), lambda gs_: log.append(list(gs_)))
    (x * y).sum().backward()
    (x * z).sum().backward()
    return log


def multi_any(lib):
    x, y = leaf(lib, 1.0), leaf(lib, 2.0)
    log = []
    h = lib.autograd.graph.register_multi_grad_hook(
        (x, y), lambda g: log.append(g.shape), mode="any"
    )
    (x * y).sum().backward()
    (y * 2).sum().backward()
    h.remove()
    (y * 2).sum().backward()
    return len(log)


def multi_of_results(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    a, b = x * 2, x * 3
    lib.autograd.graph.register_multi_grad_hook((a, b), lambda g: log.append(g))
    (a + b * 5).sum().backward()
    return log


def multi_same_twice(lib):
    x, log = leaf(lib, 1.0, 2.0), []
    lib.autograd.graph.register_multi_grad_hook((x, x), lambda g: log.append(g))
    (x * 5).sum().backward()
    return log


def next_nodes(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.exp()
    grad_node = lib.autograd.graph.get_gradient_edge(y)
    leaf_edge = lib.autograd.graph.get_gradient_edge(x)
    return (
        grad_node.node,
        grad_node.output_nr,
        leaf_edge.node,
        leaf_edge.output_nr,
        lib.autograd.grad(y.sum(), grad_node, retain_graph=True),
        lib.autograd.grad(y.sum(), leaf_edge, retain_graph=True),
        lib.autograd.grad(grad_node, x, grad_outputs=lib.ones(2, dtype=lib.float64)),
    )


def edge_of_several(lib):
    x = leaf(lib, 1.0, 2.0)
    a, b = x.unbind()
    grad_node = lib.autograd.graph.get_gradient_edge(b)
    return grad_node.output_nr, lib.autograd.grad((a * b * b), [grad_node, x])


def edge_made_by_hand(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    grad_node = lib.autograd.graph.GradientEdge(y.grad_fn, 0)
    return lib.autograd.grad((y * y).sum(), grad_node)


def edge_as_backward_input(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    (y * y).sum().backward(inputs=[lib.autograd.graph.get_gradient_edge(x)])
    return x.grad


def run_node(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * x
    g = lib.ones(2, dtype=lib.float64)
    return y.grad_fn(g), attempt(lambda: y.grad_fn(g, g)), attempt(lambda: y.grad_fn())


def metadata(lib):
    y = leaf(lib, 1.0) * 2
    y.grad_fn.metadata["a"] = 1
    return y.grad_fn.metadata, (y * 2).grad_fn.metadata


def freed_saved(lib):
    x = leaf(lib, 1.0)
    y = x.exp()
    before = y.grad_fn._saved_result
    y.sum().backward()
    return before, attempt(lambda: y.grad_fn._saved_result)


def saved_of_mul(lib):
    x, c = leaf(lib, 1.0), lib.tensor([4.0], dtype=lib.float64)
    n = (x * c).grad_fn
    return n._saved_self, n._saved_other


def options_of_nodes(lib):
    x = leaf(lib, 1.0, 2.0)
    return [
        x.sum(0).grad_fn._saved_dim,
        x.sum((0,)).grad_fn._saved_dim,
        x.amax(0).grad_fn._saved_dim,
        x.view(1, 2).select(1, 0).grad_fn._saved_dim,
        x.softmax(0).grad_fn._saved_dim,
    ]


def full_names_of_nodes(lib):
    x = leaf(lib, 1.0, 2.0)
    y, z = x * 1, x * 1
    y[0] = 2
    z.copy_(x)
    nodes = [y.grad_fn, z.grad_fn, x.view(2).grad_fn.next_functions[0][0], (x * 2).grad_fn]
    return [(node.name(), type(node).__name__) for node in nodes]


BEHAVIOURS = {
    "options": options_of_nodes,
    "full names": full_names_of_nodes,
    "next functions of a product": lambda lib: names((leaf(lib, 1.0) * leaf(lib, 2.0)).grad_fn),
    "a constant has no node": lambda lib: names((leaf(lib, 1.0) + lib.ones(1)).grad_fn),
    "of a sum of many": lambda lib: names(
        lib.cat([leaf(lib, 1.0), lib.ones(1).double(), leaf(lib, 2.0)]).grad_fn
    ),
    "of one of several": lambda lib: names((leaf(lib, 1.0, 2.0).unbind()[1] * 2).grad_fn),
    "of a leaf": lambda lib: names((leaf(lib, 1.0) * 2).grad_fn.next_functions[0][0]),
    "the variable of a leaf": lambda lib: (
        (leaf(lib, 5.0) * 2).grad_fn.next_functions[0][0].variable
    ),
    "removed while running": removed_while_running,
    "added while running": added_while_running,
    "a handle as context": handle_as_context,
    "before and after": hooks_before_and_after,
    "retained after hooks": hook_order_with_retain,
    "retained through in-place": retain_before_in_place,
    "post accumulate": post_accumulate,
    "post accumulate answers": post_accumulate_answer_is_ignored,
    "post accumulate and grad": post_accumulate_not_by_grad,
    "post accumulate of a result": lambda lib: (
        leaf(lib, 1.0) * 2
    ).register_post_accumulate_grad_hook(print),
    "post accumulate without grad": lambda lib: lib.ones(1).register_post_accumulate_grad_hook(
        print
    ),
    "hook without grad": lambda lib: lib.ones(1).register_hook(print),
    "hooks in grad": hook_in_grad,
    "hooks see recorded gradients": hook_sees_recorded,
    "hook of one output": hook_on_output_of_several,
    "node hook of several": node_hook_of_several,
    "multi all": multi_all,
    "multi any": multi_any,
    "multi of results": multi_of_results,
    "multi twice the same": multi_same_twice,
    "multi mode": lambda lib: lib.autograd.graph.register_multi_grad_hook(
        (leaf(lib, 1.0),), print, mode="x"
    ),
    "multi without grad": lambda lib: lib.autograd.graph.register_multi_grad_hook(
        (lib.ones(1),), print
    ),
    "next_nodes": next_nodes,
    "edge of one of several": edge_of_several,
    "edge made by hand": edge_made_by_hand,
    "edge without grad": lambda lib: lib.autograd.graph.get_gradient_edge(lib.ones(1)),
    "edge as backward input": edge_as_backward_input,
    "a node is called": run_node,
    "metadata": metadata,
    "saved values are freed": freed_saved,
    "saved values of a product": saved_of_mul,
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)


@pytest.mark.parametrize(
    "differs",
    [
        lambda lib: lib is gs,
        lambda lib: lib.ones(2) * (1 + (lib is gs)),
        lambda lib: lib.ones(2, requires_grad=lib is gs),
        lambda lib: lib.ones(2, dtype=lib.float64 if lib is gs else lib.float32),
        lambda lib: lib.ones(2)[3] if lib is gs else lib.ones(2) + "a",
    ],
)
def test_a_difference_is_noticed(torch, differs):
    with pytest.raises(AssertionError, match="in PyTorch"):
        assert_same(differs, torch)


def test_an_error_is_observed_by_its_type():
    assert observe(lambda lib: lib.ones(2)[3], gs) == "raises IndexError"
