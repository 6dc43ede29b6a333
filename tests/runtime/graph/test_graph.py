"""`autograd.graph`: edges, hooks on nodes and on what they save."""

import logging

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import graph
from gradspec.core.node import GraphRoot


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float64, requires_grad=True)


def record_hooks(library, x):
    """The order in which hooks of every kind run, and what those of the leaf see."""
    log = []
    y = x * 2
    y.register_hook(lambda grad: log.append("tensor"))
    y.grad_fn.register_prehook(lambda grads: log.append("node, before"))
    y.grad_fn.register_hook(lambda into, out: log.append("node, after"))
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: log.append(("leaf, before", x.grad is None)))
    accumulate.register_hook(lambda into, out: log.append(("leaf, after", into, x.grad is None)))
    x.register_hook(lambda grad: log.append("leaf tensor"))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t is x)))
    y.sum().backward()
    return log


def test_hooks_run_in_order():
    assert record_hooks(gs, leaf(1, 2)) == [
        "tensor",
        "node, before",
        "node, after",
        "leaf tensor",
        ("leaf, before", True),
        ("accumulated", True),
        ("leaf, after", (), False),
    ]


@pytest.mark.oracle
def test_hooks_run_in_torchs_order(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert record_hooks(gs, leaf(1, 2)) == record_hooks(torch, x)


@pytest.mark.parametrize(
    ("register", "error", "words"),
    [
        (lambda n: n.register_hook(lambda i, o: (i[0][:1], i[1])), RuntimeError, "changed the siz"),
        (lambda n: n.register_hook(lambda i, o: (i[0],)), RuntimeError, "got 1, but expected 2"),
        (lambda n: n.register_hook(lambda i, o: (i[0], i[0])), RuntimeError, "None gradient"),
        (lambda n: n.register_prehook(lambda o: o[0]), TypeError, "expected tuple"),
        (lambda n: n.register_prehook(lambda o: (3,)), TypeError, "'int'"),
    ],
)
def test_answers_of_node_hooks_are_checked(register, error, words):
    y = leaf(1, 2) * 2
    register(y.grad_fn)
    with pytest.raises(error, match=words):
        y.sum().backward()


def test_post_accumulate_hooks_are_for_leaves():
    x = leaf(1)
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        x.detach().register_post_accumulate_grad_hook(print)


def test_a_post_accumulate_hook_can_step():
    x = leaf(1)

    def step(parameter):
        with gs.no_grad():
            parameter -= parameter.grad
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.tolist() == [-2]
    assert x.grad is None


def test_a_node_can_be_called():
    x = leaf(2)
    y = x * x
    one = gs.ones(1, dtype=gs.float64)
    assert [grad.tolist() for grad in y.grad_fn(one)] == [[2], [2]]
    assert [grad.tolist() for grad in y.grad_fn.backward(one)] == [[2], [2]]
    with pytest.raises(TypeError, match="expected 1 arguments, got 2"):
        y.grad_fn(one, one)


def test_metadata_is_the_nodes_own():
    y = leaf(1) * 2
    y.grad_fn.metadata["who"] = "me"
    assert y.grad_fn.metadata == {"who": "me"}
    assert (y * 2).grad_fn.metadata == {}


def test_multi_grad_hooks():
    x, w = leaf(1, 2), leaf(3, 4)
    seen = []
    with graph.register_multi_grad_hook([x, w], seen.append):
        (x * 2).sum().backward()
        (x * w).sum().backward()
    (x * w).sum().backward()
    assert [[None if g is None else g.tolist() for g in grads] for grads in seen] == [
        [[2, 2], None],
        [[3, 4], [1, 2]],
    ]
    first = []
    handle = graph.register_multi_grad_hook([x, w], first.append, mode="any")
    (x * w).sum().backward()
    handle.remove()
    assert len(first) == 1
    with pytest.raises(ValueError, match="mode"):
        graph.register_multi_grad_hook([x], print, mode="some")


def test_gradient_edges_stand_for_tensors():
    x = leaf(3)
    y = x * x
    z = y.sum()
    grad_node = graph.get_gradient_edge(y)
    assert grad_node.node is y.grad_fn
    assert grad_node.output_nr == 0
    z_edge, x_edge = map(graph.get_gradient_edge, (z, x))
    (grad,) = gs.autograd.grad(z_edge, grad_node)
    assert grad.tolist() == [1]
    gs.autograd.backward(grad_node, gs.tensor([10.0], dtype=gs.float64), inputs=[x_edge])
    assert x.grad.tolist() == [60]
    with pytest.raises(RuntimeError, match="does not require"):
        graph.get_gradient_edge(x.detach())


def test_the_edge_of_one_of_several_outputs():
    x = leaf(1, 2)
    first, second = x.unbind()
    grad_node = graph.get_gradient_edge(second)
    assert grad_node.output_nr == 1
    (grad,) = gs.autograd.grad((first * second * 3).sum(), grad_node)
    assert grad.tolist() == 3
    gs.autograd.backward(grad_node, gs.tensor(1.0, dtype=gs.float64))
    assert x.grad.tolist() == [0, 1]


def test_a_node_that_did_not_run_is_not_freed():
    x = leaf(2)
    y = x * x
    gs.autograd.grad(y.sum(), y)
    y.backward()
    assert x.grad.tolist() == [4]


def test_saved_tensors_go_through_the_hooks():
    x, w = leaf(1, 2), leaf(3, 4)
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.numpy(force=True).copy()

    with graph.saved_tensors_hooks(pack, gs.from_numpy):
        y = gs.exp(x * w)
        z = y.sum()
    assert sorted(packed[:2]) == [[1, 2], [3, 4]]
    assert len(packed) == 3
    x.data.zero_()
    z.backward(retain_graph=True)
    z.backward()
    np.testing.assert_allclose(w.grad.array, 2 * np.exp([3, 8]) * [1, 2])
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


def test_packed_values_have_second_derivatives():
    x = leaf(0.5)
    with graph.save_on_cpu():
        y = gs.exp(x) * x
    (first,) = gs.autograd.grad(y, x, create_graph=True)
    (second,) = gs.autograd.grad(first, x)
    np.testing.assert_allclose(second.array, np.exp(0.5) * 2.5)


def test_custom_functions_are_packed_too():
    class Square(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2

    x = leaf(3)
    with graph.saved_tensors_hooks(lambda t: t.detach() * 10, lambda t: t):
        y = Square.apply(x)
    y.backward()
    assert x.grad.tolist() == [60]


def test_an_unpack_hook_must_answer_a_tensor():
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = gs.exp(leaf(1))
    with pytest.raises(TypeError, match="got result of type int"):
        y.backward()


def test_saved_tensors_on_disk(tmp_path):
    x = leaf(1, 2)
    with graph.save_on_disk(tmp_path):
        y = (x**3).sum()
    assert list(tmp_path.iterdir())
    y.backward()
    assert x.grad.tolist() == [3, 12]
    del y
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("pack", "unpack"), [(1, lambda x: x), (lambda x: x, None)])
def test_what_is_no_function_is_no_hook(pack, unpack):
    with pytest.raises(TypeError, match="hook must be callable"):
        graph.saved_tensors_hooks(pack, unpack).__enter__()
    x = gs.tensor([2.0], requires_grad=True)
    x.exp().backward()  # the hooks were not set
    assert x.grad is not None


def test_saved_tensor_hooks_can_be_forbidden():
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_saved_tensors_may_be_modified_where_that_is_allowed():
    x = leaf(1, 2)
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.sin_()
        z.backward()
        with (
            pytest.raises(RuntimeError, match="nested"),
            graph.allow_mutation_on_saved_tensors(),
        ):
            pass
    assert x.grad.tolist() == [2, 4]


def test_a_counted_write_by_other_means():
    x = leaf(1)
    y = x * x
    graph.increment_version(x)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        y.backward()


def test_batched_cotangents():
    x = leaf(1, 2, 3)
    (jacobian,) = gs.autograd.grad(
        x * x, x, grad_outputs=gs.eye(3, dtype=gs.float64), is_grads_batched=True
    )
    assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with pytest.raises(RuntimeError, match="batch of cotangents"):
        gs.autograd.grad((x * x).sum(), x, is_grads_batched=True)


def test_nodes_log_at_level_debug(caplog):
    y = (leaf(1, 2) * 2).sum()
    with caplog.at_level(logging.DEBUG, logger="gradspec.autograd.graph"):
        y.backward(retain_graph=True)
    said = [record.getMessage() for record in caplog.records]
    assert [text.split()[1] for text in said] == [
        "SumBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    assert said[1].endswith("with [float64[2]]")
    caplog.clear()
    y.backward()
    assert not caplog.records


def test_the_engine_has_its_old_names():
    variable = gs.autograd.variable
    x = leaf(2)
    engine = variable.Variable._execution_engine
    assert isinstance(engine, variable.ImperativeEngine)
    assert isinstance(x, gs.autograd.Variable)
    y = x * x
    (grad,) = engine.run_backward((y,), (None,), False, False, (x,), allow_unreachable=True)
    assert grad.tolist() == [4]
    assert engine.run_backward((), (), False, False) == ()
    (again,) = graph._engine_run_backward((x * x,), (None,), False, False, (x,))
    assert again.tolist() == [4]
    assert gs.autograd.Variable(x.detach(), requires_grad=True).requires_grad


def test_the_vertex_above_several_roots():
    x = gs.tensor(2.0, requires_grad=True)
    doubled, tripled = x * 2, x * 3
    root = GraphRoot([doubled.grad_fn, tripled.grad_fn, x.grad_node])
    assert root.name() == "GraphRoot"
    assert root.next_functions == ((doubled.grad_fn, 0), (tripled.grad_fn, 0), (x.grad_node, 0))
    assert root.sequence_nr > tripled.grad_fn.sequence_nr
    grads = tuple(map(gs.tensor, (1.0, 10.0, 100.0)))
    assert [grad.item() for grad in root(*grads)] == [1, 10, 100]


def test_roots_of_which_one_is_below_another_and_one_is_twice():
    x = gs.tensor(2.0, requires_grad=True)
    below = x * 2
    above = below * 5
    seen = []
    below.register_hook(lambda grad: seen.append(grad.tolist()))
    grads = [gs.tensor(1.0), gs.tensor(10.0), gs.tensor(100.0), gs.tensor(1.0)]
    gs.autograd.backward([above, below, x, above], grads)
    assert seen == [5 + 10 + 5]
    assert x.grad.item() == 2 * 20 + 100
