"""The wheel works where there is nothing but Python and NumPy."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from .source_tree import PACKAGES, ROOT

IMPORT = """
import sys
import gradspec
assert "site-packages" in gradspec.__file__, gradspec.__file__
heavy = {"scipy", "sympy", "yaml", "jinja2", "matplotlib", "joblib", "gradspec_codegen"}
print(*sorted(heavy & sys.modules.keys()))
"""

ALONE = """
import importlib.util
for name in ("sympy", "yaml", "scipy", "jinja2", "click", "torch"):
    assert importlib.util.find_spec(name) is None, name
"""

TRAIN = """
import gradspec as gs
gs.manual_seed(0)
model = gs.nn.Sequential(gs.nn.Linear(3, 8), gs.nn.Tanh(), gs.nn.Linear(8, 1))
optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
x = gs.randn(16, 3)
y = x.sum(dim=1, keepdim=True)
losses = []
for _ in range(4):
    loss = gs.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses == sorted(losses, reverse=True), losses
assert gs.viz.make_dot(loss, model.named_parameters()).source.startswith("digraph")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the sources, because building leaves files among them."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("runtime", "generated", "codegen", "specs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    run([sys.executable, "-m", "pip", "wheel", *options, str(source)])
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def empty_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter whose environment holds NumPy and the wheel."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    variables = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", variables))
    for entry in numpy_entries():
        (packages / entry.name).symlink_to(entry)
    python = str(Path(sysconfig.get_path("scripts", "venv", variables)) / "python")
    pip = [sys.executable, "-m", "pip", "--python", python]
    run([*pip, "install", "--no-deps", "--no-index", str(wheel)])
    return python


def numpy_entries() -> set[Path]:
    """The top-level folders of the installed NumPy."""
    distribution = importlib.metadata.distribution("numpy")
    roots = {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}
    return {Path(str(distribution.locate_file(root))) for root in roots}


def run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    from zipfile import ZipFile

    packed = set(ZipFile(wheel).namelist())
    expected = {
        "/".join((package.replace(".", "/"), *path.relative_to(folder).parts))
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.suffix in (".py", ".j2", ".yaml", ".json", ".lock", ".typed")
    }
    assert expected - packed == set()
    assert not {name for name in packed if name.startswith(("tests", "runtime", "codegen"))}


def test_import_loads_nothing_heavy(empty_python: str, tmp_path: Path) -> None:
    assert run([empty_python, "-W", "error", "-c", IMPORT], tmp_path).split() == []


def test_training_with_numpy_alone(empty_python: str, tmp_path: Path) -> None:
    run([empty_python, "-W", "error", "-c", ALONE + TRAIN], tmp_path)


def test_the_command_says_what_it_needs(empty_python: str, tmp_path: Path) -> None:
    command = Path(empty_python).with_name("gradspec")
    done = subprocess.run(
        [str(command), "codegen"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'gradspec[codegen]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_import_beside_scipy_leaves_it_unloaded() -> None:
    loaded = run([sys.executable, "-c", IMPORT.replace('"site-packages" in', "")])
    assert loaded.split() == []
