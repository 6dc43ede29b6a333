"""Generated functions refuse the calls that their entries do not mean, on every path."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tests.codegen.proving import imported

SPEC = """
- name: square_form(Tensor self, Tensor other, float alpha=1.0, str mode='sum') -> Tensor
  doc: A vector between a matrix and itself.
  requires:
    - self.ndim == 1
    - "other.shape == (self.shape[0], self.shape[0])": "the matrix must fit the vector"
    - alpha > 0
    - mode in ('sum', 'mean')
  forward: alpha * (self @ (other @ self))
  self: grad * alpha * (other @ self + self @ other)
  other: grad * alpha * (unsqueeze(self, 1) @ unsqueeze(self, 0))
  result: >-
    alpha * (self_t @ (other_p @ self_p) + self_p @ (other_p @ self_t))
    + alpha * (self_p @ (other_t @ self_p))
  examples: [{self: [2], other: [2, 2]}]

- name: negated(Tensor self) -> Tensor
  doc: Short vectors only.
  requires: self.shape[0] < 3
  forward: |
    if self.ndim > 2:
        return self
    return -self
  self: negated(grad)
  result: auto_linear
  variants: function, method
  inplace: true
  examples: [{self: [2]}]

- name: negated_twice(Tensor self) -> Tensor
  doc: By a formula on arrays, which calls another op.
  forward: negated(negated(self) * 1)
  self: grad
  result: auto_linear
  examples: [{self: [2]}]

- name: composed(Tensor self, Tensor? weight=None, *, int flags=1) -> Tensor
  doc: A composite, with a name that generated code has a use for.
  requires: {weight is None or weight.shape == self.shape: one weight an element}
  composite: negated(self) * flags if weight is None else negated(self) * weight
  examples: [{self: [2]}]

- name: of_one_dtype(Tensor[] tensors, Tensor self) -> Tensor
  doc: The first of a list, in double precision.
  requires: ["self.dtype == 'float64'", "tensors[1].dtype == self.dtype", not is_complex(self)]
  forward: self + tensors[0]
  tensors: (grad, 0 * grad)
  self: grad
  result: self_t + tensors_t[0]
  examples: [{tensors: [[2], [2]], self: [2]}]

- name: mean_of_positive(Tensor self) -> Tensor
  doc: Nothing has no mean.
  requires: numel(self) > 0
  forward: sum(where(self > 0, self, 0)) / numel(self)
  self: where(self > 0, grad, 0) / numel(self)
  result: sum(where(self_p > 0, self_t, 0)) / numel(self_p)
  examples: [{self: [3]}]
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(SPEC, tmp_path_factory.mktemp("r"), "refusing")


VECTOR, MATRIX = gs.tensor([1.0, 2.0]), gs.tensor([[1.0, 2.0], [3.0, 5.0]])


def refused(function: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        function()
    return str(caught.value)


def test_a_call_that_is_meant_is_computed(ops: ModuleType) -> None:
    assert ops.square_form(VECTOR, MATRIX, 2, mode="mean").item() == 62.0
    assert ops.composed(VECTOR, VECTOR).tolist() == [-1.0, -4.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            lambda: (MATRIX, MATRIX),
            "square_form: expected input.ndim == 1, but got input: [2, 2] float32",
        ),
        (
            lambda: (VECTOR, VECTOR),
            "square_form: the matrix must fit the vector, "
            "but got input: [2] float32, other: [2] float32",
        ),
        (
            lambda: (VECTOR, MATRIX, -0.5),
            "square_form: expected alpha > 0, but got alpha: -0.5",
        ),
        (
            lambda: (VECTOR, MATRIX, 1, "none"),
            "square_form: expected mode in ('sum', 'mean'), but got mode: 'none'",
        ),
    ],
)
def test_the_error_says_what_was_expected_and_what_came(
    ops: ModuleType, words: Callable[[], tuple[Any, ...]], message: str
) -> None:
    assert refused(lambda: ops.square_form(*words())) == message


def test_a_number_of_elements_may_be_required(ops: ModuleType) -> None:
    assert ops.mean_of_positive(MATRIX).item() == 2.75
    message = "mean_of_positive: expected numel(input) > 0, but got input: [0, 2] float32"
    assert refused(lambda: ops.mean_of_positive(gs.ones(0, 2))) == message


LONG = [1.0, 2.0, 3.0]
NEGATED = "negated: expected input.shape[0] < 3, but got input: "


