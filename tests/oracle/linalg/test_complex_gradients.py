"""Gradients of complex matrices: first and second ones, and tangents, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning")]

_RNG = np.random.default_rng(23)


def _numbers(*shape: int) -> np.ndarray[Any, Any]:
    return _RNG.normal(size=shape) + 1j * _RNG.normal(size=shape)


A, B, V, BATCH = _numbers(3, 3), _numbers(3, 3), _numbers(3), _numbers(2, 3, 3)
TALL, WIDE = _numbers(4, 2), _numbers(2, 4)


def _positive(a: Any) -> Any:
    """Hermitian and positive definite."""
    return a @ a.mH + 2 * (a @ a.mH).diagonal(0, -2, -1).abs().mean() * _identity(a)


def _identity(a: Any) -> Any:
    return (a * 0 + 1).tril().triu()


def _hermitian(a: Any) -> Any:
    return a + a.mH


def _projection(vectors: Any) -> Any:
    """Return an invariant of the first vector under its phase."""
    first = vectors[..., :1]
    return first @ first.mH


def _pair(u: Any, vh: Any) -> Any:
    """Return an invariant of the first pair of singular vectors under their common phase."""
    return u[..., :1] @ vh[..., :1, :]


FACTORS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "cholesky": (lambda lib, a: lib.linalg.cholesky(_positive(a)), (A,)),
    "cholesky, upper": (lambda lib, a: lib.linalg.cholesky(_positive(a), upper=True), (BATCH,)),
    "old cholesky": (lambda lib, a: lib.cholesky(_positive(a), True), (A,)),
    "eigh": (lambda lib, a: _projection(lib.linalg.eigh(_hermitian(a))[1]), (A,)),
    "eigh, both": (
        lambda lib, a: (lambda w, v: _projection(v) * w[..., :1, None])(
            *lib.linalg.eigh(_hermitian(a), UPLO="U")
        ),
        (BATCH,),
    ),
    "eigvalsh": (lambda lib, a: lib.linalg.eigvalsh(_hermitian(a)) + 0j, (BATCH,)),
    "svd": (lambda lib, a: _pair(*lib.linalg.svd(a)[::2]), (A,)),
    "svd of a batch": (lambda lib, a: _pair(*lib.linalg.svd(a)[::2]), (BATCH,)),
    "svd of tall ones": (lambda lib, a: _pair(*lib.linalg.svd(a, False)[::2]), (TALL,)),
    "svd of wide ones": (lambda lib, a: _pair(*lib.linalg.svd(a, False)[::2]), (WIDE,)),
    "left vectors": (lambda lib, a: _projection(lib.linalg.svd(a, False)[0]), (TALL,)),
    "right vectors": (lambda lib, a: _projection(lib.linalg.svd(a, False)[2].mH), (WIDE,)),
    "old svd": (lambda lib, a: (lambda u, s, v: _pair(u, v.mH))(*lib.svd(a)), (TALL,)),
    "svdvals": (lambda lib, a: lib.linalg.svdvals(a) + 0j, (TALL,)),
    "nuclear norm": (lambda lib, a: lib.linalg.matrix_norm(a, "nuc") + 0j, (BATCH,)),
    "spectral norm": (lambda lib, a: lib.linalg.norm(a, 2) + 0j, (A,)),
    "cond": (lambda lib, a: lib.linalg.cond(a) + 0j, (A,)),
    "q": (lambda lib, a: lib.linalg.qr(a)[0], (A,)),
    "r of tall ones": (lambda lib, a: lib.linalg.qr(a)[1], (TALL,)),
    "both of tall ones": (lambda lib, a: lib.linalg.qr(a)[0] @ lib.linalg.qr(a)[1].mH, (TALL,)),
    "q of wide ones": (lambda lib, a: lib.linalg.qr(a)[0], (WIDE,)),
    "r of wide ones": (lambda lib, a: lib.linalg.qr(a)[1], (WIDE,)),
    "lu": (lambda lib, a: lib.linalg.lu(a)[1] @ lib.linalg.lu(a)[2].abs().to(a.dtype), (A,)),
    "l of tall ones": (lambda lib, a: lib.linalg.lu(a)[1], (TALL,)),
    "u of wide ones": (lambda lib, a: lib.linalg.lu(a)[2], (WIDE,)),
    "lu_factor": (lambda lib, a: lib.linalg.lu_factor(a)[0], (BATCH,)),
    "eigvals": (lambda lib, a: (lib.linalg.eigvals(a) ** 3).sum(-1), (BATCH,)),
    "eig": (lambda lib, a: _sorted_by_size(*lib.linalg.eig(a)), (A,)),
    "logsumexp": (lambda lib, a: lib.logsumexp(a, 1), (A,)),
    "logsumexp of all": (lambda lib, a: lib.logsumexp(a, (0, 1), True), (A,)),
    "renorm": (lambda lib, a: lib.renorm(a, 2, 0, 1.5), (A,)),
    "renorm by sums": (lambda lib, a: lib.renorm(a, 1, 1, 1.5), (A,)),
}


def _sorted_by_size(values: Any, vectors: Any) -> Any:
    """The projection on the eigenvector of the largest eigenvalue, whose order is LAPACK's."""
    largest = int(values.detach().abs().argmax())
    first = vectors[:, largest : largest + 1]
    return (first @ first.mH) * values[largest]


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "inv": (lambda lib, a: lib.linalg.inv(a), (A,)),
    "inverse of a batch": (lambda lib, a: lib.inverse(a), (BATCH,)),
    "matrix_power": (lambda lib, a: lib.linalg.matrix_power(a, -2), (A,)),
    "det": (lambda lib, a: lib.linalg.det(a), (A,)),
    "det of a batch": (lambda lib, a: lib.det(a), (BATCH,)),
    "slogdet": (lambda lib, a: lib.linalg.slogdet(a)[0] * lib.linalg.slogdet(a)[1], (A,)),
    "slogdet of a batch": (lambda lib, a: lib.slogdet(a)[1] + 0j, (BATCH,)),
    "logdet": (lambda lib, a: lib.logdet(a), (BATCH,)),
    "solve": (lambda lib, a, b: lib.linalg.solve(a, b), (A, B)),
    "solve of a vector": (lambda lib, a, b: lib.linalg.solve(a, b), (A, V)),
    "solve from the right": (lambda lib, a, b: lib.linalg.solve(a, b, left=False), (BATCH, B)),
    "solve_triangular": (
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True),
        (np.triu(A), B),
    ),
    "solve_triangular from the right": (
        lambda lib, a, b: lib.linalg.solve_triangular(
            a, b, upper=False, left=False, unitriangular=True
        ),
        (np.tril(A), B),
    ),
    "pinv": (lambda lib, a: lib.linalg.pinv(a), (A,)),
    "pinv of tall ones": (lambda lib, a: lib.linalg.pinv(a), (A[:, :2],)),
    "matrix_exp": (lambda lib, a: lib.linalg.matrix_exp(a), (A,)),
    "lerp": (lambda lib, a, b, w: lib.lerp(a, b, w), (A, B, V)),
    **{
        f"lu_solve left={left} adjoint={adjoint}": (
            lambda lib, a, b, left=left, adjoint=adjoint: lib.linalg.lu_solve(
                a, lib.tensor([2, 3, 3], dtype=lib.int32), b, left=left, adjoint=adjoint
            ),
            (A, B),
        )
        for left in (True, False)
        for adjoint in (True, False)
    },
    **FACTORS,
}


