"""Integers, masks and numbers beside symbols: what is computed with them is exact, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy

from gradspec.dtypes.promotion import promote, promote_to_float
from gradspec.kernels.shape.views import to_copy
from gradspec_codegen.prove.inputs.borders import at_border
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.prove.symbolic.symbols import SymArray, expressions, sym_array
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import prove_text

SPEC = """
- name: zeros_counted(Tensor self) -> Tensor
  doc: A mask that is cast to the dtype of symbols, summed and compared.
  forward: self * self
  self: |
    zeros = sum(_to_copy(self == 0, dtype=self.dtype))
    return where(zeros == 0, 2 * grad * self, 2 * grad * self)
  result: 2 * self_t * self_p
  examples: [{self: [3]}]

- name: zeros_miscounted(Tensor self) -> Tensor
  doc: The same, wrong where there is no zero.
  forward: self * self
  self: |
    zeros = sum(_to_copy(self == 0, dtype=self.dtype))
    return where(zeros == 0, grad * self, 2 * grad * self)
  result: 2 * self_t * self_p
  examples: [{self: [3]}]

- name: log_of_size(Tensor A) -> Tensor
  doc: The pivots of the example are positive, and those where the determinant is zero are not.
  forward: linalg_slogdet(A)[1] * 1
  A: grad * transpose(linalg_inv(A), 0, 1)
  result: sum(transpose(linalg_inv(A_p), 0, 1) * A_t)
  requires: A.ndim == 2
  examples: [{A: {lu: [2, 2]}}]
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    folder: Path = tmp_path_factory.mktemp("mixed")
    return prove_text(SPEC, folder, "mixed_ops")


@pytest.mark.parametrize("name", ["zeros_counted", "log_of_size"])
def test_proved(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    spec, verdict = verdicts[name]
    assert verdict.status is Status.PROVED, str(explain(verdict, spec))


def test_refuted(verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    _, verdict = verdicts["zeros_miscounted"]
    assert verdict.counterexample is not None
    assert verdict.counterexample.label == "VJP of self[0]"


@pytest.mark.parametrize("cast", [promote, promote_to_float])
def test_integers_beside_symbols_have_the_functions_of_symbols(cast: object) -> None:
    x = sympy.Symbol("x", real=True)
    assert callable(cast)
    symbols, integers = cast(sym_array([x, x], (2,)), np.array([1, -3]))
    assert type(symbols) is type(integers) is SymArray
    powers = expressions(np.exp2(integers))
    assert list(powers) == [2, sympy.Rational(1, 8)]


def test_a_mask_as_the_dtype_of_symbols_is_of_floats() -> None:
    found = to_copy(np.array([True, False, True]), np.dtype(object))
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 0.0, 1.0]


def test_a_border_that_a_symbol_cannot_reach_has_no_point() -> None:
    x, y = sympy.Symbol("x", positive=True), sympy.Symbol("y", real=True)
    point = Point({x: sympy.Integer(3), y: sympy.Integer(2)})
    assert list(at_border(x + 1, point)) == []
    assert [p.values for p in at_border(y + 1, point)] == [{x: 3, y: -1}]
