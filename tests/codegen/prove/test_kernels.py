"""A kernel beside a definition is proved to compute it; a wrong one of either is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.diagnostics import SpecError, render
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.prove import sources
from gradspec_codegen.prove.report.verdict import OpVerdict, Status, explain
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec
from tests.codegen.proving import own_table, prove_text

RULES = """
  self: where((self < low) | (self > high), 0, grad)
  result: auto_element_wise
  kinks: {"self == low": 1, "self == high": 1}
  examples:
    - {self: [2], low: -1, high: 1}
"""

RIGHT = f"""
- name: bounded(Tensor self, float low, float high) -> Tensor
  doc: A kernel and a definition that agree.
  requires: low < high
  forward: where(self < low, low, where(self > high, high, self))
  kernel: kernels.clamp(self, low, high)
{RULES}
- name: softmax_by_parts(Tensor self, int dim) -> Tensor
  doc: A definition of several lines, without the shift that the kernel makes.
  requires: self.ndim == 2
  forward: |
    powers = np.exp(self)
    return powers / sum(powers, dim, True)
  kernel: kernels.softmax(self, dim)
  self: result * (grad - sum(grad * result, dim, True))
  result: result * (self_t - sum(self_t * result, dim, True))
  examples:
    - {{self: [2, 3], dim: 1}}

- name: largest(Tensor self, int dim) -> (Tensor values, Tensor indices)
  doc: Several outputs, one of them of integers.
  forward: np.max(self, dim), np.argmax(self, dim)
  kernel: kernels.max_with_indices(self, dim, False)
  output_differentiability: [true, false]
  self: _put_along_dim(grad, self.shape, dim, indices, False)
  values: _take_along_dim(self_t, dim, indices, False)
  examples:
    - {{self: [2, 2], dim: 1}}
"""

WRONG = f"""
- name: wrong_bound(Tensor self, float low, float high) -> Tensor
  doc: The definition has one of the bounds wrong.
  forward: where(self < low, low, where(self > high, low, self))
  kernel: kernels.clamp(self, low, high)
{RULES}
- name: swapped_bounds(Tensor self, float low, float high) -> Tensor
  doc: The kernel is given its arguments in the wrong order.
  forward: where(self < low, low, where(self > high, high, self))
  kernel: kernels.clamp(self, high, low)
{RULES}
- name: wrong_far_away(Tensor self) -> Tensor
  doc: The definition differs beyond a bound that neither side compares with near zero.
  forward: where(self > 700, self + 1, self)
  kernel: kernels.alias(self)
  self: grad
  result: auto_linear
  promotes: self

- name: wrong_at_a_tie(Tensor self, float threshold, float value) -> Tensor
  doc: Elements equal to the threshold are kept here, and replaced by the kernel.
  forward: where(self < threshold, value, self)
  kernel: kernels.threshold(self, threshold, value)
  self: where(self <= threshold, 0, grad)
  result: auto_element_wise
  kinks: {{"self == threshold": 0}}
  examples:
    - {{self: [2], threshold: 0.5, value: 3}}

- name: wrong_shape(Tensor self) -> Tensor
  doc: The kernel loses a dimension that the definition keeps.
  forward: np.sum(self, 1, keepdims=True)
  kernel: kernels.sum(self, 1, False, None)
  self: _unreduce(grad, self.shape, 1, False)
  result: auto_linear
  examples:
    - {{self: [2, 3]}}

- name: wrong_dtype(Tensor self) -> Tensor
  doc: The kernel computes in single precision.
  forward: self * 2
  kernel: kernels.to_copy(self * 2, 'float32')
  self: grad * 2
  result: auto_linear
  examples:
    - {{self: [2]}}

- name: wrong_indices(Tensor self, int dim) -> (Tensor values, Tensor indices)
  doc: The indices are those of the smallest elements.
  forward: np.max(self, dim), np.argmin(self, dim)
  kernel: kernels.max_with_indices(self, dim, False)
  output_differentiability: [true, false]
  self: _put_along_dim(grad, self.shape, dim, indices, False)
  values: _take_along_dim(self_t, dim, indices, False)
  examples:
    - {{self: [2, 2], dim: 1}}
