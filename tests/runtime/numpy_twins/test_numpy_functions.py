"""NumPy's functions called with tensors: its values, and gradients that flow through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

A = np.array([[0.2, 0.5, -0.3], [0.7, -0.1, 0.4]])


def test_what_is_no_array_is_no_tensor() -> None:
    x = gs.tensor(A)
    assert np.shape(x) == (2, 3)
    assert (np.ndim(x), np.size(x)) == (2, 6)
    assert np.allclose(x, A)
    assert not np.array_equal(x, A + 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: np.add.at(x, 0, 1.0), r"np\.add\.at has no counterpart"),
        (lambda x: np.subtract.reduce(x), r"np\.subtract\.reduce has no counterpart"),
        (
            lambda x: np.isnat(x),
            r"np\.isnat has no counterpart.*, as there are no tensors of dates",
        ),
        (lambda x: np.putmask(x, A > 0, 1.0), r"numpy\.putmask has no counterpart.*, as it writes"),
        (lambda x: np.partition(x, 1), r"numpy\.partition has no counterpart.*np\.sort"),
        (lambda x: np.sum(x, where=A > 0), "unexpected keyword argument 'where'; leave these out"),
        (lambda x: np.sum(x, 0, None, None, True), "positional argument"),
        (lambda x: np.pad(x, 1, mode="median"), "does not know mode='median'"),
        (lambda x: np.add(x, x, where=A > 0), "does not take 'where'"),
        (lambda x: np.add(A, x, out=A.copy()), "cannot be written"),
    ],
)
def test_what_has_no_counterpart_is_refused_with_advice(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call(gs.tensor(A))


def test_in_place_operators_of_arrays_are_refused() -> None:
    array = A.copy()
    with pytest.raises(TypeError, match="cannot be written to an array"):
        array += gs.tensor(A)


def test_methods_of_arrays() -> None:
    x = gs.tensor([1.5, 2.5], requires_grad=True)
    copied, cast = x.copy(), x.astype("float64")
    assert copied.data_ptr() != x.data_ptr()
    assert cast.dtype == gs.float64
    assert x.astype(gs.float32, copy=False) is x
    assert x.astype(gs.float32) is not x
    (copied * 2 + cast * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5.0, 5.0]


def test_array_copies() -> None:
    made = gs.array([[1, 2]], dtype=gs.float64)
    again = gs.array(made)
    again[0, 0] = 7
    assert made.tolist() == [[1.0, 2.0]]
    assert gs.array(np.float32(3)).dtype == gs.float32
