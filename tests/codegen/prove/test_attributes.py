"""The numbers that an op is given beside tensors are exact in a proof, and floats to everybody."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import sympy

import gradspec as gs
from gradspec.core import constants
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.prove.symbolic.exact_constants import (
    ExactConstant,
    as_exact,
    as_plain,
    exact_module,
)
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import imported, prove_text

SPEC = """
- name: bell(Tensor self, float width=0.7) -> Tensor
  doc: A formula that squares the number where the definition divides by it twice.
  forward: exp(-((self / width) ** 2) / 2)
  self: -grad * result * self / width ** 2
  result: auto_element_wise
  examples: [{self: [2]}]

- name: biweight(Tensor self, float c=4.685) -> Tensor
  doc: A number of many digits, also where the definition is constant and at the borders.
  forward: where(abs(self) <= c, c ** 2 / 6 * (1 - (1 - (self / c) ** 2) ** 3), c ** 2 / 6)
  self: where(abs(self) <= c, grad * self * (1 - (self / c) ** 2) ** 2, 0 * grad)
  result: auto_element_wise
  examples: [{self: [2]}]

- name: broken_bell(Tensor self, float width=0.7) -> Tensor
  doc: A width that is not squared.
  forward: exp(-((self / width) ** 2) / 2)
  self: -grad * result * self / width
  result: auto_element_wise
  examples: [{self: [2]}]

- name: nearly_bell(Tensor self, float width=0.7) -> Tensor
  doc: Wrong by one in ten thousand millions.
  forward: exp(-((self / width) ** 2) / 2)
  self: -grad * result * self / (width ** 2 + 1e-10)
  result: auto_element_wise
  examples: [{self: [2]}]
"""

OF_NUMBERS = """
- name: scores(Tensor query, Tensor key) -> Tensor
  doc: The root of a size, in single precision neither on arrays nor on tensors.
  forward: query @ transpose(key, -1, -2) / sqrt(float(query.shape[-1]))
  query: grad @ key / sqrt(float(query.shape[-1]))
  key: transpose(grad, -1, -2) @ query / sqrt(float(key.shape[-1]))
  result: >-
    (query_t @ transpose(key_p, -1, -2) + query_p @ transpose(key_t, -1, -2))
    / sqrt(float(query_p.shape[-1]))
  requires:
    - query.ndim == 2 and key.ndim == 2 and query.shape[1] == key.shape[1]
    - query.dtype == key.dtype
  examples: [{query: [2, 3], key: [2, 3]}, {query: [2, 1], key: [1, 1]}]

- name: log_scaled(Tensor self, float base) -> Tensor
  doc: The logarithm of an attribute, and its other spelling.
  forward: self * log(base)
  self: grad * (log2(base) * log(2))
  result: self_t * log(base)
  examples: [{self: [2], base: 0.7}, {self: [2], base: 3.0}]
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    folder: Path = tmp_path_factory.mktemp("attributes")
    return prove_text(SPEC + OF_NUMBERS, folder, "attribute_ops")


@pytest.mark.parametrize("name", ["bell", "biweight", "scores", "log_scaled"])
def test_proved(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    spec, verdict = verdicts[name]
    assert verdict.status is Status.PROVED, str(explain(verdict, spec))


@pytest.mark.parametrize("name", ["broken_bell", "nearly_bell"])
def test_refuted(name: str, verdicts: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    _, verdict = verdicts[name]
    assert verdict.counterexample is not None
    assert verdict.counterexample.label.startswith("VJP of self")
    assert "width=0.7" in verdict.counterexample.call


def test_arithmetic_is_exact() -> None:
    found = 1 - as_exact(0.7) ** 2 / 6
    assert isinstance(found, ExactConstant)
    assert found.expr == sympy.Rational(551, 600)
    assert found > 0.9
    assert found == 551 / 600


@pytest.mark.parametrize("value", [3, True, None, "sum", math.inf, -0.0, 0.5 - 2j])
def test_what_is_no_finite_float_stays(value: object) -> None:
    assert as_exact(value) is value


def test_lists_are_exact_item_by_item_and_plain_again() -> None:
    exact = as_exact([0.1, 2, (0.25, None)])
    assert exact[0].expr == sympy.Rational(1, 10)
    plain = as_plain(exact)
    assert plain == [0.1, 2, (0.25, None)]
    assert type(plain[0]) is type(plain[2][0]) is float


def test_python_answers_where_sympy_has_no_number() -> None:
    with pytest.raises(ZeroDivisionError):
        1 / as_exact(0.0)
    with pytest.raises(ZeroDivisionError):
        as_exact(0.0) ** -1
    assert as_exact(0.7) * math.inf == math.inf
    assert as_exact(0.7) ** 1e300 == 0.0
    assert math.isnan(as_exact(0.7) + math.nan)


def test_an_exact_number_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(as_exact(4.685)))
    assert again.expr == sympy.Rational(937, 200)


def test_a_product_with_a_factor_of_zero_has_no_sign() -> None:
    x = sympy.Symbol("x", real=True)
    point = Point({x: sympy.Rational(937, 200)})
    off = 1 - sympy.Rational(40000, 877969) * x * x
    assert point.sign(3 * x * off**2) == 0
    assert point.sign(3 * x * off**2 + sympy.sqrt(x) * off) == 0
    assert point.sign(x * (off + sympy.Rational(1, 10**40))) == 1


def test_functions_of_numbers_are_in_double_precision(tmp_path: Path) -> None:
    ops = imported(OF_NUMBERS, tmp_path, "ops_of_numbers")
    for dtype in (gs.float32, gs.float64):
        x = gs.ones(2, 3, dtype=dtype, requires_grad=True)
        result = ops.scores(x, gs.ones(2, 3, dtype=dtype))
        (gradient,) = gs.autograd.grad(result.sum(), x, create_graph=True)
        assert result.dtype == gradient.dtype == dtype
        expected = np.full((2, 3), 2 / np.sqrt(3))
        np.testing.assert_allclose(
            gradient.detach().numpy(), expected, rtol=2 * np.finfo(str(dtype).split(".")[-1]).eps
        )


def test_functions_of_numbers_answer_as_arrays_do_where_they_have_no_value() -> None:
    for module in (constants, exact_module()):
        assert module.log(0) == -math.inf
        assert module.rsqrt(0.0) == module.lgamma(-1.0) == module.exp(1e4) == math.inf
        assert math.isnan(module.sqrt(-1.0))
        assert math.isnan(module.acos(2.0))
        assert module.sqrt(-1 + 0j) == 1j
        assert module.exp(-math.inf) == 0.0
