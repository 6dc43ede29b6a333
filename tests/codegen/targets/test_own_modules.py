"""Functions that entries name for a framework: what is not there is told when code is generated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gradspec_codegen.cli import main
from gradspec_codegen.spec.model import OpSpec, TargetKernel
from gradspec_codegen.targets import installed, own_modules
from gradspec_codegen.targets.frameworks import FRAMEWORKS, framework
from tests.codegen.targets.emitted import FILLED

ENTRY = """
- name: {name}(Tensor self) -> Tensor
  doc: Twice as much.
  forward: 2 * self
  self: 2 * grad
  result: auto_linear
  torch: {{kernel: {kernel}}}
"""

KERNELS = """
from math import pi as number
try:
    import fast as _fast
except ImportError:
    _fast = None
raise RuntimeError("a spec runs nothing")

def doubled(self):
    def inside():
        pass
    return 2 * self
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with kernels beside the spec, in a package, and above the generated package."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "kernels_here.py").write_text(KERNELS)
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("raise RuntimeError('not imported')")
    (tmp_path / "acme" / "fast.py").write_text(KERNELS)
    (tmp_path / "acme" / "lazy.py").write_text("def __getattr__(name): ...")
    (tmp_path / "acme" / "broken.py").write_text("def (")
    yield tmp_path
    shutil.rmtree(tmp_path)


def _generated(project: Path, *kernels: str, out: str = "ops_of_torch") -> tuple[int, str, str]:
    entries = (ENTRY.format(name=f"op{n}", kernel=k) for n, k in enumerate(kernels))
    (project / "ops.yaml").write_text("- family: ops\n" + "".join(entries), encoding="utf-8")
    words = ["codegen", "ops.yaml", "--out", out, "--target", "torch", "-j", "1"]
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.stdout, done.stderr


def test_what_is_not_there_is_told_at_once(project: Path) -> None:
    """With its place, and nothing is run to know it."""
    code, _, told = _generated(
        project, "no_module.doubled", "acme.nothing.doubled", "kernels_here.inside", "acme.fast.x"
    )
    assert code == 1
    for line, message in (
        (8, "there is no module `no_module` to compute this op for PyTorch"),
        (15, "there is no module `acme.nothing` to compute this op for PyTorch"),
        (22, "`kernels_here` has no `inside` to compute this op for PyTorch"),
        (29, "`acme.fast` has no `x` to compute this op for PyTorch"),
    ):
        where = told.partition(f"error[GS087]: {message}\n")[2].partition("\n")[0]
        assert where.strip() == f"--> ops.yaml:{line}:19"
    assert "4 mistakes" in told
    assert not (project / "ops_of_torch").exists()


def test_what_is_there_or_cannot_be_known(project: Path) -> None:
    kernels = ["kernels_here.doubled", "acme.fast.number", "acme.lazy.anything", "acme.broken.x"]
    code, _, told = _generated(project, *kernels, "math.sqrt")
    assert code == 0, told
    warnings = [line for line in told.splitlines() if line.startswith("warning")]
    assert [line.split("`")[3] for line in warnings] == [*kernels[2:], "math.sqrt"]


def test_folders_above_the_package_are_searched(project: Path) -> None:
    """Modules beside a package that is part of another are found."""
    (project / "src").mkdir()
    (project / "acme").rename(project / "src" / "acme")
    code, _, told = _generated(project, "acme.fast.doubled", out="src/acme/ops")
    assert (code, told.strip()) == (0, "")


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_functions_of_a_framework_that_is_not_installed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = TargetKernel(name, f"{name}.somewhere.sqrt", FILLED.ops[0].span)
    op = OpSpec(FILLED.ops[0].signature, "f", FILLED.ops[0].span, "", target_kernels=(kernel,))
    monkeypatch.setattr(own_modules, "_of_python", lambda root: None)
    looked = own_modules.look_for_kernels([op], framework(name), [Path("/nowhere")])
    assert not looked.missing
    (sentence,) = looked.unknown
    assert sentence.endswith(
        f"`{name}.somewhere.sqrt` was not looked for: `{name}` is not installed here"
    )


@pytest.mark.parametrize(("name", "version"), [("torch", "2.4.1"), ("jax", "0.6.9")])
def test_an_old_framework_is_told_with_the_other_mistakes(
    project: Path, name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "version", lambda _: version)
    entry = "- family: ops\n\n- name: spline(Tensor self) -> Tensor\n  doc: One.\n"
    entry += "  forward: sp.beta(self, self)\n  examples: [{self: [2]}]\n"
    entry += "  self: grad\n  result: auto_element_wise\n"
    (project / "ops.yaml").write_text(entry, encoding="utf-8")
    words = ["codegen", "ops.yaml", "--out", "ops_of", "--target", name, "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    told = {each["code"]: each for each in json.loads(done.stdout)["mistakes"]}
    assert set(told) == {"GS087", "GS088"}
    assert told["GS088"]["message"].startswith(f"{framework(name).title} {version} is installed")
    assert told["GS088"]["span"]["path"] == "--target"
