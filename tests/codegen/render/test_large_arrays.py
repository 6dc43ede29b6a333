"""The version of a formula for large arrays: proved like the other one, and used above a size."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import gradspec as gs
from gradspec.fast.tuning import PARALLEL_ARITHMETIC_MIN
from gradspec_codegen.cli import main
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.render import to_threads
from tests.codegen.proving import prove_text

BENT = textwrap.dedent("""\
- family: bends

- name: bent(Tensor self, Scalar by) -> Tensor
  doc: A number of squares beside the argument.
  forward: self + by * self * self
  self: grad * (1 + 2 * by * self)
  result: auto_element_wise
  examples:
    - {self: [3], by: 2}
""")


def test_a_wrong_version_for_large_arrays_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, verdict), *_ = prove_text(BENT, tmp_path, "bends").values()
    assert verdict.status is Status.PROVED, verdict
    for operator, label in (("*", "VJP of self[0], of large arrays"), ("+", "of large arrays[0]")):
        with monkeypatch.context() as patched:
            patched.setitem(to_threads._OPERATORS, operator, "np.divide")
            (_, verdict), *_ = prove_text(BENT, tmp_path, "bends").values()
        assert verdict.status is Status.REFUTED
        assert verdict.counterexample is not None
        assert verdict.counterexample.label.endswith(label)


def test_an_op_of_another_table_shares_large_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "bends.yaml"
    spec.write_text(BENT, encoding="utf-8")
    out = tmp_path / "bends_shared"
    made = CliRunner().invoke(main, ["codegen", str(spec), "--out", str(out), "-j", "1"])
    assert made.exit_code == 0, made.output
    monkeypatch.syspath_prepend(tmp_path)
    bends = importlib.import_module("bends_shared")
    family = importlib.import_module("bends_shared.bends")
    asked: list[int] = []
    shared = family.in_threads
    monkeypatch.setattr(
        family, "in_threads", lambda *args: asked.append(args[1].size) or shared(*args)
    )
    for size, calls in (
        (PARALLEL_ARITHMETIC_MIN - 1, []),
        (PARALLEL_ARITHMETIC_MIN, [PARALLEL_ARITHMETIC_MIN, PARALLEL_ARITHMETIC_MIN]),
    ):
        data = np.linspace(-1, 1, size)
        x = gs.tensor(data, requires_grad=True)
        y = bends.bent(x, 3)
        y.backward(gs.ones_like(y))
        assert asked == calls
        assert x.grad is not None
        np.testing.assert_allclose(y.detach().numpy(), data + 3 * data**2, atol=1e-15)
        np.testing.assert_allclose(x.grad.numpy(), 1 + 6 * data, atol=1e-15)


def test_a_gradient_that_looks_at_other_elements_is_not_pointwise(tmp_path: Path) -> None:
    """However elementwise the op is; here its gradient is as it was, by way of two flips."""
    turned = BENT.replace("family: bends", "family: turns").replace("bent(", "turned(")
    turned = turned.replace("self: grad * (", "self: flip(flip(grad, [0]), [0]) * (")
    for name, text, is_pointwise in (("bends", BENT, True), ("turns", turned, False)):
        spec, out = tmp_path / f"{name}.yaml", tmp_path / f"{name}_nodes"
        spec.write_text(text, encoding="utf-8")
        made = CliRunner().invoke(main, ["codegen", str(spec), "--out", str(out), "-j", "1"])
        assert made.exit_code == 0, made.output
        code = (out / f"{name}.py").read_text(encoding="utf-8")
        assert ("is_pointwise = True" in code) == is_pointwise
