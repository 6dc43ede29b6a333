"""Matrices without elements, factors and inverses that fail, arguments that mean nothing."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

SHAPES = [(0, 0), (0, 3), (3, 0), (2, 0, 0), (2, 0, 3)]


@pytest.mark.oracle
@pytest.mark.parametrize("order", [inf, -inf, 1, -1, 2, -2, "fro", "nuc"])
def test_norms_of_empty_matrices(torch: Any, order: Any) -> None:
    def behaviour(library: Any) -> Any:
        linalg = library.linalg
        return [
            attempt(partial(norm, library.zeros(shape), order, (-2, -1), keepdim))
            for norm in (linalg.norm, linalg.matrix_norm)
            for shape in SHAPES
            for keepdim in (False, True)
        ]

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize("order", [inf, -inf, 0, 1, -1, 2, -2, 3, 0.5, -0.5])
def test_norms_of_empty_vectors(torch: Any, order: float) -> None:
    def behaviour(library: Any) -> Any:
        cases = [((0,), None), ((0, 3), 0), ((0, 3), 1), ((3, 0), (0,)), ((0, 2), (0, 1))]
        return [
            attempt(partial(library.linalg.vector_norm, library.zeros(shape), order, dim))
            for shape, dim in cases
        ]

    assert_same(behaviour, torch)


def test_the_gradient_of_an_empty_norm() -> None:
    matrix = gs.zeros(0, 3, requires_grad=True)
    gs.linalg.matrix_norm(matrix, 2).backward()
    assert matrix.grad is not None
    assert matrix.grad.shape == (0, 3)


def _failing(library: Any) -> Any:
    """Return matrices of which the first is fine, and the others fail in rows two and three.

    Elimination of the last one is exact, in any order of the sums: no rounding hides the zero.
    """
    matrices = library.eye(3, dtype=library.float64).repeat(3, 1, 1)
    matrices[1, 1, 1] = 0.0
    matrices[2] = library.tensor([[4.0, 2, 2], [2, 2, 2], [2, 2, 2]], dtype=library.float64)
    return matrices


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["cholesky_ex", "inv_ex", "solve_ex"])
def test_info_says_which_row_failed(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        matrices = _failing(library)
        more = (library.ones(3, 1, dtype=library.float64),) if name == "solve_ex" else ()
        function = getattr(library.linalg, name)
        return [function(matrices, *more)[1], *(function(each, *more)[1] for each in matrices)]

    assert_same(behaviour, torch)


def test_info_of_rows_that_are_exchanged() -> None:
    # Elimination exchanges the rows, and only then meets a zero, in the last one.
    matrix = gs.tensor([[0.0, 1, 1], [2, 0, 4], [2, 1, 5]])
    assert gs.linalg.inv_ex(matrix).info.item() == 3
    assert gs.linalg.inv_ex(gs.tensor([[0.0, 1], [0, 1]])).info.item() == 1
    with pytest.raises(gs.linalg.LinAlgError, match="The diagonal element 3 is zero"):
        gs.linalg.inv(matrix)
    with pytest.raises(gs.linalg.LinAlgError, match=r"element 1\): The diagonal element 2 is zero"):
        gs.linalg.inv(_failing(gs))


@pytest.mark.parametrize("order", range(1, 9))
def test_the_first_minor_that_is_not_definite(order: int) -> None:
    matrix = gs.eye(8)
    matrix[order - 1, order - 1] = -1
    assert gs.linalg.cholesky_ex(matrix).info.item() == order
    with pytest.raises(gs.linalg.LinAlgError, match=f"leading minor of order {order} is not"):
        gs.linalg.cholesky(matrix)


@pytest.mark.oracle
def test_complex_least_squares(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        a = library.tensor([[1 + 2j, 0.5], [2, 1j], [1 - 1j, 3]], dtype=library.complex128)
        b = library.tensor([[1.0, 2j], [3, 1 + 1j], [1j, 2]], dtype=library.complex128)
        found = library.linalg.lstsq(a, b, driver="gelsd")
        return [found.solution, found.residuals, found.rank, found.singular_values]

    assert_same(behaviour, torch)


REFUSED: dict[str, Any] = {
    "order in words": lambda lib, x: lib.linalg.vector_norm(x, "fro"),
    "complex dtype": lambda lib, x: lib.linalg.vector_norm(x, dtype=lib.complex64),
    "dtype of complex numbers": lambda lib, x: lib.linalg.vector_norm(x, dtype=lib.float64),
    "no dimension": lambda lib, x: lib.linalg.norm(x, dim=[]),
    "three dimensions": lambda lib, x: lib.linalg.norm(x[None], dim=(0, 1, 2)),
    "a dimension that is not there": lambda lib, x: lib.linalg.matrix_norm(x, dim=(0, 2)),
    "half a power": lambda lib, x: lib.linalg.matrix_power(x, 0.5),
    "nothing to sum": lambda lib, x: lib.einsum("", []),
    "a vector as a factor": lambda lib, x: lib.cholesky_inverse(x[0]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    assert_same(lambda library: attempt(lambda: REFUSED[name](library, library.ones(2, 2))), torch)


def test_a_dimension_is_named() -> None:
    with pytest.raises(IndexError, match="Dimension out of range"):
        gs.linalg.matrix_norm(gs.ones(2, 2), dim=(0, 2))


FACTORS: dict[str, list[list[int]]] = {
    "addmm": [[2, 2], [2, 2], [2, 2]],
    "addmv": [[2], [2, 2], [2]],
    "addr": [[2, 2], [2], [2]],
    "baddbmm": [[1, 2, 2], [1, 2, 2], [1, 2, 2]],
    "addbmm": [[2, 2], [1, 2, 2], [1, 2, 2]],
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("factor", ["alpha", "beta"])
def test_complex_factors_of_real_products(torch: Any, name: str, factor: str) -> None:
    def behaviour(library: Any) -> Any:
        function = getattr(library, name)
        made = [
            [library.ones(shape, dtype=dtype) for shape in FACTORS[name]]
            for dtype in (library.float64, library.int64, library.complex128)
        ]
        return [attempt(partial(function, *each, **{factor: 2j})) for each in made]

    assert_same(behaviour, torch)


MESSAGES: dict[str, tuple[Any, str]] = {
    "a norm of matrices of a vector": (
        lambda: gs.linalg.norm(gs.ones(3), "fro"),
        "must have at least 2 dimensions",
    ),
    "a norm of matrices along one dimension": (
        lambda: gs.linalg.norm(gs.ones(3, 3), "nuc", dim=0),
        "dim must be a 2-tuple",
    ),
    "other numbers of equations": (
        lambda: gs.linalg.tensorsolve(gs.ones(4, 6, 8, 3), gs.ones(4, 8)),
        "Expected self to satisfy the requirement",
    ),
    "no operand": (lambda: gs.einsum("", []), "at least one operand"),
    "an empty norm": (
        lambda: gs.linalg.vector_norm(gs.zeros(0), -1),
        "linalg.vector_norm cannot compute the -1 norm",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    call, text = MESSAGES[name]
    with pytest.raises((RuntimeError, ValueError), match=text):
        call()


@pytest.mark.oracle
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, inf, -inf, "fro", "nuc"])
def test_condition_numbers_of_singular_matrices(torch: Any, p: Any) -> None:
    def behaviour(library: Any) -> Any:
        zero, partly = library.zeros(3, 3), library.eye(3)
        partly[-1, -1] = 0
        both = library.stack([library.eye(3), partly])
        nothing = library.zeros(2, 0, 0) + 0j
        return [library.linalg.cond(x, p) for x in (zero, partly, both, partly + 0j, nothing)]

    assert_same(behaviour, torch)


@pytest.mark.oracle
def test_bounds_of_singular_values_may_be_tensors(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        linalg = library.linalg
        pinv, rank = linalg.pinv, linalg.matrix_rank
        double = {"dtype": library.float64}
        matrix = library.tensor([[1.0, 2.0], [3.0, 4.0]], **double, requires_grad=True)
        both = library.stack([matrix, matrix * 1e-3])
        bounds = library.tensor([0.1, 0.001], **double)
        inverses = pinv(matrix, rtol=bounds)
        inverses.sum().backward()
        both = both.detach()
        return [
            *(inverses.detach(), matrix.grad, pinv(both, bounds), pinv(both, atol=bounds)),
            pinv(both, atol=bounds, rtol=library.tensor(0.5, **double)),
            pinv(both @ both.mT, hermitian=True, rtol=bounds),
            pinv(library.zeros(0, 2, 3), rtol=library.ones(0)),
            attempt(lambda: pinv(both, rtol=bounds + 0j)),
            attempt(lambda: rank(both, atol=bounds + 0j)),
            rank(both, atol=bounds),
        ]

    assert_same(behaviour, torch)


def test_multi_dot_says_which_tensor_is_no_matrix() -> None:
    ones = gs.ones
    for tensors, words in (
        ([ones(()), ones(2)], "the first tensor must be 1D or 2D but got 0D"),
        ([ones(2), ones(2), ones(2)], "tensor 1 must be 2D but got 1D"),
        ([ones(2), ones(2, 2), ones(2, 2, 2)], "the last tensor must be 1D or 2D but got 3D"),
    ):
        with pytest.raises(RuntimeError, match=words):
            gs.linalg.multi_dot(tensors)


@pytest.mark.oracle
def test_gels_takes_matrices_of_full_rank_whatever_the_bound(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        double = {"dtype": library.float64, "requires_grad": True}
        a = library.tensor([[1.0, 2.0], [3.0, 0.5], [0.0, 1.0]], **double)
        b = library.tensor([[1.0], [2.0], [-1.0]], **double)
        solution, residuals = library.linalg.lstsq(a, b, 0.9, driver="gels")[:2]
        (solution.sum() + residuals.sum()).backward()
        return [solution.detach(), residuals.detach(), a.grad, b.grad]

    assert_same(behaviour, torch)


@pytest.mark.oracle
@pytest.mark.parametrize(("rows", "columns"), [(3, 1), (2, 1), (2, 2), (1, 2)])
def test_gradients_of_a_square_q(torch: Any, rows: int, columns: int) -> None:
    """Further columns of `Q` may turn, so there are no gradients of what has more rows."""
    numbers = [[1.0, 2.0], [3.0, 5.0], [-2.0, 4.0]]

    def behaviour(library: Any) -> Any:
        matrix = library.tensor(numbers, dtype=library.float64)[:rows, :columns]
        matrix = matrix.clone().requires_grad_()
        q, r = library.linalg.qr(matrix, mode="complete")
        return attempt(lambda: library.autograd.grad(q.sum() + (r * r * r).sum(), matrix))

    assert_same(behaviour, torch)
