"""Ops that PyTorch takes for a whole are split among devices, where their batching rules say so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle

# The family is called like a function of the module that registers its ops.
SPEC = """
- family: register

- name: whole_cap(Tensor self, Scalar cap=30) -> Tensor
  doc: A smooth bound.
  forward: cap * tanh(self / cap)
  self: grad * (1 - (result / cap) ** 2)
  result: auto_element_wise
  promotes: self
  torch: {custom_op: true}

- name: whole_norm(Tensor self, Tensor weight, float eps=0.5) -> (Tensor normed, Tensor scale)
  doc: A norm with two results.
  requires: self.ndim > 0 and weight.shape == (self.shape[-1],)
  forward: |
    scale = rsqrt(mean(self * self, [-1], True) + eps)
    return self * scale * weight, scale
  examples:
    - {self: [2], weight: [2]}
    - {self: [2, 2], weight: [2]}
  torch: {custom_op: true}

- name: whole_flip(Tensor self) -> Tensor
  doc: The rows in reverse order, which no part of the rows can tell.
  requires: self.ndim == 2
  forward: 1 * flip(self, [0])
  examples:
    - {self: [2, 3]}
  torch: {custom_op: true}

- name: gated(Tensor self, Tensor gate) -> Tensor
  doc: An op that is no whole, of which DTensor splits the parts.
  forward: self * sigmoid(gate)
  promotes: self, gate
"""


def test_shards_give_what_the_whole_gives(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(SPEC, encoding="utf-8")
    words = [sys.executable, "-m", "gradspec_codegen", "codegen", "ops.yaml"]
    words += ["--out", "sharded_ops", "--target", "torch"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    script = Path(__file__).with_name("sharded_whole.py")
    run = [sys.executable, str(script), str(tmp_path), "sharded_ops"]
    found = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, found.stderr[-3000:]
    assert found.stdout.splitlines() == [
        "whole_cap of S(0): S(0) True",
        "whole_cap of S(1): S(1) True",
        "whole_norm of S(0) R: S(0) True",
        "whole_norm of S(1) R: R True",
        "whole_norm of S(0) S(0): R True",
        "whole_flip of S(0): R True",
        "gated of S(0) S(0): S(0) True",
    ]
