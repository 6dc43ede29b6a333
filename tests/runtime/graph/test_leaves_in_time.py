"""Leaves get their gradients as soon as these are complete, as far as a program can see."""

import gc
import tracemalloc

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.node import Node, next_sequence_nr
from gradspec.fast.tuning import DEFER_LEAF_MAX
from tests.oracle.behaviours import assert_same, attempt, leaf


def late_failure(lib):
    """Two of four leaves are complete when the pass meets a node that was freed."""
    early, late, both, below = (leaf(lib, float(nr)) for nr in range(1, 5))
    freed = (below * both).exp()
    freed.sum().backward()
    below.grad = both.grad = None
    loss = (early * 2).sum() * (late.sin() * 3).sum() + freed.sum() + both.sum()
    return attempt(loss.backward), [x.grad for x in (early, late, both, below)]


def failure_beside_a_queue(lib):
    """The failing node is the last of several that wait."""
    x, y, z = leaf(lib, 1.0), leaf(lib, 2.0), leaf(lib, 3.0)
    freed = z.exp()
    freed.sum().backward()
    z.grad = None
    shared = x.cos()
    loss = (shared * y).sum() + (shared * shared).sum() + freed.sum() * 2
    return attempt(loss.backward), x.grad, y.grad, z.grad


def seen_by_a_tensor_hook(lib):
    leaves = [leaf(lib, float(nr)) for nr in range(1, 5)]
    a, b, c, d = leaves
    seen = []

    def look(grad):
        seen.append([x.grad for x in leaves])

    middle = a * b
    middle.register_hook(look)
    ((middle + c).sin() * d * c).sum().backward()
    return seen, [x.grad for x in leaves]


def seen_by_a_leaf_hook(lib):
    leaves = [leaf(lib, float(nr)) for nr in range(1, 4)]
    a, b, c = leaves
    seen = []
    b.register_post_accumulate_grad_hook(lambda x: seen.append([leaf.grad for leaf in leaves]))
    ((a * b).exp() * c).sum().backward()
    return seen, [x.grad for x in leaves]


def seen_by_a_function(lib):
    leaves = [leaf(lib, float(nr)) for nr in range(1, 4)]
    a, b, c = leaves
    seen = []

    class Look(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append([x.grad for x in leaves])
            return grad

    (Look.apply(a * b) * c + b.exp() * 2).sum().backward()
    return seen, [x.grad for x in leaves]


def numbers_set_by_hand(lib):
    """A node whose number is greater than those of its consumers still waits for them."""
    x, y = leaf(lib, 0.5), leaf(lib, 2.0)
    inner = x.exp()
    low, high = inner.sin(), inner.cos() * y
    inner.grad_fn._set_sequence_nr(10**9)
    low.grad_fn._set_sequence_nr(0)
    loss = (low * high).sum()
    wanted = lib.autograd.grad(loss, (x, inner), retain_graph=True)
    loss.backward()
    return wanted, x.grad, y.grad


def equal_numbers(lib):
    x, y = leaf(lib, 0.5), leaf(lib, 2.0)
    branches = [x.exp(), y.sin(), (x * y).cos()]
    for branch in branches:
        branch.grad_fn._set_sequence_nr(7)
    (branches[0] * branches[1] + branches[2]).sum().backward()
    return x.grad, y.grad


def used_twice_by_one_node(lib):
    x = leaf(lib, 2.0, 3.0)
    y = x.exp()
    z = y * y
    (z * z + y).sum().backward(retain_graph=True)
    first = x.grad.clone()
    (again,) = lib.autograd.grad(z.sum(), x, create_graph=True)
    return first, again, lib.autograd.grad(again.sum(), x)


def recorded_pass(lib):
    x, y = leaf(lib, 2.0), leaf(lib, 3.0)
    (x * x * y).sum().backward(create_graph=True)
    first = x.grad.detach(), y.grad.detach()
    return first, lib.autograd.grad(x.grad.sum(), (x, y))


def some_inputs_only(lib):
    """Nodes that lead to no input keep what they saved."""
    x, y, z = leaf(lib, 2.0), leaf(lib, 3.0), leaf(lib, 4.0)
    left, right = x.exp() * z, y.exp() * z
    loss = (left * right).sum()
    found = lib.autograd.grad(loss, y)
    return (
        found,
        attempt(right.sum().backward),
        attempt(left.sum().backward),
        x.grad,
        y.grad,
        z.grad,
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "behaviour",
    [
        late_failure,
        failure_beside_a_queue,
        seen_by_a_tensor_hook,
        seen_by_a_leaf_hook,
        seen_by_a_function,
        numbers_set_by_hand,
        equal_numbers,
        used_twice_by_one_node,
        recorded_pass,
        some_inputs_only,
    ],
)
def test_as_in_pytorch(behaviour, torch):
    assert_same(behaviour, torch)


def test_what_is_complete_before_a_failure_is_added():
    early, late = leaf(gs, 2.0), leaf(gs, 5.0)
    freed = late.exp()
    freed.sum().backward()
    late.grad = None
    with pytest.raises(RuntimeError, match="a second time"):
        ((early * 3).sum() + freed.sum()).backward()
    assert early.grad.tolist() == [3.0]
    assert late.grad is None


def test_the_failing_node_is_named_wherever_the_pass_is():
    x = leaf(gs, 1.0)
    y = x.exp()
    y.sum().backward()
    for hooked in (False, True):
        loss = (y * 2).sum()
        if hooked:
            loss.register_hook(lambda grad: None)
        with pytest.raises(RuntimeError) as caught:
            loss.backward()
        assert any("(ExpBackward0)" in note for note in caught.value.__notes__)


def test_large_gradients_are_not_held_until_the_end():
    """Gradients of large leaves are accumulated and freed one after the other."""
    count, size = 24, 2 * DEFER_LEAF_MAX
    leaves = [gs.tensor(np.ones(size), requires_grad=True) for _ in range(count)]
    for x in leaves:
        x.grad = gs.tensor(np.ones(size))
    total = gs.tensor(np.ones(size), requires_grad=True)
    for x in leaves:
        total = total + x * 2.0
    loss = total.sum()
    del total
    gc.collect()
    tracemalloc.start()
    loss.backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(x.grad.tolist() == [3.0] * size for x in leaves)
    assert peak < count / 3 * size * 8


class NothingBackward0(Node):
    """An op whose VJP is `None` has no gradient, though the result depends on the argument."""

    __slots__ = ()

    def apply(self, grad, needs):
        return (None,)

    apply_differentiable = apply


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_leaf_that_gets_no_gradient(create_graph):
    x, y = leaf(gs, 1.0), leaf(gs, 2.0)
    nothing = x.detach()
    nothing.grad_node = NothingBackward0()
    nothing.grad_node.next_nodes, nothing.grad_node.hooks = (x.grad_node,), None
    nothing.grad_node.sequence_nr = next_sequence_nr()
    (nothing * y).sum().backward(create_graph=create_graph)
    assert x.grad is None
    assert y.grad.tolist() == [1.0]
    found = gs.autograd.grad((nothing * y).sum(), (x, y), allow_unused=True)
    assert found[0] is None
    assert found[1].tolist() == [1.0]
