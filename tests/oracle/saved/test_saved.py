"""Saved values, before and after they are freed: the same in PyTorch."""

from functools import partial

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def matrix(lib):
    return lib.arange(6.0, dtype=lib.float64).reshape(2, 3).requires_grad_(True)


def indices_of_topk_written_to(lib):
    values, indices = leaf(lib, 3.0, 1.0, 2.0).topk(2)
    indices.add_(0)
    return attempt(lambda: values.sum().backward())


def indices_of_max_written_to(lib):
    x = matrix(lib)
    values, indices = x.max(1)
    indices.zero_()
    return attempt(lambda: values.sum().backward()), x.grad


def indices_of_sort_written_to_through_a_view(lib):
    values, indices = leaf(lib, 3.0, 1.0, 2.0).sort()
    indices[0] = 1
    return attempt(lambda: values.sum().backward())


def indices_of_max_pool_written_to(lib):
    image = lib.arange(4.0).reshape(1, 2, 2).requires_grad_(True)
    values, indices = lib.nn.functional.max_pool2d(image, 2, return_indices=True)
    indices.zero_()
    return attempt(lambda: values.sum().backward())


def indices_read_after_the_pass(lib):
    values, indices = leaf(lib, 3.0, 1.0, 2.0).sort()
    node = values.grad_fn
    before = node._saved_indices
    values.sum().backward()
    return before, indices, attempt(lambda: node._saved_indices)


def indices_go_through_saved_tensor_hooks(lib):
    seen = []

    def pack(tensor):
        seen.append(tensor.dtype == lib.int64)
        return tensor

    x = leaf(lib, 3.0, 1.0, 2.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        values, _ = x.sort()
    values[0].backward()
    return seen, x.grad


def numbers_are_not_packed(lib):
    seen = []

    def pack(tensor):
        seen.append(list(tensor.shape))
        return tensor

    x = leaf(lib, 3.0)
    with lib.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = x * 2 + x / 3 + lib.tensor(4.0, dtype=lib.float64) * x
    y.backward()
    return seen, x.grad


def input_of_qr_written_to(lib, shape):
    x = (lib.arange(6.0, dtype=lib.float64) ** 2 + 1).view(shape).requires_grad_(True)
    y = x * 1
    q, r = lib.linalg.qr(y)
    y.zero_()
    (q.sum() + r.sum()).backward()
    return x.grad


def hooks_replace_what_was_saved(lib):
    """The gradient is that at the replaced value, also of ops that compute some of it ahead."""
    found = []
    functions = [lib.nn.functional.silu, lib.nn.functional.gelu, lib.sin, lib.cos]
    functions.append(lambda x: lib.nn.functional.gelu(x, approximate="tanh"))
    for function in functions:
        for size in (2, 1000):
            x = (lib.arange(float(size), dtype=lib.float64) / size + 1).requires_grad_(True)
            with lib.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda packed: packed):
                y = function(x)
            z = function(x)
            z.grad_fn._raw_saved_self.register_hooks(lambda t: t * 3, lambda packed: packed)
            (y.sum() + z.sum()).backward()
            found.append(x.grad[-2:].clone())
    return found


BEHAVIOURS = [
    hooks_replace_what_was_saved,
    indices_of_topk_written_to,
    indices_of_max_written_to,
    indices_of_sort_written_to_through_a_view,
    indices_of_max_pool_written_to,
    indices_read_after_the_pass,
    indices_go_through_saved_tensor_hooks,
    numbers_are_not_packed,
    partial(input_of_qr_written_to, shape=(3, 2)),
    partial(input_of_qr_written_to, shape=(2, 3)),
]


@pytest.mark.parametrize(
    "behaviour", BEHAVIOURS, ids=lambda function: getattr(function, "__name__", "qr")
)
def test_behaviour(torch, behaviour):
    assert_same(behaviour, torch)
