"""Values and gradients, first and second, against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.cases import CASES, Case, convert

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:size_average"),
    pytest.mark.filterwarnings("ignore:reduction"),
    pytest.mark.filterwarnings("ignore:.*non-contiguous, this will lower the performance"),
    pytest.mark.filterwarnings("ignore:torch"),
]

NOT_IN_TORCH = {
    "view-1": "a copy where no view is possible",
    "mm-2": "the layout of the product can be chosen",
    "linalg_svd-3": "gradients of the vectors that make its factors square",
    "linalg_svd-4": "gradients of the vectors that make its factors square",
    "svd-1": "gradients of the vectors that make its factors square",
    "linalg_qr-4": "gradients of the vectors that make its factor square",
    "embedding_dense_backward-1": "its second derivative forgets scale_grad_by_freq in PyTorch",
    "detach_copy-0": "a node that refuses in PyTorch",
    **dict.fromkeys(
        ("slice_inverse-0", "slice_inverse-1"),
        "PyTorch reads the memory around `self`, which must be a slice of `src`",
    ),
    **dict.fromkeys(
        (
            *(f"cholesky_inverse-{number}" for number in range(2)),
            *(f"cholesky_solve-{number}" for number in range(3)),
        ),
        "PyTorch's gradient reaches the triangle that is not read: see test_factors",
    ),
}
"""Examples of what only this library has, or has right."""

NEED_CONTIGUOUS = {"view", "view_as"}

LESS_EXACT = {"lgamma": 1e-8, "digamma": 1e-8, "polygamma": 1e-8, "hardsigmoid": 1e-7}
"""PyTorch's series for these end early; the sixth in the slope of `hardsigmoid` is of float32."""

COMPARED = [case for case in CASES if case.label not in NOT_IN_TORCH]


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: case.label)
def test_values_and_gradients(case: Case) -> None:
    from .comparison import assert_same_answers

    assert_same_answers(case.op, case.arguments(), LESS_EXACT.get(case.op.name, 1e-10))


def _strided(array: Any, _: bool) -> Any:
    """The same values in memory that is neither contiguous nor in row-major order."""
    if not array.ndim:
        return array
    wide = np.zeros((*array.shape[::-1], 2), array.dtype)
    wide[..., 0] = array.T
    return wide[..., 0].T


@pytest.mark.parametrize(
    "case",
    [case for case in COMPARED if case.op.signature.name not in NEED_CONTIGUOUS],
    ids=lambda case: case.label,
)
def test_strided_inputs(case: Case) -> None:
    from .comparison import assert_same_answers

    arguments = convert(case.op, case.arguments(), _strided)
    assert_same_answers(case.op, arguments, LESS_EXACT.get(case.op.name, 1e-10))
