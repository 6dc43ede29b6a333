"""Packages of one's own: proved, imported and used like gradspec's table, by their own names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradspec.extension import ABI
from tests.codegen.own_specs import KERNELS, SPEC, command

WRONG_KERNEL = KERNELS.replace("return a * b", "return a * b * b")


def python(folder: Path, text: str) -> str:
    """Return what a program in a folder prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a generated package `acme.ops`."""
    folder = tmp_path_factory.mktemp("acme_project")
    (folder / "ops.yaml").write_text(SPEC)
    (folder / "my_kernels.py").write_text(KERNELS)
    (folder / "acme").mkdir()
    (folder / "acme" / "__init__.py").write_text("")
    words = ["--out", folder / "acme" / "ops", "--kernels", folder / "my_kernels.py"]
    result = command("codegen", folder / "ops.yaml", *words, "-j", "1")
    assert result.exit_code == 0, result.output
    assert "4 ops: 4 proved; 4 proved now" in result.output
    return folder


@pytest.fixture
def project(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, in which one stands; its `pyproject.toml` says where everything is."""
    folder = tmp_path / "project"
    shutil.copytree(made, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text(
        '[tool.gradspec]\nspec = "ops.yaml"\nout = "acme/ops"\nkernels = "my_kernels.py"\n'
    )
    monkeypatch.chdir(folder)
    return folder


USE = """
import gradspec as gs
from acme import ops
x = gs.tensor([1.0, -2.0], requires_grad=True)
y = x.squared().tripled() + ops.sixfold(x)
print(y.tolist(), y.grad_fn.next_functions[0][0].name())
(g,) = gs.autograd.grad(y.sum(), x, create_graph=True)
print(g.tolist(), gs.autograd.grad(g.sum(), x)[0].tolist())
z = gs.tensor([1.0, 2.0])
print(z.tripled_() is z, z.tolist(), z.sixfold_().tolist(), hasattr(ops, "squared"))
"""


def test_the_package_is_imported_where_it_lies(made: Path) -> None:
    # 3 x**2 + 6 x, its slope 6 x + 6, and the slope of that.
    assert python(made, USE).splitlines() == [
        "[9.0, 0.0] TripledBackward0",
        "[12.0, -6.0] [6.0, 6.0]",
        "True [3.0, 6.0] [18.0, 36.0] False",
    ]


def test_it_may_be_moved_and_renamed(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "acme" / "ops", tmp_path / "deep" / "er" / "renamed")
    use = "import deep.er.renamed as r, gradspec as gs; print(r.sixfold(gs.ones(1)).item())"
    assert python(tmp_path, use) == "6.0\n"


def test_files_name_the_command_of_their_author(made: Path) -> None:
    texts = {path.name: path.read_text() for path in (made / "acme" / "ops").glob("*.*")}
    assert sorted(texts) == [
        *("__init__.py", "arithmetic.py", "batching.py", "own_kernels.py"),
        *("proofs.lock", "py.typed", "squares.py"),
    ]
    told = "gradspec codegen ops.yaml --out acme/ops --kernels my_kernels.py"
    for name, text in texts.items():
        assert "make codegen" not in text, name
        assert "specs/" not in text, name
        assert str(made) not in text, name
        assert told in text or name in ("proofs.lock", "py.typed")
    assert KERNELS in texts["own_kernels.py"]
    assert sorted(path.name for path in made.iterdir()) == ["acme", "my_kernels.py", "ops.yaml"]


def test_the_project_says_where_everything_is(project: Path) -> None:
    (project / "acme" / "deeper").mkdir()
    result = command("codegen", "--json", "-j", "1")
    answer = json.loads(result.stdout)
    # The command in the headers is another now, the proofs are the same.
    assert (answer["wrote"], answer["proved_now"]) == (True, [])
    assert 'command="gradspec codegen",' in (project / "acme" / "ops" / "__init__.py").read_text()
    assert command("codegen", "--check").exit_code == 0
    words = ["ops.yaml", "--out", "acme/ops", "--kernels", "my_kernels.py"]
    assert command("codegen", *words, "--check").exit_code == 0


def test_check_says_what_differs_and_writes_nothing(project: Path) -> None:
    assert command("codegen", "-j", "1").exit_code == 0
    (project / "ops.yaml").write_text(SPEC.replace("self * 3", "3 * self"))
    (project / "acme" / "ops" / "squares.py").unlink()
    (project / "acme" / "ops" / "mine.py").write_text("")
    result = command("codegen", "--check")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "acme/ops does not fit ops.yaml:",
        "",
        "  arithmetic.py: changed in tripled",
        "  mine.py: not generated",
        "  squares.py: missing",
        "  tripled: not proved as it stands",
        "  sixfold: not proved as it stands",
        "",
        "Run `gradspec codegen`.",
    ]
    (project / "ops.yaml").write_text(SPEC)
    shutil.rmtree(project / "acme")
    assert command("codegen", "--check").exit_code == 1
    assert not (project / "acme").exists()