def _first_and_second(lib: Any, call: Any, given: tuple[Any, ...]) -> list[Any]:
    """The values, the gradients of a real number made of them, and those of these."""
    leaves = [lib.tensor(each, requires_grad=True) for each in given]
    found = call(lib, *leaves)
    weights = lib.tensor(np.cos(np.arange(found.numel())).reshape(tuple(found.shape)))
    loss = ((found.abs() ** 2 + (found * (1 + 2j)).real) * weights).sum()
    first = lib.autograd.grad(loss, leaves, create_graph=True)
    again = sum((g.abs() ** 2).sum() + g.real.sum() for g in first)
    second = lib.autograd.grad(again, leaves, allow_unused=True)
    return [
        x.detach().resolve_conj().numpy()
        for x in (found, *first, *(s for s in second if s is not None))
    ]


@pytest.mark.parametrize("name", CALLS)
def test_gradients_of_both_orders_are_pytorchs(name: str) -> None:
    import torch

    call, given = CALLS[name]
    ours, theirs = (_first_and_second(lib, call, given) for lib in (gs, torch))
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-7, atol=1e-9)


_NO_TANGENTS_THERE = {"old cholesky"}


def _tangent(lib: Any, forward_ad: Any, call: Any, given: tuple[Any, ...]) -> Any:
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(lib.tensor(each), lib.tensor(np.roll(each, 1) * 1j))
            for each in given
        ]
        return forward_ad.unpack_dual(call(lib, *duals)).tangent.resolve_conj().numpy()