"""


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    return prove_text(RIGHT, tmp_path_factory.mktemp("right"), "right_kernels")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[OpSpec, OpVerdict]]:
    return prove_text(WRONG, tmp_path_factory.mktemp("wrong"), "wrong_kernels")


@pytest.mark.parametrize("name", ["bounded", "softmax_by_parts", "largest"])
def test_equal_ones_are_proved(right: dict[str, tuple[OpSpec, OpVerdict]], name: str) -> None:
    _, verdict = right[name]
    assert verdict.status is Status.PROVED, verdict


@pytest.mark.parametrize(
    "name",
    [
        *("wrong_bound", "swapped_bounds", "wrong_far_away", "wrong_at_a_tie", "wrong_shape"),
        *("wrong_dtype", "wrong_indices"),
    ],
)
def test_unequal_ones_are_refuted_at_the_kernel(
    wrong: dict[str, tuple[OpSpec, OpVerdict]], name: str
) -> None:
    spec, verdict = wrong[name]
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None
    assert verdict.counterexample.key == "kernel"
    shown = render(explain(verdict, spec))
    assert spec.kernel is not None
    assert spec.kernel.text in shown
    assert "sympy's derivative" not in shown


def test_both_values_are_shown(wrong: dict[str, tuple[OpSpec, OpVerdict]]) -> None:
    spec, verdict = wrong["wrong_bound"]
    shown = render(explain(verdict, spec))
    assert "kernel of result[1] is wrong" in shown
    assert "self_1 = " in shown
    assert "  the kernel     1.0" in shown
    assert "  the definition -1.0" in shown


def test_generated_code_runs_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(RIGHT, encoding="utf-8")
    table = load_table(path, base=own_table())
    built = PackageBuilder(table, "run_kernels", own_table()).build()
    source = built.ops["softmax_by_parts"].source
    assert "kernels.softmax(input_array, dim)" in source
    assert "powers" not in source


def test_a_definition_is_part_of_what_a_proof_depends_on(tmp_path: Path) -> None:
    texts = (RIGHT, RIGHT.replace("self > high, high", "self >= high, high"))
    found = []
    for number, text in enumerate(texts):
        path = tmp_path / f"ops{number}.yaml"
        path.write_text(text, encoding="utf-8")
        found.append(load_table(path, base=own_table()).by_name("bounded"))
    assert sources.examples_of(found[0]) != sources.examples_of(found[1])


def test_so_are_the_ops_that_it_calls() -> None:
    table = own_table()
    called = sources.definition_calls(table.by_name("hardtanh"), table)
    assert "where.self" in called
    assert sources.definition_calls(table.by_name("sin"), table) == set()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("kernel: kernels.sign(self)", "computes no `forward`"),
        ("composite: abs(self)\n  kernel: kernels.sign(self)", "computes no `forward`"),
        ("forward: self\n  kernel: np.abs(self)", "`kernel` calls no kernel"),
        ("forward: self\n  kernel: self + 1", "`kernel` calls no kernel"),
        ("forward: op(self)\n  kernel: kernels.sign(self)", "the definition of `op` calls `op`"),
        ("forward: self\n  kernel: kernels.nothing(self)", "there is no kernel `nothing`"),
        ("forward: self\n  kernel: kernels.sign(self, other)", "`other` is no name"),
        (
            "forward: kernels.sign(self) * 2\n  kernel: kernels.sign(self)",
            "`kernels.sign` in `forward`, which is to define the op without kernels",
        ),
    ],
)
def test_mistakes_are_told(entry: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        f"- name: op(Tensor self) -> Tensor\n  {entry}\n  output_differentiability: [false]\n"
        "  examples:\n    - {self: [2]}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match="mistake") as error:
        load_table(path, base=own_table())
    assert any(message in found.message for found in error.value.diagnostics)
