"""Packages for PyTorch and JAX, as far as they can be looked at without these."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from gradspec_codegen.cli import main
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.views import OriginView
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import FRAMEWORKS, framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.counts import MANUAL, rows
from tests.codegen.targets.emitted import FILLED, TABLE
from tests.meta.source_tree import ROOT

EXAMPLE = ROOT / "examples" / "framework_ops"

each = pytest.mark.parametrize("name", FRAMEWORKS)


@each
def test_the_manual_counts_what_is_emitted(name: str) -> None:
    """Each op of the table is emitted, or refused for one of the reasons in docs/targets.md."""
    text = MANUAL.read_text(encoding="utf-8")
    title = framework(name).title
    told = re.findall(rf"^\| {title} \| .+? \| \d+ \|$", text, re.MULTILINE)
    assert told == rows(name), "run python -m tests.codegen.targets.counts"


@each
def test_example_is_fresh_and_stands_alone(name: str) -> None:
    folder = EXAMPLE / f"{name}_ops"
    words = ["codegen", str(EXAMPLE / "ops.yaml"), "--out", str(folder), "--target", name]
    done = CliRunner().invoke(main, [*words, "--check"])
    assert done.exit_code == 0, done.output
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                named = ast.unparse(node)
                assert "gradspec" not in named


def test_folders_of_others_are_refused(tmp_path: Path) -> None:
    """A folder for another framework, or an edited one, stays as it is."""
    folder = tmp_path / "torch_ops"
    shutil.copytree(EXAMPLE / "torch_ops", folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(EXAMPLE / "ops.yaml", tmp_path)

    def run(*words: str) -> str:
        command = ["codegen", str(tmp_path / "ops.yaml"), "--out", str(folder), *words]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 1
        return done.output

    other = run("--target", "jax", "--proofs", str(folder / "proofs.lock"))
    assert "was generated from ops.yaml for torch, not from ops.yaml for jax" in other
    with (folder / "layers.py").open("a") as file:
        file.write("# mine\n")
    assert "was edited since it was generated: layers.py" in run("--target", "torch")
    assert "layers.py" in run("--target", "torch", "--check")


BAD = """
- family: bad

- name: by_spline(Tensor self) -> Tensor
  doc: A function that no framework has.
  forward: sp.beta(self, self)
  self: grad
  result: auto_element_wise
  examples:
    - {self: [2]}

- name: twice.one(Tensor self) -> Tensor
  doc: One of two.
  forward: 2 * self

- name: twice.other(Tensor self, float by) -> Tensor
  doc: The other one.
  forward: by * self
  examples:
    - {self: [2], by: 3}

- name: by_kernel(Tensor self, Tensor[] others) -> Tensor
  doc: A kernel that neither framework has, and no way to tell PyTorch of it.
  forward: kernels.row_pairs(self)
  self: grad
  others: non_differentiable
  examples:
    - {self: [2, 2], others: [[2]]}
  torch: {custom_op: true}
"""


_OF_CUSTOM_OPS = {
    "jax": (),
    "torch": (
        ("GS087", 22, "`by_kernel` has no formula that tells PyTorch the shape of its result"),
        ("GS087", 22, "`by_kernel` takes a list of tensors, which `custom_op` does not take"),
    ),
}


@each
def test_what_is_lacking_is_told_at_once(name: str, tmp_path: Path) -> None:
    spec = tmp_path / "bad.yaml"
    spec.write_text(BAD, encoding="utf-8")
    table = load_table(spec, base=TABLE)
    everything = Table((*FILLED.ops, *table.ops))
    package = FrameworkPackage(table, everything, framework(name), OriginView("a", "b"))
    with pytest.raises(SpecError) as error:
        package.files({})
    told = {(found.code, found.span.line, found.message) for found in error.value.diagnostics}
    title = framework(name).title
    assert told == {
        ("GS087", 6, f"`sp.beta` has no equivalent in {title}"),
        ("GS087", 12, f"`twice` has overloads, which {title} would not tell apart"),
        ("GS087", 16, f"`twice` has overloads, which {title} would not tell apart"),
        ("GS087", 22, "`by_kernel` is defined by a kernel on NumPy's arrays"),
        *_OF_CUSTOM_OPS[name],
    }


UNKNOWN = """
- family: bad

- name: unknown(Tensor self) -> Tensor
  doc: Options that no framework has.
  forward: 2 * self
  torch: {costum_op: true, kernel: softcap}
  jax: {custom_op: true}
"""


def test_unknown_options_of_a_target(tmp_path: Path) -> None:
    spec = tmp_path / "bad.yaml"
    spec.write_text(UNKNOWN, encoding="utf-8")
    with pytest.raises(SpecError) as error:
        load_table(spec, base=TABLE)
    told = {(found.code, found.span.line, found.message) for found in error.value.diagnostics}
    assert told == {
        ("GS051", 7, "`torch` has no `costum_op`"),
        ("GS010", 7, "`softcap` is no function of a module"),
        ("GS051", 8, "`jax` has no `custom_op`"),
    }
