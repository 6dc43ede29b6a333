"""Mutation testing: mutants are made, killed, and told apart from those that change nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from gradspec_codegen.cli import main
from gradspec_codegen.mutate.acceptable import those_generated
from gradspec_codegen.mutate.mutants import Mutant, mutants_of
from gradspec_codegen.mutate.trial import Fate, Outcome, score, try_mutants
from gradspec_codegen.render.context import GENERATED_PACKAGE
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from tests.codegen.proving import own_table

SPEC = Path(__file__).parents[3] / "specs" / "derivatives.yaml"


def of(name: str, key: str) -> list[Mutant]:
    """The mutants of one formula of gradspec's own table."""
    found = mutants_of(own_table().by_name(name), own_table())
    return [mutant for mutant in found if mutant.key == key]


def test_every_mistake_of_a_product() -> None:
    assert [(mutant.kind, mutant.text) for mutant in of("mul.Tensor", "self")] == [
        ("operator", "grad / conj(other)"),
        ("operator", "grad + conj(other)"),
        ("factor lost", "grad"),
        ("factor lost", "conj(other)"),
        ("grad doubled", "grad * 2 * conj(other)"),
        ("grad lost", "grad * 0 * conj(other)"),
        ("function lost", "grad * other"),
        ("sign", "grad * conj(-other)"),
        ("wrong name", "grad * conj(result)"),
    ]


def test_branches_and_comparisons() -> None:
    texts = {mutant.text for mutant in of("clamp_min", "self")}
    assert {
        "where(self >= min, 0, grad)",
        "where(self > min, grad, 0)",
        "where(self < min, grad, 0)",
        "grad",
        "where(self >= min, grad, 1)",
    } <= texts


def test_dimensions_and_flags() -> None:
    texts = {mutant.text for mutant in of("_log_softmax_backward_data", "grad_output")}
    assert {
        "grad - sum(grad * exp(output), dim + 1, True)",
        "grad - sum(grad * exp(output), dim, False)",
        "grad - mean(grad * exp(output), dim, True)",
        "grad - sum(grad * exp(output), dim)",
        "sum(grad * exp(output), dim, True) - grad",
        "grad - grad * exp(output)",
    } <= texts


def test_a_mutant_differs_from_its_original_in_one_formula() -> None:
    op = own_table().by_name("mul.Tensor")
    for mutant in mutants_of(op, own_table()):
        changed = [a != b for a, b in zip(mutant.op.vjps, op.vjps, strict=True)]
        changed += [a != b for a, b in zip(mutant.op.jvps, op.jvps, strict=True)]
        assert sum(changed) == 1
        assert mutant.op.forward == op.forward


def test_a_mutant_has_a_name_of_its_own() -> None:
    for number, mutant in enumerate(of("mul.Tensor", "self"), start=1):
        assert mutant.op.name == f"mutant_{number}_mul_Tensor"
        assert (mutant.op.operators, mutant.op.aliases, mutant.op.inplace) == ((), (), False)


def tried(text: str, folder: Path) -> dict[str, Outcome]:
    """The outcomes of all mutants of a spec of its own, by the mutated formula."""
    path = folder / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    base = own_table()
    table = load_table(path, base=base)
    everything = Table((*base.ops, *table.ops))
    mutants = [m for op in table.ops for m in mutants_of(op, everything)]
    mutants = those_generated(mutants, everything)
    outcomes = try_mutants(mutants, table, "mutated_ops", base=base)
    return {outcome.mutant.text: outcome for outcome in outcomes}


ROW_MEANS = """
- name: _row_means(Tensor self) -> Tensor
  doc: The mean of each row; a private op, which is proved by its examples alone.
  forward: kernels.sum(self, 1, False, None) / self.shape[1]
  self: _unreduce(grad, self.shape, 1, False) / self.shape[1]
  result: auto_linear
  examples:
"""


@pytest.mark.parametrize(
    "examples", ["    - {self: [2, 2]}\n", "    - {self: [2, 3]}\n    - {self: [1, 3, 2]}\n"]
)
def test_weak_examples_leave_no_survivors(examples: str, tmp_path: Path) -> None:
    """Square ones do not tell rows from columns; the search of calls does."""
    found = tried(ROW_MEANS + examples, tmp_path)
    assert [str(o.mutant) for o in found.values() if o.fate is Fate.SURVIVED] == []
    assert score(list(found.values())) == 1
    wrong = found["_unreduce(grad, self.shape, 1, False) / self.shape[0]"]
    assert wrong.fate is Fate.KILLED
    assert wrong.reason.startswith("VJP of self")


