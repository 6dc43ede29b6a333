"""Values of a definition that emitted Functions keep, and arithmetic that is one call."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gradspec_codegen.auto import fill_in
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.emitted import FILLED, ORIGIN, TABLE

RMS = """
- name: probe(Tensor self, float eps=1e-6) -> Tensor
  doc: Vectors over their root mean square.
  forward: |
    scale = rsqrt(mean(self * self, -1, True) + eps)
    return self * scale
  self: scale * (grad - self * (scale * scale * mean(grad * self, -1, True)))
"""

DERIVED = """
- name: probe(Tensor self) -> Tensor
  doc: Vectors over their sum of squares, with a derived gradient.
  forward: self / sum(self * self, -1, True)
"""

MEAN_INSIDE = """
- name: probe(Tensor self) -> Tensor
  doc: Squares of distances from the mean, where a part of a local is small.
  forward: |
    centred = self - mean(self, -1, True)
    return centred * centred
  self: |
    moved = 2 * grad * centred
    return moved - mean(moved, -1, True)
"""

OTHER_MEANING = """
- name: probe(Tensor self, Tensor other) -> Tensor
  doc: A product of a vector and a number, whose rules use one name for two things.
  requires: [other.ndim == 0]
  forward: |
    total = exp(sum(self))
    return total * other * self
  self: |
    total = sum(grad * self)
    return other * exp(sum(self)) * (grad + total)
  other: sum(grad * exp(sum(self)) * self)
"""

AS_LARGE = """
- name: probe(Tensor self) -> Tensor
  doc: A gate, as large as the argument.
  forward: |
    share = tanh(self)
    return self * share
  self: grad * (share + self * (1 - share * share))
  result: auto_element_wise
"""

BRANCHES = """
- name: probe(Tensor self, bool sharp=False) -> Tensor
  doc: Vectors over a sum, which one branch alone makes.
  forward: |
    if sharp:
        return self * 2
    return self / sum(self * self, -1, True)
"""


def _emitted(entry: str, folder: Path) -> str:
    spec = folder / "probe.yaml"
    spec.write_text(f"- family: probes\n{entry}", encoding="utf-8")
    table = load_table(spec, base=TABLE)
    table = fill_in(table, Table((*FILLED.ops, *table.ops)), {})
    everything = Table((*FILLED.ops, *table.ops))
    return FrameworkPackage(table, everything, framework("torch"), ORIGIN).files({})["probes.py"]


def _keeping(source: str) -> str:
    """The class that keeps more than arguments and results."""
    found = re.search(r"^class Probe_Keeping.*?(?=^class )", source, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("entry", "kept", "made_once"),
    [
        pytest.param(RMS, "input, scale", "torch.rsqrt(", id="a local"),
        pytest.param(
            DERIVED, "input, output, kept", "torch.sum(input * input", id="a derived gradient"
        ),
        pytest.param(MEAN_INSIDE, "input, kept", "torch.mean(input", id="a part of a local"),
        pytest.param(OTHER_MEANING, "input, other, kept", "torch.exp(", id="another meaning"),
    ],
)
def test_small_values_are_kept(tmp_path: Path, entry: str, kept: str, made_once: str) -> None:
    """A value that a sum has made smaller is computed in `forward` alone in plain training."""
    keeping = _keeping(_emitted(entry, tmp_path))
    saved = re.search(r"ctx.save_for_backward\((.*)\)", keeping)
    assert saved is not None
    assert saved[1] == kept
    assert keeping.count(made_once) == 1
    assert keeping.index(made_once) < keeping.index("def backward")


@pytest.mark.parametrize("entry", [AS_LARGE, BRANCHES], ids=["as large", "branches"])
def test_nothing_more_is_kept(tmp_path: Path, entry: str) -> None:
    source = _emitted(entry, tmp_path)
    assert "class Probe_Reverse" in source
    assert not _keeping(source)
    assert "plain=" not in source


def _tanh(rule: str, more: str = "result: auto_element_wise") -> str:
    return f"""
