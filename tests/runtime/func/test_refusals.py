"""Refusals of `grad`, `vjp`, `jvp` and the Jacobians, by arguments and by results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec.func import grad, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp

X = gs.tensor([1.0, 2.0, 3.0])

Transform = Callable[[Callable[..., Any]], Any]

RETURNS: dict[str, Transform] = {
    "vjp": lambda f: vjp(f, X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacrev": lambda f: jacrev(f)(X),
    "jacfwd": lambda f: jacfwd(f)(X),
}

WITH_AUX: dict[str, Transform] = {
    "grad": lambda f: grad(f, has_aux=True)(X),
    "vjp": lambda f: vjp(f, X, has_aux=True),
    "jvp": lambda f: jvp(f, (X,), (X,), has_aux=True),
    "jacrev": lambda f: jacrev(f, has_aux=True)(X),
    "jacfwd": lambda f: jacfwd(f, has_aux=True)(X),
}


@pytest.mark.parametrize("name", RETURNS)
@pytest.mark.parametrize("output", [None, ()])
def test_a_function_that_returns_nothing(name: str, output: Any) -> None:
    with pytest.raises(RuntimeError, match="Expected f to be a function that has non-empty output"):
        RETURNS[name](lambda x: output)


@pytest.mark.parametrize("name", RETURNS)
def test_a_function_that_returns_no_tensor(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"expected f\(\*primals\) to return only tensors"):
        RETURNS[name](lambda x: (x, 1))


@pytest.mark.parametrize("name", WITH_AUX)
@pytest.mark.parametrize("aux", [1, ["text"]])
def test_what_is_returned_beside_must_be_tensors(name: str, aux: Any) -> None:
    with pytest.raises(RuntimeError, match="Expected tensors, got unsupported type"):
        WITH_AUX[name](lambda x: (x.sum(), aux))


@pytest.mark.parametrize("name", WITH_AUX)
def test_no_pair(name: str) -> None:
    with pytest.raises(RuntimeError, match="output of function f should be a tuple"):
        WITH_AUX[name](lambda x: [x.sum(), x])


@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd])
@pytest.mark.parametrize(
    ("argnums", "match"),
    [
        ([0], r"argnums must be int or Tuple\[int, \.\.\.\]"),
        (0.0, r"argnums must be int or Tuple\[int, \.\.\.\]"),
        ((1, 0.0), "argnum must be int"),
        (("0",), "argnum must be int"),
        (2, "but only 2 positional inputs"),
    ],
)
def test_argnums(transform: Any, argnums: Any, match: str) -> None:
    with pytest.raises(RuntimeError, match=match):
        transform(gs.mul, argnums=argnums)(X[0], X[1])


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_jacobians_of_complex_numbers(name: str) -> None:
    transform = {"jacrev": jacrev, "jacfwd": jacfwd}[name]
    with pytest.raises(RuntimeError, match=f"{name}: Expected all inputs to be real"):
        transform(gs.conj)(gs.tensor([1 + 1j]))
    with pytest.raises(RuntimeError, match=f"{name}: Expected all outputs to be real"):
        transform(lambda x: x * 1j)(X)


@pytest.mark.parametrize(
    "cotangents",
    [X, (X,), (X, X, X), [X, (X, X)], ((X, (X, X)),)],
)
def test_cotangents_of_another_structure(cotangents: Any) -> None:
    _, pull_back = vjp(lambda x: (x, (x, 2 * x)), X)
    with pytest.raises(RuntimeError, match="Expected pytree structure of cotangents"):
        pull_back(cotangents)
    assert pull_back((X, (X, X)))[0].tolist() == [4, 8, 12]


@pytest.mark.parametrize(
    ("primals", "tangents", "match"),
    [
        (X, (X,), "Expected primals to be a tuple"),
        ([X], [X], "Expected primals to be a tuple"),
        ((X,), X, "same python structure"),
        ((X,), [X], "same python structure"),
        (((X, X), X), (X, X), "same python structure"),
        ((1.0,), (X,), "Expected primals to only contain Tensors"),
        ((X,), (1.0,), "Expected tangents to only contain Tensors"),
        ((), (), "at least one Tensor"),
        (((),), ((),), "at least one Tensor"),
    ],
)
def test_primals_and_tangents(primals: Any, tangents: Any, match: str) -> None:
    with pytest.raises(RuntimeError, match=match):
        jvp(gs.sin, primals, tangents)


def test_tangents_of_another_structure() -> None:
    with pytest.raises(RuntimeError, match="same python structure"):
        linearize(gs.sin, X)[1](X, X)


def test_jacrev_row_by_row_needs_no_vmap() -> None:
    class Read(gs.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:  # type: ignore[override]
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:  # type: ignore[override]
            return gradient * 2 if gradient.sum().item() > 0 else gradient

    assert jacrev(Read.apply, chunk_size=1)(X).tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
    with pytest.raises(RuntimeError, match="vmap"):
        jacrev(Read.apply, chunk_size=2)(X)
    with pytest.raises(ValueError, match="jacrev: `chunk_size` should be greater than 0"):
        jacrev(gs.sin, chunk_size=0)


def test_modules_that_differ_in_what_requires_grad() -> None:
    models = [gs.nn.Linear(2, 2) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match="Expected weight from each model to have the same"):
        stack_module_state(models)


def test_gradients_of_complex_results() -> None:
    for transform in (gs.func.grad, gs.func.grad_and_value):
        with pytest.raises(RuntimeError, match="only for real scalar outputs"):
            transform(lambda x: (x * 1j).sum())(X)
