"""What is quicker to compute beside a forward: kept by ops of any table, and no hole in it."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import gradspec as gs
from gradspec.fast import sines as elementwise
from gradspec_codegen.cli import main
from gradspec_codegen.prove.report.verdict import Status

from .proving import prove_text

WAVE = textwrap.dedent("""\
- family: waves

- name: wave(Tensor self) -> Tensor
  doc: A sine by another name.
  forward: np.sin(self)
  self: grad * cos(self)
  result: auto_element_wise
""")


def test_wrong_gradients_are_refuted_whatever_is_computed_beside(tmp_path: Path) -> None:
    for formula, status in (
        ("grad * cos(self)", Status.PROVED),
        ("grad * cos(self) * cos(self)", Status.REFUTED),
        ("-grad * cos(self)", Status.REFUTED),
        ("grad * sin(self)", Status.REFUTED),
    ):
        text = WAVE.replace("grad * cos(self)", formula)
        (op, verdict), *_ = prove_text(text, tmp_path, "waves").values()
        assert (op.name, verdict.status) == ("wave", status), formula


def test_an_op_of_another_table_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "waves.yaml"
    spec.write_text(WAVE, encoding="utf-8")
    out = tmp_path / "waves_beside"
    made = CliRunner().invoke(main, ["codegen", str(spec), "--out", str(out), "-j", "1"])
    assert made.exit_code == 0, made.output
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(elementwise, "_tangent_is_quick", lambda: True)
    waves = importlib.import_module("waves_beside")
    for size, is_kept in ((elementwise.SEVERAL - 1, False), (elementwise.SEVERAL, True)):
        data = np.linspace(0.5, 3, size)
        x = gs.tensor(data, requires_grad=True)
        y = waves.wave(x)
        assert (y.grad_fn._computed_beside is not None) is is_kept
        y.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), np.cos(data), rtol=0, atol=2**-51)


def test_explain_says_so() -> None:
    answer = CliRunner().invoke(main, ["explain", "sin"]).output
    assert "cos(self) where it is quicker to compute beside the forward" in answer
