"""Targets that hold classes, in integers so narrow that negative numbers could pass for classes."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec.nn import functional

CLASSES = 300


def log_probabilities() -> gs.Tensor:
    rows = np.random.default_rng(0).normal(size=(3, CLASSES))
    return gs.tensor(rows, requires_grad=True)


def test_an_ignored_class_of_one_byte_is_ignored() -> None:
    """-100 is 156 as an unsigned byte, which would be a class."""
    rows = log_probabilities()
    loss = functional.nll_loss(rows, gs.tensor(np.array([5, -100, 7], np.int8)), reduction="sum")
    loss.backward()
    assert loss.item() == -rows[0, 5].item() - rows[2, 7].item()
    expected = np.zeros((3, CLASSES))
    expected[[0, 2], [5, 7]] = -1
    assert rows.grad is not None
    np.testing.assert_array_equal(rows.grad.numpy(), expected)


def test_a_negative_class_of_one_byte_is_refused() -> None:
    with pytest.raises(IndexError, match="Target -1 is out of bounds"):
        functional.nll_loss(log_probabilities(), gs.tensor(np.array([5, -1, 7], np.int8)))
