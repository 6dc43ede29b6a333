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


PAIRS = {
    "dot": np.dot,
    "matmul": np.matmul,
    "inner": np.inner,
    "vdot": np.vdot,
    "outer": np.outer,
    "kron": np.kron,
    "cross": np.cross,
    "tensordot": np.tensordot,
    "einsum": lambda x, y: np.einsum("ij,jk->ik", x, y),
    "vecdot": np.vecdot,
    "matvec": lambda x, y: np.matvec(x, y[0]),
    "vecmat": lambda x, y: np.vecmat(x[0], y),
    "linalg.matmul": np.linalg.matmul,
    "linalg.vecdot": np.linalg.vecdot,
    "linalg.cross": np.linalg.cross,
    "linalg.multi_dot": lambda x, y: np.linalg.multi_dot([x, y, x]),
    "linalg.solve": np.linalg.solve,
    "linalg.lstsq": lambda x, y: np.linalg.lstsq(np.real(x), np.real(y))[0],
    "linalg.tensorsolve": lambda x, y: np.linalg.tensorsolve(x, y[0]),
}
SQUARE = np.array([[3, 1, 0], [1, 4, 2], [0, 2, 5]])
KINDS = (np.bool_, np.int64, np.float32, np.float64, np.complex64, np.complex128)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PAIRS)
def test_products_mix_dtypes_as_numpys_do(name: str, kind: type) -> None:
    other = np.triu(SQUARE + 2).astype(kind)
    found = PAIRS[name](gs.tensor(SQUARE.astype(np.float64)), other)
    wanted = PAIRS[name](SQUARE.astype(np.float64), other)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, atol=1e-6)
    turned = PAIRS[name](other, gs.tensor(SQUARE.astype(np.float64)))
    assert turned.dtype == PAIRS[name](other, SQUARE.astype(np.float64)).dtype


def test_a_gradient_flows_to_the_real_factor_of_a_complex_product() -> None:
    x = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=True)
    np.real(np.dot(x, np.array([2 + 1j, 3 - 1j]))).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "function",
    [
        *(np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky, np.linalg.eigh),
        *(np.linalg.eigvalsh, np.linalg.svd, np.linalg.qr, np.linalg.pinv, np.linalg.norm),
        np.linalg.cond,
    ],
)
def test_decompositions_of_integers_are_of_float64(function: Any) -> None:
    found, wanted = function(gs.tensor(SQUARE)), function(SQUARE)
    found, wanted = (each if isinstance(each, tuple) else (each,) for each in (found, wanted))
    for ours, numpys in zip(found, wanted, strict=True):
        assert ours.dtype == numpys.dtype == np.float64
        np.testing.assert_allclose(np.abs(ours.numpy()), np.abs(numpys), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("matrix", [SQUARE, SQUARE * 1.0, np.array([[0.0, 1.0], [-1.0, 0.0]])])
def test_eigenvalues_are_complex_where_those_of_numpy_are(matrix: Any) -> None:
    found, wanted = np.linalg.eig(gs.tensor(matrix)), np.linalg.eig(matrix)
    assert found.eigenvalues.dtype == wanted.eigenvalues.dtype
    assert found.eigenvectors.dtype == wanted.eigenvectors.dtype
    assert np.linalg.eigvals(gs.tensor(matrix)).dtype == np.linalg.eigvals(matrix).dtype
    assert np.roots(gs.tensor([1.0, -3.0, 2.0])).dtype == gs.float32


def test_argpartition_answers_with_places() -> None:
    found = np.argpartition(gs.tensor(A), 1, axis=1)
    assert isinstance(found, gs.Tensor)
    assert found.tolist() == np.argpartition(A, 1, axis=1).tolist()
    assert np.roots(gs.tensor([0.0, 0.0])).tolist() == []
    assert np.roots(gs.tensor([3.0, 0.0])).tolist() == [0.0]
    with pytest.raises(ValueError, match="rank-1"):
        np.roots(gs.tensor(A))


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.vstack, np.hstack])
def test_joins_cast_as_numpy_does(join: Any) -> None:
    parts = [np.ones((2, 2)), np.full((2, 2), 2.5)]
    tensors = [gs.tensor(part) for part in parts]
    for dtype, casting in ((np.float32, "same_kind"), (np.int64, "unsafe"), (None, "no")):
        found, wanted = (join(each, dtype=dtype, casting=casting) for each in (tensors, parts))
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    for each in (tensors, parts):
        with pytest.raises(TypeError, match="Cannot cast array data"):
            join(each, dtype=np.int64)
        with pytest.raises(TypeError, match="Cannot cast array data"):
            join(each, dtype=np.float32, casting="safe")