def test_eager_recorded_and_forward_mode_refuse_alike(ops: ModuleType) -> None:
    for tensor in (gs.tensor(LONG), gs.tensor(LONG, requires_grad=True)):
        assert refused(lambda x=tensor: ops.negated(x)) == NEGATED + "[3] float32"
    with dual_level():
        dual = make_dual(gs.tensor(LONG), gs.tensor(LONG))
        assert refused(lambda: ops.negated(dual)) == NEGATED + "[3] float32"
        short = make_dual(gs.tensor([1.0]), gs.tensor([4.0]))
        assert unpack_dual(ops.negated(short)).tangent.tolist() == [-4.0]


def test_the_error_can_be_handed_to_another_process(ops: ModuleType) -> None:
    with pytest.raises(RuntimeError) as caught:
        ops.negated(gs.tensor(LONG))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (type(caught.value), NEGATED + "[3] float32")


def test_a_condition_without_a_value_refuses(ops: ModuleType) -> None:
    assert refused(lambda: ops.negated(gs.tensor(1.0))) == NEGATED + "[] float32"


def test_an_op_that_is_refused_in_place_writes_nothing(ops: ModuleType) -> None:
    x = gs.tensor(LONG)
    assert refused(lambda: x.negated_()).startswith(NEGATED)
    assert x.tolist() == LONG
    assert gs.tensor([1.0]).negated_().tolist() == [-1.0]


def test_a_formula_on_arrays_refuses_what_the_op_it_calls_does(ops: ModuleType) -> None:
    assert ops.negated_twice(VECTOR).tolist() == [1.0, 2.0]
    assert refused(lambda: ops.negated_twice(gs.tensor(LONG))) == NEGATED + "[3] float32"


def test_a_gradient_on_tensors_refuses_what_the_op_it_calls_does(ops: ModuleType) -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    (grad,) = gs.autograd.grad((ops.negated(x) * x).sum(), x, create_graph=True)
    assert grad.tolist() == [-2.0, -4.0]
    assert gs.autograd.grad(grad.sum(), x)[0].tolist() == [-2.0, -2.0]


def test_composites_refuse(ops: ModuleType) -> None:
    expected = "composed: one weight an element, but got input: [2] float32, weight: [1] float32"
    assert refused(lambda: ops.composed(VECTOR, gs.tensor([1.0]))) == expected
    with dual_level():
        dual = make_dual(VECTOR, VECTOR)
        assert refused(lambda: ops.composed(dual, gs.tensor([1.0]))) == expected
        assert unpack_dual(ops.composed(dual, flags=2)).tangent.tolist() == [-2.0, -4.0]


def test_conditions_on_dtypes(ops: ModuleType) -> None:
    x, y = gs.tensor([1.0], dtype=gs.float64), gs.tensor([1.0])
    assert ops.of_one_dtype([x, x], x).tolist() == [2.0]
    assert refused(lambda: ops.of_one_dtype([x, x], y)) == (
        "of_one_dtype: expected input.dtype == 'float64', but got input: [1] float32"
    )
    assert refused(lambda: ops.of_one_dtype([x, y], x)) == (
        "of_one_dtype: expected tensors[1].dtype == input.dtype, "
        "but got tensors: [[1] float64, [1] float32], input: [1] float64"
    )
    assert "expected tensors[1].dtype == input.dtype" in refused(lambda: ops.of_one_dtype([x], x))


CLASHES = """
- name: odd(Tensor array, Tensor unmet_requirement, *, int error=1, bool input=False) -> Tensor
  doc: Arguments that generated code has a use for.
  requires:
    - array.shape == unmet_requirement.shape and not input
    - error != 3: "no three"
  forward: array * unmet_requirement * error
  array: grad * unmet_requirement * error
  unmet_requirement: grad * array * error
  result: array_t * unmet_requirement_p * error + unmet_requirement_t * array_p * error
  examples: [{array: [2], unmet_requirement: [2]}]
"""


def test_names_of_arguments_stay_those_of_the_author(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    odd = imported(CLASHES, tmp_path_factory.mktemp("clashes"), "clashing_requirements").odd
    assert odd(VECTOR, VECTOR, error=2).tolist() == [2.0, 8.0]
    assert refused(lambda: odd(VECTOR, MATRIX)) == (
        "odd: expected array.shape == unmet_requirement.shape and not input, "
        "but got array: [2] float32, unmet_requirement: [2, 2] float32, input: False"
    )
    assert refused(lambda: odd(VECTOR, VECTOR, error=3)) == "odd: no three, but got error: 3"