- name: probe(Tensor self, Scalar cap=2) -> Tensor
  doc: A smooth bound.
  forward: cap * tanh(self / cap)
  self: {rule}
  {more}
"""


@pytest.mark.parametrize(
    "rule", ["grad * (1 - (result / cap) ** 2)", "grad * (1 - (result / cap) * (result / cap))"]
)
def test_arithmetic_of_one_kernel(tmp_path: Path, rule: str) -> None:
    source = _emitted(_tanh(rule), tmp_path)
    backward = source[source.index("def backward") : source.index("class Probe(")]
    assert "aten.tanh_backward" in backward
    assert "1 -" not in backward


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        ("grad * (2 - (result / cap) ** 2)", "result: auto_element_wise"),
        ("grad * (1 - cap ** 2)", "result: auto_element_wise"),
        ("grad * (1 - (result / cap) ** 2)", "complex: true"),
    ],
    ids=["another form", "of numbers", "complex numbers"],
)
def test_other_arithmetic_stays(tmp_path: Path, rule: str, more: str) -> None:
    assert "aten.tanh_backward" not in _emitted(_tanh(rule, more), tmp_path)


SHAPES = """
- name: probe(Tensor self, Tensor weight) -> Tensor
  doc: A product of a matrix and a squashed vector, of other shapes than the gradient.
  requires: [self.ndim == 2 and weight.ndim == 1]
  forward: self @ weight
  self: unsqueeze(grad, 1) * (1 - weight ** 2)
  weight: sum(unsqueeze(grad, 1) * self, 0)
"""


def test_no_kernel_for_several_shapes(tmp_path: Path) -> None:
    """PyTorch's derivative of the kernel would not sum what was broadcast."""
    assert "aten.tanh_backward" not in _emitted(SHAPES, tmp_path)


SILU = {
    "a gate": """
- name: probe(Tensor self, Tensor gate) -> Tensor
  doc: A product of which one side has gone through SiLU.
  forward: |
    share = sigmoid(gate)
    return self * (gate * share)
  self: grad * (gate * share)
  gate: grad * self * (share * (1 + gate * (1 - share)))
  result: auto_element_wise
  promotes: self, gate
""",
    "with a factor": """
- name: probe(Tensor self) -> Tensor
  doc: A curve by a sigmoid.
  forward: |
    share = sigmoid(1.702 * self)
    return self * share
  self: grad * (share + 1.702 * self * share * (1 - share))
  result: auto_element_wise
""",
}


@pytest.mark.parametrize("entry", SILU.values(), ids=SILU)
def test_kernels_without_a_derivative_are_for_plain_training(tmp_path: Path, entry: str) -> None:
    """The locals of the author are looked through, and nothing more is kept."""
    source = _emitted(entry, tmp_path)
    keeping = _keeping(source)
    assert source.count("aten.silu_backward") == keeping.count("aten.silu_backward") == 1
    backward = keeping[keeping.index("def backward") :]
    assert backward.index("if is_grad_enabled():") < backward.index("aten.silu_backward")
    assert "sigmoid" not in backward
    saved = "ctx.save_for_backward(input, gate)", "ctx.save_for_backward(input)"
    assert keeping.count(saved["gate" not in entry]) == 1


@pytest.mark.parametrize(
    ("factor", "more"),
    [
        ("share * (2 + self * (1 - share))", ""),
        ("share * (1 + self * (1 - sigmoid(2 * self)))", ""),
        ("share * (1 + self * (1 - share))", "complex: true"),
    ],
    ids=["another form", "another argument", "complex numbers"],
)
def test_other_arithmetic_is_no_kernel(tmp_path: Path, factor: str, more: str) -> None:
    entry = f"""
- name: probe(Tensor self) -> Tensor
  doc: A rule that is not proved here.
  forward: |
    share = sigmoid(self)
    return self * share
  self: grad * ({factor})
  result: auto_element_wise
  {more}
"""
    assert "silu_backward" not in _emitted(entry, tmp_path)
