"""Triangular systems in C: all halves and sides, by substitution and by BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.c import source_of
from tests.runtime.compiler.comparing import assert_gradients_same, assert_same

OPTIONS = [
    (upper, left, units) for upper in (False, True) for left in (False, True) for units in (0, 1)
]


def system(size: int, columns: int, left: bool, dtype: Any) -> list[gs.Tensor]:
    rng = np.random.default_rng(size)
    matrix = rng.normal(size=(size, size)) / size + 2 * np.eye(size)
    right = rng.normal(size=(size, columns) if left else (columns, size))
    return [gs.from_numpy(each.astype(dtype)).requires_grad_() for each in (matrix, right)]


@pytest.mark.parametrize(("size", "columns"), [(5, 7), (40, 1), (40, 7), (150, 1)])
@pytest.mark.parametrize(("upper", "left", "units"), OPTIONS)
def test_solutions_and_gradients(
    size: int, columns: int, upper: bool, left: bool, units: int
) -> None:
    is_large = size * size * columns > 4096
    for dtype, precision in ((np.float64, 1e-11), (np.float32, 1e-4))[: 1 + is_large]:
        matrix, right = system(size, columns, left, dtype)

        def solved(a: Any, b: Any) -> Any:
            return gs.linalg.solve_triangular(
                a, b, upper=upper, left=left, unitriangular=bool(units)
            )

        compiled = gs.compile(solved, backend="c")
        assert_gradients_same(compiled, solved, [matrix, right], rtol=precision)
        with gs.no_grad():
            found = compiled(matrix.t(), right)
            assert_same(found, solved(matrix.t(), right), precision)
        shown = gs.compiler.explain(compiled, matrix, right).forward
        routine = "trsv" if columns == 1 else "trsm"
        assert (f"{routine}_call('" in shown.source) == is_large
        assert source_of(shown.program) == shown.source


def test_a_zero_on_the_diagonal() -> None:
    matrix, right = system(40, 7, True, np.float64)
    matrix, right = matrix.detach(), right.detach()
    matrix[3, 3] = 0.0

    def solved(a: Any, b: Any) -> Any:
        return gs.linalg.solve_triangular(a, b, upper=False)

    found, expected = gs.compile(solved, backend="c")(matrix, right), solved(matrix, right)
    assert np.isinf(found[3].numpy()).all()
    np.testing.assert_array_equal(np.isnan(found.numpy()), np.isnan(expected.numpy()))
    np.testing.assert_array_equal(np.isinf(found.numpy()), np.isinf(expected.numpy()))
    np.testing.assert_allclose(found[:3].numpy(), expected[:3].numpy(), rtol=1e-12)


DIAGONALS = (-9, -2, 0, 1, 9)


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (2, 3, 4, 4)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_triangles_of_matrices(shape: tuple[int, ...], dtype: Any) -> None:
    given = (np.random.default_rng(0).normal(size=shape) * 3).astype(dtype)
    for function, meant in ((gs.tril, np.tril), (gs.triu, np.triu)):
        compiled = gs.compile(lambda x, f=function: [f(x, k) for k in DIAGONALS], backend="c")
        for array in (given, given.swapaxes(-1, -2)):
            tensor = gs.from_numpy(array)
            for found, diagonal in zip(compiled(tensor), DIAGONALS, strict=True):
                np.testing.assert_array_equal(found.numpy(), meant(array, diagonal))
            source = gs.compiler.explain(compiled, tensor).forward.source
            assert "const char *part0(" in source
