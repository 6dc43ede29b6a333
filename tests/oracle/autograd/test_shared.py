"""Shared arrays of constants: nothing done to one tensor shows in another, as in PyTorch."""

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same, attempt, leaf


def written_number(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 7.0
    number = y.grad_fn._saved_other
    is_kept = y.grad_fn._saved_other is number
    number.fill_(1.0)
    return is_kept, (x * 7.0).tolist(), attempt(lambda: y.sum().backward())


def number_that_requires_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    (x * 7.0).grad_fn._saved_other.requires_grad_()
    return (lib.ones(2) * 7.0).requires_grad


def number_written_to_through_another_node(lib):
    x = leaf(lib, 1.0, 2.0)
    first, second = x / 3.0, x / 3.0
    for count in range(2000):  # more numbers than anybody remembers
        x * (count + 0.5)
    first.grad_fn._saved_other.fill_(1.0)
    second.sum().backward()
    return x.grad


def number_in_a_second_gradient(lib):
    x = leaf(lib, 1.0, 2.0)
    (grad,) = lib.autograd.grad((x * 5.0).prod(), x, create_graph=True)
    node = grad.grad_fn
    if hasattr(node, "_saved_other") and node._saved_other.ndim == 0:
        node._saved_other.fill_(0.0)
    return (x * 5.0).tolist()


def number_seen_by_a_hook(lib):
    seen = []
    x = leaf(lib, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(
        lambda tensor: (seen.append(list(tensor.shape)), tensor)[1], lambda packed: packed
    ):
        y = x * 7.0 + x**3.0 + lib.lerp(x, x, 0.5)
    y.sum().backward()
    return seen, x.grad


def gradients_that_were_retained(lib):
    x = leaf(lib, 1.0, 2.0)
    first, second = x * 2, x * 3
    first.retain_grad()
    second.retain_grad()
    (first + second).sum().backward()
    first.grad.mul_(5)
    return first.grad, second.grad, x.grad


@pytest.mark.oracle
@pytest.mark.parametrize(
    "behaviour",
    [
        written_number,
        number_that_requires_grad,
        number_written_to_through_another_node,
        number_in_a_second_gradient,
        number_seen_by_a_hook,
        gradients_that_were_retained,
    ],
)
def test_as_in_pytorch(torch, behaviour):
    assert_same(behaviour, torch)


def test_the_array_of_a_number_is_read_only():
    node = (leaf(gs, 1.0) * 7.0).grad_fn
    assert not node.saved_other.array.flags.writeable
    assert node._saved_other.array.flags.writeable
