"""Numbers that a rule chooses between by `where` take the dtype of what is differentiated."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec_codegen.ir.walk import calls
from gradspec_codegen.spec.model import Formula
from tests.codegen.proving import imported, own_table

SPEC = """
- name: leaky(Tensor self, float slope=0.1) -> Tensor
  doc: Negative elements count less.
  forward: where(self > 0, self, slope * self)
  self: |
    share = where(self > 0, 1, slope)
    return grad * share
  result: self_t * where(self_p > 0, 1, slope)
  kinks: {self == 0: slope}
  promotes: self

- name: count_above(Tensor self, float bound=0.0) -> Tensor
  doc: A forward of numbers keeps NumPy's dtype.
  forward: where(self > bound, 2, 1)
  output_differentiability: [false]
  examples: [{self: [2]}]
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(SPEC, tmp_path_factory.mktemp("choices"), "ops_with_choices")


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_have_the_dtype_and_digits_of_the_argument(
    ops: ModuleType, dtype: np.dtype, create_graph: bool
) -> None:
    x = gs.tensor([2.0, -3.0], dtype=dtype, requires_grad=True)
    (found,) = gs.autograd.grad(ops.leaky(x).sum(), x, create_graph=create_graph)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.detach().numpy(), np.array([1.0, 0.1], dtype))


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_tangents_do_so_too(ops: ModuleType, dtype: np.dtype) -> None:
    x = gs.tensor([2.0, -3.0], dtype=dtype)
    with dual_level():
        found = unpack_dual(ops.leaky(make_dual(x, gs.ones_like(x)))).tangent
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), np.array([1.0, 0.1], dtype))


def test_a_forward_of_numbers_stays_as_it_is(ops: ModuleType) -> None:
    assert ops.count_above(gs.tensor([1.0, -1.0])).dtype == gs.int64


def test_a_choice_with_a_tensor_stays_as_it_is() -> None:
    rule = own_table().by_name("where.self").rule("self")
    assert isinstance(rule, Formula)
    assert {call.function for call in calls(rule.block)} == {"where"}
