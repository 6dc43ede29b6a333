"""Factorizations are proved by their factors; wrong derivatives of them are refuted."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy

from gradspec_codegen.prove.inputs.parametrize import factors_of, parametrized
from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.prove.symbolic.decisions import ProofError
from gradspec_codegen.prove.symbolic.symbols import expressions
from tests.codegen.proving import prove_text

CHOLESKY = """
- name: {name}(Tensor self) -> Tensor
  doc: The lower triangular factor of a positive definite matrix.
  forward: kernels.cholesky_ex(self, False, False)[0]
  self: |
    back = {half}(matmul(_mt(result), grad))
    inner = linalg_solve_triangular(result, back, upper=False, left=False)
    whole = linalg_solve_triangular(_mt(result), inner, upper=True)
    return (whole + _mt(whole)) / 2
  result: |
    inner = linalg_solve_triangular(result, self_t, upper=False)
    whole = linalg_solve_triangular(_mt(result), inner, upper=True, left=False)
    return matmul(result, {tangent_half}(whole))
  examples:
    - {{self: {{cholesky: [2, 2]}}}}
"""

EIGENVALUES = """
- name: {name}(Tensor self) -> (Tensor values, Tensor vectors)
  doc: Eigenvalues and eigenvectors of a symmetric matrix.
  forward: kernels.eigh(self, 'L')
  self: >-
    matmul(vectors, matmul({inner} + diag_embed(grad_values), _mt(vectors)))
  values: diagonal(matmul(_mt(vectors), matmul(self_t, vectors)), 0, -2, -1)
  vectors: >-
    matmul(vectors, _off_diagonal(matmul(_mt(vectors), matmul(self_t, vectors)))
    / _differences(values))
  examples:
    - {{self: {{eigh: [2, 2]}}}}
"""

RIGHT = "_off_diagonal(matmul(_mt(vectors), grad_vectors)) / _differences(values)"

SPEC = "".join(
    (
        "- family: factors\n",
        CHOLESKY.format(name="right_factor", half="_half_tril", tangent_half="_half_tril"),
        CHOLESKY.format(name="whole_diagonal", half="tril", tangent_half="_half_tril"),
        CHOLESKY.format(name="tangent_without_half", half="_half_tril", tangent_half="tril"),
        EIGENVALUES.format(name="right_vectors", inner=RIGHT),
        EIGENVALUES.format(name="negative_gaps", inner="-" + RIGHT),
    )
)

HOLDS = ("right_factor", "right_vectors")
FAILS = {"whole_diagonal": "self", "tangent_without_half": "result", "negative_gaps": "self"}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    directory: Path = tmp_path_factory.mktemp("factors")
    return {name: v for name, (_, v) in prove_text(SPEC, directory, "factors").items()}


@pytest.mark.parametrize("name", HOLDS)
def test_right_derivatives_are_proved(verdicts: dict[str, OpVerdict], name: str) -> None:
    assert verdicts[name].status is Status.PROVED, verdicts[name].notes
    assert verdicts[name].identities > 10


@pytest.mark.parametrize("name", FAILS)
def test_wrong_derivatives_are_refuted(verdicts: dict[str, OpVerdict], name: str) -> None:
    verdict = verdicts[name]
    assert verdict.status is Status.REFUTED, verdict.notes
    assert verdict.counterexample is not None
    assert verdict.counterexample.key == FAILS[name]


@pytest.mark.parametrize("kind", ["cholesky", "eigh", "svd", "qr"])
def test_the_input_is_the_product_of_the_factors(kind: str) -> None:
    known: dict[sympy.Symbol, tuple[float, float]] = {}
    matrix = sympy.Matrix(expressions(parametrized(kind, "a", (2, 2), known)))
    parts = factors_of(kind, matrix).parts
    if kind == "cholesky":
        product = parts[0] * parts[0].T
    elif kind == "eigh":
        product = parts[1] * sympy.diag(*parts[0]) * parts[1].T
    elif kind == "svd":
        product = parts[0] * sympy.diag(*parts[1]) * parts[2]
    else:
        product = parts[0] * parts[1]
    assert sympy.simplify(product - matrix) == sympy.zeros(2)
    orthogonal = {"eigh": parts[-1], "svd": parts[0], "qr": parts[0]}.get(kind)
    if orthogonal is not None:
        assert sympy.simplify(orthogonal * orthogonal.T) == sympy.eye(2)
    assert set(known) == matrix.free_symbols


def test_a_singular_matrix_is_one_of_svd() -> None:
    matrix = sympy.Matrix(expressions(parametrized("singular", "a", (2, 2), {})))
    left, values, right = factors_of("svd", matrix).parts
    assert values[1] == 0
    assert values[0].is_positive
    assert sympy.simplify(left * sympy.diag(*values) * right - matrix) == sympy.zeros(2)
    assert sympy.simplify(matrix.det()) == 0


def test_factors_of_another_matrix_are_not_guessed() -> None:
    with pytest.raises(ProofError, match="factors of this matrix are not known"):
        factors_of("cholesky", sympy.Matrix([[2, 1], [1, 2]]))
