"""Gradients of complex matrices: first and second ones, and tangents, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

_RNG = np.random.default_rng(23)


def _numbers(*shape: int) -> np.ndarray[Any, Any]:
    return _RNG.normal(size=shape) + 1j * _RNG.normal(size=shape)


A, B, V, BATCH = _numbers(3, 3), _numbers(3, 3), _numbers(3), _numbers(2, 3, 3)

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


def _tangent(lib: Any, forward_ad: Any, call: Any, given: tuple[Any, ...]) -> Any:
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(lib.tensor(each), lib.tensor(np.roll(each, 1) * 1j))
            for each in given
        ]
        return forward_ad.unpack_dual(call(lib, *duals)).tangent.resolve_conj().numpy()


@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_tangents_are_pytorchs(name: str) -> None:
    import torch

    call, given = CALLS[name]
    ours = _tangent(gs, gs.autograd.forward_ad, call, given)
    theirs = _tangent(torch, torch.autograd.forward_ad, call, given)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
