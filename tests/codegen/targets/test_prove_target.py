"""`gradspec prove --target` where no framework has to be there: what it refuses."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gradspec_codegen.cli import main
from gradspec_codegen.targets import installed
from gradspec_codegen.targets.frameworks import FRAMEWORKS, framework

SPEC = Path(__file__).with_name("kinked.yaml")

each = pytest.mark.parametrize("name", FRAMEWORKS)


def _refused(*words: str) -> str:
    done = CliRunner().invoke(main, ["prove", str(SPEC), *words])
    assert done.exit_code == 1
    return done.output


@each
def test_a_framework_that_is_not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> Any:
        raise PackageNotFoundError

    monkeypatch.setattr(installed, "version", absent)
    told = _refused("--target", name)
    assert f"error[GS088]: {framework(name).title} is not installed here" in told
    assert f"pip install '{name}>={framework(name).version}'" in told


@each
def test_a_framework_that_is_too_old(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "version", lambda _: "0.4.1")
    told = _refused("--target", name)
    title, wanted = framework(name).title, framework(name).version
    assert f"error[GS088]: {title} 0.4.1 is older than {wanted}" in told


def test_options_that_have_no_meaning() -> None:
    done = CliRunner().invoke(main, ["prove", str(SPEC), "--target", "torch", "--all"])
    assert done.exit_code == 2
    assert "--target compares emitted code" in done.output


HOSTILE = """\
- name: {name}(str path='victim', Tensor? self=None) -> Tensor
  forward: self * 2
  requires: self is not None
  {framework}: {{kernel: {function}}}
  examples: [{{self: [], path: victim}}]
"""


@each
@pytest.mark.parametrize("function", ["shutil.rmtree", "evil.run", "os.path.realpath"])
def test_a_spec_alone_runs_no_function(
    name: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "version", lambda _: "99.0")
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "evil.py").write_text("import shutil\nshutil.rmtree('victim')\nrun = print\n")
    spec = tmp_path / "ops.yaml"
    spec.write_text(HOSTILE.format(name="hz", framework=name, function=function))
    monkeypatch.chdir(tmp_path)
    module = function.rpartition(".")[0]
    for more in ([], ["--run", "math"]):
        done = CliRunner().invoke(main, ["prove", "ops.yaml", "--target", name, *more])
        assert done.exit_code == 1
        assert f"error[GS089]: `{function}` would be run" in done.output
        assert f"`--run {module}` lets" in done.output
        assert victim.is_dir()


def test_run_is_about_frameworks() -> None:
    done = CliRunner().invoke(main, ["prove", str(SPEC), "--run", "math"])
    assert done.exit_code == 2
    assert "give --target, too" in done.output
