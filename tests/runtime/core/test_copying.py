"""Copies of tensors and modules are leaves of their own."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual

COPIES = [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_leaf(duplicate, requires_grad):
    x = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=requires_grad)
    y = duplicate(x)
    assert y.tolist() == [1.0, 2.0]
    assert y.dtype == np.float64
    assert y.requires_grad is requires_grad
    assert y.is_leaf
    assert not np.shares_memory(x.array, y.array)


@pytest.mark.parametrize("duplicate", COPIES)
def test_gradients_go_to_the_copy(duplicate):
    first = nn.Linear(2, 1)
    first(gs.ones(1, 2)).sum().backward()
    second = duplicate(first)
    assert second.weight.grad is None  # as of any parameter's copy in PyTorch
    second(gs.ones(1, 2) * 2).sum().backward()
    assert first.weight.grad.tolist() == [[1.0, 1.0]]
    assert second.weight.grad.tolist() == [[2.0, 2.0]]
    assert isinstance(second.weight, nn.Parameter)


def test_a_tensor_in_two_places_stays_one():
    x = gs.ones(2)
    first, second = copy.deepcopy([x, x])
    assert first is second


def test_shallow_copy_shares_memory():
    x = gs.ones(2, requires_grad=True)
    y = copy.copy(x)
    assert np.shares_memory(x.array, y.array)
    y.sum().backward()
    assert x.grad is None


def test_results_have_no_deep_copy():
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(gs.ones(2, requires_grad=True) * 2)


@pytest.mark.parametrize("duplicate", [copy.copy, COPIES[1]])
def test_results_become_leaves(duplicate):
    result = gs.ones(2, requires_grad=True) * 2
    result.note = "kept"
    y = duplicate(result)
    assert (y.tolist(), y.requires_grad, y.is_leaf, y.note) == ([2.0, 2.0], True, True, "kept")


class Marked(gs.Tensor):
    """A subclass that pickle finds."""


@pytest.mark.parametrize("duplicate", [copy.copy, *COPIES])
def test_subclasses_stay(duplicate):
    x = gs.ones(2).as_subclass(Marked).requires_grad_()
    x.note = ["kept"]
    y = duplicate(x)
    assert type(y) is Marked
    assert (y.tolist(), y.requires_grad, y.is_leaf, y.note) == ([1.0, 1.0], True, True, ["kept"])


@pytest.mark.parametrize("duplicate", COPIES)
def test_kinds_of_parameters_and_buffers_stay(duplicate):
    kinds = [nn.Parameter, nn.Buffer, nn.UninitializedParameter, nn.UninitializedBuffer]
    given = [nn.Parameter(gs.ones(1)), nn.Buffer(gs.ones(1)), kinds[2](), kinds[3]()]
    for kind, kept in zip(kinds, duplicate(given), strict=True):
        assert isinstance(kept, kind)
    assert isinstance(duplicate(nn.LazyLinear(2)).weight, nn.UninitializedParameter)


@pytest.mark.parametrize("duplicate", COPIES)
def test_tensors_on_one_memory_stay_so(duplicate):
    x = gs.arange(6.0)
    z = gs.tensor([1 + 2j, 3])
    given = [x, x[1:3], x.view(2, 3).t(), x[:2].expand(3, 2), z, z.imag]
    whole, part, turned, repeated, numbers, parts = duplicate(given)
    assert [tensor.array.strides for tensor in (turned, repeated)] == [(4, 12), (0, 4)]
    whole.fill_(9.0)
    assert part.tolist() == [9.0, 9.0]
    assert turned.tolist() == [[9.0, 9.0], [9.0, 9.0], [9.0, 9.0]]
    assert repeated.tolist() == [[9.0, 9.0]] * 3
    parts.zero_()
    assert numbers.tolist() == [1, 3]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert z.tolist() == [1 + 2j, 3]


def test_memory_of_others_is_copied():
    array = np.arange(4.0)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        shared = gs.from_numpy(array)
    whole, part = copy.deepcopy([shared, shared[1:]])
    assert (whole.tolist(), part.tolist()) == ([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert not np.shares_memory(part.array, array)


@pytest.mark.parametrize("duplicate", [*COPIES, copy.copy])
def test_a_tangent_is_left_out(duplicate):
    with dual_level():
        dual = make_dual(gs.tensor([1.0, 2.0]), gs.ones(2))
        copied = duplicate(dual)
        assert unpack_dual(copied).tangent is None
        assert copied.tolist() == [1.0, 2.0]
        assert unpack_dual(dual).tangent.tolist() == [1.0, 1.0]
