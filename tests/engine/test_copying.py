"""Copies of tensors and modules are leaves of their own."""

import copy
import pickle

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn

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
    assert second.weight.grad.tolist() == [[1.0, 1.0]]
    second(gs.ones(1, 2)).sum().backward()
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


@pytest.mark.parametrize("duplicate", COPIES)
def test_results_are_refused(duplicate):
    with pytest.raises(RuntimeError, match="graph leaves"):
        duplicate(gs.ones(2, requires_grad=True) * 2)