def test_the_lock_covers_the_kernels(project: Path) -> None:
    (project / "my_kernels.py").write_text(KERNELS.replace("a * b", "b * a"))
    found = json.loads(command("codegen", "--check", "--json").stdout)["differences"]
    assert "own_kernels.py: changed in _product" in found
    assert [line for line in found if "not proved" in line] == ["squared: not proved as it stands"]


def test_a_wrong_kernel_is_refuted(project: Path) -> None:
    before = (project / "acme" / "ops" / "own_kernels.py").read_text()
    (project / "my_kernels.py").write_text(WRONG_KERNEL)
    result = command("codegen", "-j", "1")
    assert result.exit_code == 1
    assert "error[GS070]: VJP of self[0] is wrong in `squared(self=[2])`" in result.stderr
    assert (project / "acme" / "ops" / "own_kernels.py").read_text() == before


def test_a_spec_alone_runs_nothing(project: Path) -> None:
    """Kernels are run for who names them to the command, and not where the spec is only read."""
    effect = f"open({str(project / 'ran')!r}, 'w').close()\n"
    (project / "my_kernels.py").write_text(effect + KERNELS)
    (project / "pyproject.toml").unlink()
    assert command("codegen", "ops.yaml", "--out", "other").exit_code == 1
    assert command("codegen", "ops.yaml", "--out", "o", "--kernels", "my_kernels.py", "--check")
    assert command("explain", "tripled", "--spec", "ops.yaml", "--kernels", "my_kernels.py")
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    ("kernels", "answer"),
    [
        ("def cube(x):\n    return x\n", "error[GS035]: there is no kernel `square`"),
        ("def square(x:\n", "error[GS082]: this is not Python"),
        ("from .near import near\n", "error[GS082]: kernels cannot import `.near`"),
        ("import acme.helpers\n", "error[GS082]: kernels cannot import `acme.helpers`"),
        ("def f():\n    import torch\n", "error[GS082]: kernels cannot import `torch`"),
        ("def f():\n    import time\n", "error[GS082]: kernels cannot use `time`"),
        ("from numpy import random\n", "error[GS082]: kernels cannot use `random`"),
        ("f = lambda np: np.random.rand()\n", "error[GS082]: kernels cannot use `np.random`"),
        ("def f(x):\n    return known[id(x)]\n", "error[GS082]: kernels cannot use `id`"),
        ("def f(x):\n    global last\n", "error[GS082]: kernels cannot use `global`"),
        ("import sys\n", "error[GS082]: kernels cannot use `sys`"),
        ("f = lambda: __import__('time')\n", "error[GS082]: kernels cannot use `__import__`"),
        (
            "def f(x):\n    return x.flags.aligned\n",
            "error[GS082]: kernels cannot use `x.flags.aligned`",
        ),
        (
            "import numpy as np\n\ndef f(x, y):\n    return np.shares_memory(x, y)\n",
            "error[GS082]: kernels cannot use `np.shares_memory`",
        ),
        ("def f(x, y):\n    return x is y\n", "error[GS082]: kernels cannot use `x is y`"),
        ("f = lambda x, y: x is y\n", "error[GS082]: kernels cannot use `x is y`"),
        ("import pathlib\n", "error[GS082]: kernels cannot use `pathlib`"),
        ("import numpy as np\nx = np.load('x')\n", "error[GS082]: kernels cannot use `np.load`"),
        ("def f(x):\n    return str(x.flags)\n", "error[GS082]: kernels cannot use `x.flags`"),
        ("f = lambda x: x.flags['O']\n", "error[GS082]: kernels cannot use `x.flags`"),
        ("f = lambda x: getattr(x, 'base')\n", "error[GS082]: kernels cannot use `getattr("),
        ("f = lambda x, n: getattr(x, n)\n", "error[GS082]: kernels cannot use `getattr("),
        ("import math\n\ndef f(x):\n    math.n = 1\n", "kernels cannot use `math.n`"),
        ("class C:\n    n = 0\n\ndef f():\n    C.n += 1\n", "kernels cannot use `C.n`"),
        ("def f(x):\n    f.last = x\n", "error[GS082]: kernels cannot use `f.last`"),
        ("def f(x):\n    return x.__dict__\n", "kernels cannot use `x.__dict__`"),
        ("x = '\xe9'".encode("latin-1"), "error[GS002]: byte 0xe9 is not UTF-8"),
    ],
)
def test_what_is_wrong_with_kernels_is_said_where(
    project: Path, kernels: str | bytes, answer: str
) -> None:
    data = kernels if isinstance(kernels, bytes) else kernels.encode()
    (project / "my_kernels.py").write_bytes(data)
    result = command("codegen")
    assert (result.exit_code, type(result.exception)) == (1, SystemExit)
    assert answer in result.stderr
    place = "ops.yaml:16:12" if "GS035" in answer else "my_kernels.py:"
    assert f" --> {project / place}" in result.stderr


