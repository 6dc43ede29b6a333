"""Emitted ops whose gradient was found to be zero: of real numbers, so that complex are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.proving import read_table
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
]

SPEC = """
- family: phases

- name: phase_between(Tensor self, Tensor other) -> Tensor
  doc: The angle between two signals.
  requires: [self.shape == other.shape]
  forward: angle(self * conj(other))
  examples:
    - {self: [2], other: [2]}

- name: weighed_phase(Tensor self, Tensor other) -> Tensor
  doc: An angle that is weighed.
  requires: [self.shape == other.shape]
  forward: angle(self) * other
  examples:
    - {self: [2], other: [2]}

- name: is_left(Tensor self) -> Tensor
  doc: Whether a number is left of the axis.
  forward: angle(self) > 1.5
  output_differentiability: [false]
  examples:
    - {self: [2]}
"""


def test_complex_numbers_are_refused(tmp_path: Path) -> None:
    spec = tmp_path / "phases.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    table = read_table(spec)
    package = FrameworkPackage(table, Table((*FILLED.ops, *table.ops)), framework("torch"), ORIGIN)
    ops = imported(package.files({}), tmp_path)
    z = torch.tensor([1 + 2j, -1 - 0.5j])
    x = torch.tensor([1.0, -2.0])
    for given in (z, z.clone().requires_grad_()):
        for call in (
            lambda given=given: ops.phase_between(given, x),
            lambda given=given: ops.phase_between(x, given),
            lambda given=given: ops.weighed_phase(given, x),
        ):
            with pytest.raises(NotImplementedError, match="not implemented for complex"):
                call()
    torch.testing.assert_close(ops.phase_between(x, x.flip(0)), torch.angle(x * x.flip(0)))
    torch.testing.assert_close(ops.weighed_phase(x, x), torch.angle(x) * x)
    assert ops.is_left(z).tolist() == [False, False]
