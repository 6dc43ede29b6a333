"""Products and triangular systems in C that threads share, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.compiler.c import build
from gradspec.compiler.c.source import written
from gradspec.compiler.program import rooted

from .recorded import recorded, run

rng = np.random.default_rng(0)


@pytest.fixture(params=[1, 2, 3], autouse=True)
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Run with so many threads."""
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


def assert_multiplies(a: Any, b: Any) -> None:
    (found,) = run(np.matmul, a, b)
    np.testing.assert_allclose(found, np.einsum("...ij,...jk->...ik", a, b), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", [(500, 40, 333), (333, 40, 500), (200, 150, 200), (2100, 30, 70)])
def test_large_products(sizes: tuple[int, int, int], turned: tuple[bool, bool]) -> None:
    rows, inner, columns = sizes
    a, b = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    assert_multiplies(
        np.asfortranarray(a) if turned[0] else a, np.asfortranarray(b) if turned[1] else b
    )


@pytest.mark.parametrize("size", [12, 48])
def test_many_products(size: int) -> None:
    """Those of 12 rows are plain loops, the others calls of BLAS."""
    count = 3_000_000 // size**3
    shapes = ((count, 1, size, size), (1, 2, size, size))
    assert_multiplies(*(rng.standard_normal(shape) for shape in shapes))


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("by_columns", [True, False])
def test_large_triangular_systems(is_left: bool, upper: bool, by_columns: bool) -> None:
    matrix = rng.standard_normal((210, 210)) + 30 * np.eye(210)
    matrix = np.triu(matrix) if upper else np.tril(matrix)
    right = rng.standard_normal((210, 300) if is_left else (300, 210))
    right = np.asfortranarray(right) if by_columns else right

    def solved(matrix: Any, right: Any) -> Any:
        return kernels.solve_triangular(matrix, right, upper, is_left, False)

    (found,) = run(solved, matrix, right)
    product = matrix @ found if is_left else found @ matrix
    np.testing.assert_allclose(product, right, rtol=1e-9, atol=1e-9)


def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    a, b = rng.standard_normal((500, 301)), rng.standard_normal((301, 333))
    found = []
    for count in (1, 2, 5):
        gs.set_num_threads(count)
        found += run(np.matmul, a, b)
    for other in found[1:]:
        assert np.array_equal(found[0], other)


@pytest.mark.parametrize(("size", "is_narrow"), [(32, False), (128, True), (400, False)])
def test_blas_starts_threads_for_large_products_only(size: int, is_narrow: bool) -> None:
    """Small products need none, middling ones get those of the program."""
    program = recorded(np.matmul, *(rng.standard_normal((size, size)) for _ in range(2)))
    assert written(rooted(program)).narrows_blas is is_narrow


def test_sums_of_blocks_of_rows_are_shared(threads: int) -> None:
    """Each block has sums of its own, so that the number of threads changes no bit of them."""
    x, w = rng.standard_normal((100, 1000, 50)), rng.standard_normal(50)

    def function(x: Any, w: Any) -> Any:
        weights = np.tanh(np.matmul(x, w))
        return np.add.reduce(x * weights[..., None], axis=1)

    program = recorded(function, x, w)
    assert "gs_share(" in written(rooted(program)).text
    run_it = build(program)
    (found,) = run_it(x, w)
    gs.set_num_threads(1)
    (alone,) = run_it(x, w)
    gs.set_num_threads(threads)
    assert np.array_equal(found, alone)
    np.testing.assert_allclose(found, function(x, w), rtol=1e-10, atol=1e-10)


def test_sums_over_all_rows_are_not_shared() -> None:
    x = rng.standard_normal((100_000, 50))

    def function(x: Any) -> Any:
        return np.add.reduce(np.tanh(x), axis=0)

    program = recorded(function, x)
    assert "gs_share(" not in written(rooted(program)).text.split("part0", 1)[1]
    np.testing.assert_allclose(build(program)(x)[0], function(x), rtol=1e-10, atol=1e-10)