def test_a_definition_and_the_call_of_its_kernel_are_mutated() -> None:
    found = of("hardtanh", "forward")
    assert {mutant.mode for mutant in found} == {"value"}
    assert "where(self < min_val, min_val, where(self > max_val, self, max_val))" in {
        mutant.text for mutant in found
    }
    calls = {mutant.text: mutant for mutant in of("hardtanh", "kernel")}
    mutant = calls["kernels.hardtanh(self, max_val, max_val)"]
    assert str(mutant) == "hardtanh, kernel: `min_val` became `max_val` (wrong name)"
    assert mutant.op.kernel is not None
    assert mutant.op.kernel.text == mutant.text
    assert mutant.op.forward == own_table().by_name("hardtanh").forward
    assert of("sin", "forward") == []  # compared with nothing


DEFINED_MEANS = """
- name: _defined_means(Tensor self) -> Tensor
  doc: The mean of each row, by a kernel.
  forward: np.sum(self, 1) / self.shape[1]
  kernel: kernels.mean(self, 1, False, None)
  self: _unreduce(grad, self.shape, 1, False) / self.shape[1]
  result: auto_linear
  examples:
"""


def test_a_wrong_definition_is_killed_at_a_call_that_no_example_makes(tmp_path: Path) -> None:
    found = tried(DEFINED_MEANS + "    - {self: [2, 2]}\n", tmp_path)
    wrong = found["np.sum(self, 1) / self.shape[0]"]
    assert wrong.fate is Fate.KILLED
    assert wrong.reason.startswith("kernel of result")


def test_good_examples_kill_wrong_definitions_and_kernels(tmp_path: Path) -> None:
    found = tried(DEFINED_MEANS + "    - {self: [2, 3]}\n    - {self: [1, 3, 2]}\n", tmp_path)
    assert [str(o.mutant) for o in found.values() if o.fate is Fate.SURVIVED] == []
    wrong = found["np.sum(self, 1) / self.shape[0]"]
    assert wrong.fate is Fate.KILLED
    assert wrong.reason.startswith("kernel of result")
    assert found["kernels.mean(self, 0, False, None)"].fate is Fate.KILLED


def test_mutants_of_an_op_with_a_named_node_have_nodes_of_their_own(tmp_path: Path) -> None:
    text = """
- name: halved(Tensor self) -> Tensor
  doc: Half of each element.
  forward: self * 0.5
  self: grad * 0.5
  result: auto_linear
  node: HalfBackward
  examples:
    - {self: [2]}
"""
    found = tried(text, tmp_path)
    assert found["grad"].fate is Fate.KILLED
    assert [str(o.mutant) for o in found.values() if o.fate is not Fate.KILLED] == []


def test_a_mutant_that_changes_nothing_is_equivalent(tmp_path: Path) -> None:
    text = """
- name: floor_at_zero(Tensor self) -> Tensor
  doc: Negative elements become zero.
  forward: np.maximum(self, 0)
  self: where(result <= 0, 0, grad)
  result: auto_element_wise
  kinks: {"self == 0": 0}
"""
    found = tried(text, tmp_path)
    assert found["where(self <= 0, 0, grad)"].fate is Fate.EQUIVALENT
    assert found["where(result < 0, 0, grad)"].fate is Fate.KILLED


def test_score_counts_what_differs() -> None:
    (mutant, *_) = of("mul.Tensor", "self")
    fates = [Fate.KILLED, Fate.KILLED, Fate.KILLED, Fate.SURVIVED, Fate.EQUIVALENT]
    assert score([Outcome(mutant, fate, "") for fate in fates]) == 0.75
    assert score([]) == 1.0


OPS = ("tanh", "div.Tensor", "logsumexp", "index_select")
"""Ops of different families. Each is proved beside its mutants, which takes most of the time."""


def test_a_sample_of_the_table_is_killed() -> None:
    """Run `gradspec mutate --sample 16 OP...`; without options it tries the whole table."""
    words = ["mutate", *OPS, "--sample", "16", "--json", "--spec", str(SPEC)]
    result = CliRunner().invoke(main, [*words, "--jobs", str(os.cpu_count() or 1)])
    answer = json.loads(result.stdout)
    survivors = [m for m in answer["mutants"] if m["fate"] == "survived"]
    assert survivors == []
    assert answer["killed"] >= 10
    assert answer["score"] == 1.0
    assert result.exit_code == 0


@pytest.mark.parametrize("words", [["mutate", "no_such_op"], ["mutate", "--sample", "0"]])
def test_usage(words: list[str]) -> None:
    result = CliRunner().invoke(main, [*words, "--spec", str(SPEC)])
    assert result.exit_code == 2
    assert GENERATED_PACKAGE not in result.output
