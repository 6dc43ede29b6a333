"""Factorizations whose gradients or dtypes PyTorch has otherwise: values, and what is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..behaviours import assert_same

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("upper", [False, True])
def test_factors(upper: bool) -> None:
    """PyTorch's gradient of the half that is read; the other half counts for nothing here."""
    import torch

    import gradspec as gs

    half = np.triu if upper else np.tril
    rng = np.random.default_rng(0)
    factor = half(rng.uniform(0.5, 2.0, (2, 3, 3)))
    right = rng.uniform(-1.0, 1.0, (2, 3, 2))
    for name in ("cholesky_inverse", "cholesky_solve"):
        answers = []
        for lib in (gs, torch):
            x, b = lib.tensor(factor, requires_grad=True), lib.tensor(right, requires_grad=True)
            leaves = [x] if name == "cholesky_inverse" else [b, x]
            found = getattr(lib, name)(*leaves, upper)
            (first,) = lib.autograd.grad((found**2).sum(), x)
            answers.append((np.asarray(found.detach().numpy()), half(first.numpy())))
        for mine, theirs in zip(*answers, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)


COMPLEX: dict[str, Callable[[Any, Any], Any]] = {
    "det": lambda lib, a: lib.linalg.det(a),
    "slogdet": lambda lib, a: list(lib.linalg.slogdet(a)),
    "inv": lambda lib, a: lib.linalg.inv(a),
    "solve": lambda lib, a: lib.linalg.solve(a, a[:, :1] * 1j),
    "solve_triangular": lambda lib, a: lib.linalg.solve_triangular(a, a[:, :1], upper=True),
    "pinv": lambda lib, a: lib.linalg.pinv(a[:, :1]),
    "cholesky": lambda lib, a: [lib.linalg.cholesky(a @ a.mH, upper=up) for up in (False, True)],
    "eigvalsh": lambda lib, a: lib.linalg.eigvalsh(a @ a.mH),
    "singular values": lambda lib, a: lib.linalg.svdvals(a),
    "parts of svd": lambda lib, a: _product(lib.linalg.svd(a, full_matrices=False)),
    "old svd": lambda lib, a: (lambda u, s, v: u * s @ v.mH)(*lib.svd(a)),
    "product of qr": lambda lib, a: (lambda q, r: q @ r)(*lib.linalg.qr(a)),
    "lu": lambda lib, a: list(lib.linalg.lu(a)),
    "lu_solve": lambda lib, a: [
        lib.linalg.lu_solve(*lib.linalg.lu_factor(a), a * 1j, left=left, adjoint=adjoint)
        for left in (False, True)
        for adjoint in (False, True)
    ],
}


def _product(parts: Any) -> Any:
    u, s, vh = parts
    return (u * s) @ vh


@pytest.mark.parametrize("name", COMPLEX)
def test_values_of_complex_matrices(name: str) -> None:
    import torch

    import gradspec as gs

    matrix = np.array([[2 + 1j, 0.5 - 0.3j, 0.1], [0.2, 1.5 - 1j, 0.4j], [0.3j, -0.2, 3.0]])
    mine, theirs = (COMPLEX[name](lib, lib.tensor(matrix)) for lib in (gs, torch))
    mine, theirs = (x if isinstance(x, list) else [x] for x in (mine, theirs))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.resolve_conj().numpy(), rtol=1e-10, atol=1e-12)
        assert str(a.dtype) == str(b.dtype).removeprefix("torch.")


N = float("nan")
WITH_NAN = {
    "in the first pivot": [[N, 1.0], [1.0, 1.0]],
    "beside it": [[1.0, N], [1.0, 1.0]],
    "below it": [[1.0, 1.0], [N, 1.0]],
    "in the last one": [[1.0, 1.0], [1.0, N]],
    "in all": [[N, N], [N, N]],
    "in the middle": [[2.0, 1.0, 0.0], [1.0, N, 1.0], [0.0, 1.0, 3.0]],
    "beside a zero": [[0.0, N], [1.0, 0.0]],
}


@pytest.mark.parametrize("place", WITH_NAN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrices_of_nan_give_nan(place: str, dtype: str, torch: Any) -> None:
    def answer(lib: Any) -> Any:
        matrix = lib.tensor(WITH_NAN[place], dtype=getattr(lib, dtype))
        right = lib.ones(len(matrix), 1, dtype=matrix.dtype)
        return [
            lib.linalg.det(matrix),
            lib.linalg.slogdet(matrix)[1],
            lib.logdet(matrix),
            lib.linalg.inv(matrix),
            list(lib.linalg.inv_ex(matrix)),
            lib.linalg.solve(matrix, right),
            list(lib.linalg.solve_ex(matrix, right)),
        ]

    assert_same(answer, torch)


def test_matrices_beside_one_of_nan_keep_their_answers(torch: Any) -> None:
    def answer(lib: Any) -> Any:
        several = lib.tensor(
            [[[N, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 1.0]]]
        )
        return [
            lib.linalg.det(several),
            lib.linalg.slogdet(several)[1],
            lib.linalg.inv_ex(several)[1],
            lib.linalg.inv_ex(several)[0][2],
            lib.linalg.solve_ex(several, lib.ones(3, 2, 1))[0][2],
        ]

    assert_same(answer, torch)