@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")
@pytest.mark.parametrize("name", [name for name in CALLS if name not in _NO_TANGENTS_THERE])
def test_tangents_are_pytorchs(name: str) -> None:
    import torch

    call, given = CALLS[name]
    ours = _tangent(gs, gs.autograd.forward_ad, call, given)
    theirs = _tangent(torch, torch.autograd.forward_ad, call, given)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


REAL = _RNG.normal(size=(4, 4))


@pytest.mark.parametrize("what", ["values", "vectors"])
def test_eigenvalues_of_real_matrices(what: str) -> None:
    """Complex eigenvalues of a real matrix have real gradients, of both orders."""
    import torch

    def call(lib: Any, a: Any) -> Any:
        values, vectors = lib.linalg.eig(a)
        return _sorted_by_size(values, vectors) if what == "vectors" else (values**3).sum(-1)

    ours, theirs = (_first_and_second(lib, call, (REAL,)) for lib in (gs, torch))
    assert [x.dtype for x in ours] == [x.dtype for x in theirs]
    for mine, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-7, atol=1e-8)


PHASES: dict[str, Callable[[Any, Any], Any]] = {
    "left vectors": lambda lib, a: lib.linalg.svd(a)[0],
    "right vectors": lambda lib, a: lib.linalg.svd(a, False)[2],
    "eigh": lambda lib, a: lib.linalg.eigh(a)[1],
    "eig": lambda lib, a: lib.linalg.eig(a)[1],
}


@pytest.mark.parametrize("name", PHASES)
def test_what_depends_on_phases_has_no_gradient(name: str) -> None:
    import torch

    for lib in (gs, torch):
        a = lib.tensor(A, requires_grad=True)
        with pytest.raises(RuntimeError, match=r"phi|phase"):
            PHASES[name](lib, a).real.sum().backward()


def test_eig_refuses_what_pytorch_refuses() -> None:
    for given in (np.ones(3), np.ones((2, 3)), np.array([[1.0, np.inf], [0.0, 1.0]])):
        for function in (gs.linalg.eig, gs.linalg.eigvals):
            with pytest.raises(RuntimeError, match=r"linalg\.eig"):
                function(gs.tensor(given))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eig_has_pytorchs_dtypes(dtype: str) -> None:
    import torch

    matrix = np.array([[1.0, 2.0], [-3.0, 4.0]], dtype)
    for mine, theirs in zip(
        gs.linalg.eig(gs.tensor(matrix)), torch.linalg.eig(torch.tensor(matrix)), strict=True
    ):
        assert str(mine.dtype) == str(theirs.dtype).removeprefix("torch.")
    assert gs.linalg.eigvals(gs.zeros(2, 0, 0)).shape == (2, 0)


@pytest.mark.parametrize("name", ["var", "std"])
def test_spreads_under_a_mask_are_pytorchs(name: str) -> None:
    """They are complex, of complex numbers, as in PyTorch."""
    import torch

    mask = np.arange(9).reshape(3, 3) % 3 != 1
    found = []
    for lib in (gs, torch):
        a = lib.tensor(A, requires_grad=True)
        masked: Any = lib.masked
        spread = getattr(masked, name)(a, 1, unbiased=True, mask=lib.tensor(mask))
        (gradient,) = lib.autograd.grad((spread * (1 + 2j)).real.sum(), a)
        found.append([x.detach().resolve_conj().numpy() for x in (spread, gradient)])
    for mine, theirs in zip(*found, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
