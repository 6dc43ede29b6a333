"""Ops that are emitted for PyTorch, on complex numbers: equal to autodiff of their definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import jvp, vmap

from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.proving import read_table
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

SPEC = """
- family: signals

- name: phase_shift(Tensor self, Tensor angle) -> Tensor
  doc: A complex signal turned.
  requires: [self.shape == angle.shape]
  forward: self * complex(cos(angle), sin(angle))
  self: grad * conj(complex(cos(angle), sin(angle)))
  angle: real(grad * conj(self * complex(-sin(angle), cos(angle))))
  result: >-
    self_t * complex(cos(angle), sin(angle))
    + self_p * complex(-sin(angle), cos(angle)) * angle_t
  complex: true
  examples:
    - {self: {complex: [2]}, angle: [2]}

- name: power_spectrum(Tensor self, Tensor angle) -> Tensor
  doc: The squared magnitude of a complex signal, over an angle.
  requires: [self.shape == angle.shape]
  forward: real(self * conj(self * angle))
  self: 2 * grad * self * angle
  angle: grad * real(self * conj(self))
  result: 2 * real(conj(self_p) * self_t) * angle_p + real(self_p * conj(self_p)) * angle_t
  complex: true
  examples:
    - {self: {complex: [2]}, angle: [2]}
"""

DEFINITIONS: dict[str, Callable[..., Any]] = {
    "phase_shift": lambda z, a: z * torch.exp(1j * a),
    "power_spectrum": lambda z, a: z.abs() ** 2 * a,
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_complex_numbers(name: str, tmp_path: Path) -> None:
    spec = tmp_path / "signals.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    table = read_table(spec)
    known = Table((*FILLED.ops, *table.ops))
    package = FrameworkPackage(table, known, framework("torch"), ORIGIN)
    op = getattr(imported(package.files({}), tmp_path), name)
    inputs = (torch.tensor([0.5 - 1j, 2 + 0.25j]).to(torch.complex128), torch.tensor([0.7, -2.0]))
    inputs = (inputs[0], inputs[1].double())
    tangents = (inputs[0].conj() * (1 + 2j), inputs[1].cos())

    def answers(function: Callable[..., Any]) -> list[Any]:
        leaves = tuple(x.clone().requires_grad_() for x in inputs)
        out = function(*leaves)
        loss = (out * (1.5 + 0.5j)).real.sum() + (out.abs() ** 2).sum()
        first = torch.autograd.grad(loss, leaves, create_graph=True)
        second = torch.autograd.grad(sum((g.abs() ** 2).sum() for g in first), leaves)

        def moved(*xs: Any) -> Any:
            return jvp(function, xs, tangents)[1]

        batch = tuple(torch.stack([x, 2 * x]) for x in inputs)
        twice = jvp(moved, inputs, tangents)[1]
        return [out, *first, *second, moved(*inputs), twice, vmap(function)(*batch)]

    torch.testing.assert_close(answers(op), answers(DEFINITIONS[name]))
    leaves = tuple(x.clone().requires_grad_() for x in inputs)
    assert gradcheck(op, leaves, check_forward_ad=True)
    assert gradgradcheck(op, leaves)
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*leaves), DEFINITIONS[name](*leaves))