def test_a_kernel_of_two_meanings(project: Path) -> None:
    (project / "ops.yaml").write_text(SPEC.replace("kernels.square(self)", "kernels.frac(self)"))
    (project / "my_kernels.py").write_text("def frac(x):\n    return x * x\n")
    result = command("codegen")
    assert "error[GS050]: `kernels.frac` is one of yours, and one of gradspec's" in result.stderr


def test_two_packages_with_one_op_are_told_apart(made: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(made / "acme" / "ops", tmp_path / name)
    use = """
import first
try:
    import second
except ImportError as error:
    print(error)
first.sixfold
"""
    assert "'second' has an op 'tripled', and so has 'first'" in python(tmp_path, use)


def test_a_package_may_be_loaded_again(made: Path) -> None:
    use = "import importlib, acme.ops as o; importlib.reload(o); print(o.sixfold.__name__)"
    assert python(made, use) == "sixfold\n"


def test_a_package_for_another_runtime_says_what_to_do(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "acme" / "ops", tmp_path / "old")
    init = tmp_path / "old" / "__init__.py"
    text = init.read_text().replace(f"abi={ABI}", "abi=0").replace("families=", "sections=")
    init.write_text(text)
    use = "try:\n    import old\nexcept ImportError as error:\n    print(error)"
    told = "gradspec codegen ops.yaml --out acme/ops --kernels my_kernels.py"
    assert f"regenerate it with `{told}`" in python(tmp_path, use)
    early = "import gradspec.dispatch.registry as r\ntry:\n    r.register(('f', len))\n"
    assert "regenerate" in python(tmp_path, early + "except ImportError as e:\n    print(e)")


def test_two_specs_side_by_side(made: Path, project: Path) -> None:
    (project / "pyproject.toml").unlink()
    entry = SPEC.partition("- family: squares")[0].replace("tripled", "thrice")
    (project / "other.yaml").write_text(entry)
    before = (project / "acme" / "ops" / "proofs.lock").read_bytes()
    assert command("codegen", "other.yaml", "--out", "acme/other", "-j", "1").exit_code == 0
    assert (project / "acme" / "ops" / "proofs.lock").read_bytes() == before
    words = ["ops.yaml", "--out", "acme/ops", "--kernels", "my_kernels.py"]
    assert command("codegen", *words, "--check").exit_code == 0
    assert not (project / "proofs.lock").exists()
    refused = command("codegen", "other.yaml", "--out", "acme/ops")
    assert "ops was generated from ops.yaml, not from other.yaml" in refused.stderr


# ---- commands that only read


def test_mutants_of_an_own_spec_are_all_tried(project: Path) -> None:
    result = command("mutate", "tripled", "--json", "-j", "1")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["survived"]) == (0, 0)
    texts = {mutant["mutant"]: mutant["fate"] for mutant in answer["mutants"]}
    assert texts["grad / 3"] == texts["grad + 3"] == texts["grad"] == "killed"
    assert answer["killed"] >= 6


def test_mutants_of_formulas_that_call_the_base_table(project: Path) -> None:
    answer = json.loads(command("mutate", "twice_product", "--json", "-j", "1").stdout)
    texts = {mutant["mutant"] for mutant in answer["mutants"]}
    assert {"mul(grad, other)", "mul(grad, other) / 2"} <= texts
    assert answer["killed"] >= 10
    assert answer["survived"] == 0


def test_explain_knows_own_ops_and_gradspecs(project: Path) -> None:
    found = command("explain", "TripledBackward0").output
    assert "proved: " in found
    assert "ops/arithmetic.py" in found
    assert "kernels.square(self)" in command("explain", "squared").output
    assert "generated/exp_log.py" in command("explain", "exp").output
    missing = command("explain", "triple")
    assert (missing.exit_code, missing.stderr) == (
        1,
        "There is no op `triple`. Did you mean `tripled`?\n",
    )


def test_derive_and_new_know_both(project: Path) -> None:
    found = command("derive", "exp(tripled(x))", "--name", "exp3")
    assert found.exit_code == 0, found.output
    assert "  self: 3 * grad * result\n" in found.output
    assert "proved" in found.output
    assert command("new", "tripled").exit_code == 1
    assert command("new", "mul.Tensor(Tensor self) -> Tensor").exit_code == 1
    assert command("new", "quadrupled").exit_code == 0


def test_a_spec_without_entries_is_told_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text("# nothing yet\n")
    result = command("codegen", tmp_path / "ops.yaml", "--out", tmp_path / "mine")
    assert result.exit_code == 0
    assert "ops.yaml has no entry: `gradspec new`" in result.output
