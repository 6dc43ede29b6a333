"""NumPy's functions called with tensors: its values, and gradients that flow through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

A = np.array([[0.2, 0.5, -0.3], [0.7, -0.1, 0.4]])
S = np.array([[2.0, 0.5], [0.25, 1.0]])

SMOOTH: dict[str, tuple[Any, np.ndarray[Any, Any]]] = {
    "sin": (np.sin, A),
    "arcsin": (np.arcsin, A),
    "exp": (np.exp, A),
    "add to an array": (lambda x: np.add(A, x), A),
    "array times": (lambda x: A * x, A),
    "array over": (lambda x: A / x, A),
    "power": (lambda x: np.power(x, 3), A),
    "arctan2": (lambda x: np.arctan2(x, 2 + A), A),
    "matmul": (lambda x: np.matmul(x, A.T), A),
    "array @": (lambda x: A.T @ x, A),
    "hypot": (lambda x: np.hypot(x, 1.0 + A), A),
    "sum": (np.sum, A),
    "sum over an axis": (lambda x: np.sum(x, axis=0), A),
    "sum that keeps": (lambda x: np.sum(x, axis=1, keepdims=True), A),
    "mean": (lambda x: np.mean(x, axis=(0, 1)), A),
    "var": (np.var, A),
    "std": (lambda x: np.std(x, axis=1, ddof=1), A),
    "prod": (lambda x: np.prod(x, axis=1), A),
    "max": (lambda x: np.max(x, axis=1), A),
    "median": (lambda x: np.median(x, axis=1), A),
    "cumsum": (np.cumsum, A),
    "cumsum over an axis": (lambda x: np.cumsum(x, axis=0), A),
    "sort": (lambda x: np.sort(x, axis=1), A),
    "concatenate": (lambda x: np.concatenate([x, 2 * x], axis=1), A),
    "stack": (lambda x: np.stack([x, x * x], axis=2), A),
    "vstack": (lambda x: np.vstack([x, x]), A),
    "where": (lambda x: np.where(A > 0, x, x * x), A),
    "clip": (lambda x: np.clip(x, -0.2, 0.45), A),
    "transpose": (np.transpose, A),
    "reshape": (lambda x: np.reshape(x, (3, 2)), A),
    "ravel": (np.ravel, A),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), A),
    "squeeze": (lambda x: np.squeeze(np.expand_dims(x, 1), axis=1), A),
    "repeat": (lambda x: np.repeat(x, 2, axis=1), A),
    "tile": (lambda x: np.tile(x, (2, 1)), A),
    "flip": (np.flip, A),
    "roll": (lambda x: np.roll(x, 1), A),
    "take": (lambda x: np.take(x, np.array([2, 0]), axis=1), A),
    "split": (lambda x: np.split(x, 3, axis=1)[1], A),
    "dot": (lambda x: np.dot(x, A.T), A),
    "tensordot": (lambda x: np.tensordot(x, A, axes=([1], [1])), A),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, x), A),
    "outer": (lambda x: np.outer(x[0], x[1]), A),
    "trace": (np.trace, S),
    "diag": (np.diag, S),
    "tril": (np.tril, S),
    "norm": (np.linalg.norm, A),
    "norm over an axis": (lambda x: np.linalg.norm(x, axis=1), A),
    "inv": (np.linalg.inv, S),
    "det": (np.linalg.det, S),
    "solve": (lambda x: np.linalg.solve(x, S), S),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, 3), S),
    "diff": (lambda x: np.diff(x, axis=1), A),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 1), A),
    "maximum": (lambda x: np.maximum(x, 0.1), A),
    "nan_to_num": (np.nan_to_num, A),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_values_are_numpys_and_a_gradient_flows(name: str) -> None:
    function, values = SMOOTH[name]
    x = gs.tensor(values, requires_grad=True)
    y = function(x)
    assert isinstance(y, gs.Tensor)
    wanted = function(values)
    np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=1e-12)
    weights = np.cos(np.arange(wanted.size, dtype=float)).reshape(wanted.shape)
    y.backward(gs.tensor(weights))
    h = 1e-6
    for place in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[place] = h
        slope = ((function(values + step) - function(values - step)) * weights).sum() / (2 * h)
        np.testing.assert_allclose(x.grad.numpy()[place], slope, rtol=1e-6, atol=1e-8)


PLAIN: dict[str, Any] = {
    "greater": lambda x: np.greater(x, 0),
    "array == tensor": lambda x: x == A,
    "isnan": np.isnan,
    "argmax": lambda x: np.argmax(x, axis=1),
    "argsort": lambda x: np.argsort(x, axis=1),
    "any": lambda x: np.any(x > 0.5, axis=0),
    "zeros_like": np.zeros_like,
    "round": lambda x: np.round(x, 1),
    "count_nonzero": lambda x: np.count_nonzero(x > 0),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_has_no_slope_is_numpys_too(name: str) -> None:
    found = PLAIN[name](gs.tensor(A))
    assert isinstance(found, gs.Tensor)
    np.testing.assert_allclose(found.numpy(), PLAIN[name](A))


def test_what_is_no_array_is_no_tensor() -> None:
    x = gs.tensor(A)
    assert np.shape(x) == (2, 3)
    assert (np.ndim(x), np.size(x)) == (2, 6)
    assert np.allclose(x, A)
    assert not np.array_equal(x, A + 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: np.add.reduce(x), r"np\.add\.reduce has no counterpart"),
        (lambda x: np.spacing(x), r"np\.spacing has no counterpart"),
        (lambda x: np.interp(x, [0, 1], [0, 1]), r"numpy\.interp has no counterpart"),
        (lambda x: np.sum(x, where=A > 0), "unexpected keyword argument|invalid combination"),
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
