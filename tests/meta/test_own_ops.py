"""`examples/own_ops` is a project as users have it: checked, built, installed and used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from .source_tree import ROOT

EXAMPLE = ROOT / "examples" / "own_ops"

USE = """
import gradspec as gs
from acme import ops
x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
ops.moving_sum(x.softsign(), 2).sum().backward()
# each element is in one, two and one of the sums; the derivative of softsign is 1 / (1 + x)**2
assert gs.allclose(x.grad, gs.tensor([1 / 4, 2 / 9, 1 / 16])), x.grad
print(ops.__file__)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, because building and testing leave files in it."""
    folder = tmp_path_factory.mktemp("own") / "own_ops"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    return folder


def run(folder: Path, *command: str, python_path: Path | None = None) -> str:
    environment = os.environ | ({"PYTHONPATH": str(python_path)} if python_path else {})
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_fits_the_spec(project: Path) -> None:
    answer = run(project, "-m", "gradspec_codegen", "codegen", "--check")
    assert answer == f"{Path('src/acme/ops')} fits ops.yaml.\n"


def test_its_own_tests_pass(project: Path) -> None:
    answer = run(project, "-m", "pytest", "-q", python_path=project / "src")
    assert "3 passed" in answer


def test_its_wheel_is_built_installed_and_used(project: Path, tmp_path: Path) -> None:
    options = ["--no-deps", "--no-build-isolation", "--no-index"]
    run(project, "-m", "pip", "wheel", *options, "--wheel-dir", str(tmp_path), ".")
    (wheel,) = tmp_path.glob("*.whl")
    files = {path.name for path in (EXAMPLE / "src" / "acme" / "ops").iterdir() if path.is_file()}
    assert "own_kernels.py" in files
    assert {f"acme/ops/{name}" for name in files} <= set(ZipFile(wheel).namelist())
    place = tmp_path / "place"
    pip = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", str(place)]
    run(project, *pip, str(wheel))
    used = run(tmp_path, "-W", "error", "-c", USE, python_path=place)
    assert Path(used.strip()) == place / "acme" / "ops" / "__init__.py"


def test_hooks_and_workflow_run_the_command() -> None:
    hooks = yaml.safe_load((EXAMPLE / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]] == [
        "gradspec codegen --check"
    ]
    workflow = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert {"gradspec codegen --check", "gradspec prove --all", "pytest"} <= set(commands)


CACHES = {"__pycache__", ".ruff_cache", ".pytest_cache", ".mypy_cache"}


def test_nothing_in_it_names_a_machine_or_a_host() -> None:
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and CACHES.isdisjoint(path.parts):
            text = path.read_text(encoding="utf-8")
            assert "://" not in text, path
            assert not any(word in text for word in ("/home", "/tmp", "/root", "localhost")), path
