"""Workers prove what is staged, survive what it does, and leave the parent alone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.prove.workers import prove_ops
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from tests.codegen.proving import ROOT, own_table, prove_text

RIGHT = """
- name: cube(Tensor self) -> Tensor
  doc: The third power.
  forward: self * self * self
  self: grad * (self * self * 3)
  result: auto_element_wise
  promotes: self

- name: clipped_line(Tensor self) -> Tensor
  doc: Three pieces.
  forward: where(self > 700, 700, where(self < -1, -1, self))
  self: where((self > 700) | (self < -1), 0, grad)
  result: auto_element_wise
  promotes: self
  kinks: {"self == 700": 1, "self == -1": 1}

- name: scaled_gelu(Tensor self) -> Tensor
  doc: Irrational constants are exact.
  forward: self * (sp.erf(self / sqrt(2)) + 1) / 2
  self: grad * ((erf(self / sqrt(2)) + 1) / 2 + self * exp(self * self * -0.5) / sqrt(2 * pi))
  result: auto_element_wise
  promotes: self

- name: numerically(Tensor self) -> Tensor
  doc: Proved by numbers.
  forward: np.sinh(self)
  self: grad * cosh(self)
  result: auto_element_wise
  promotes: self
  proof: {numeric: to try it}
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    proved = prove_text(RIGHT, tmp_path_factory.mktemp("right"), "right_ops")
    return {name: verdict for name, (_, verdict) in proved.items()}


@pytest.mark.parametrize("name", ["cube", "clipped_line", "scaled_gelu"])
def test_right_formulas_are_proved(verdicts: dict[str, OpVerdict], name: str) -> None:
    assert verdicts[name].status is Status.PROVED, verdicts[name]
    assert verdicts[name].holds


def test_every_piece_is_visited(verdicts: dict[str, OpVerdict]) -> None:
    assert verdicts["cube"].chambers == 2  # one for each of the two default examples
    assert verdicts["clipped_line"].chambers >= 6
    assert verdicts["clipped_line"].notes == ()


def test_numbers_only_test(verdicts: dict[str, OpVerdict]) -> None:
    assert verdicts["numerically"].status is Status.TESTED
    assert verdicts["numerically"].holds
    assert verdicts["numerically"].notes == ("tested with numbers only: to try it",)


def table_of(text: str, directory: Path) -> Table:
    path = directory / "ops.yaml"
    path.write_text(text, encoding="utf-8")
    return load_table(path, base=own_table())


def test_a_package_that_kills_its_worker_gets_verdicts(tmp_path: Path) -> None:
    table = table_of(RIGHT, tmp_path)
    package = tmp_path / "killer_ops"
    package.mkdir()
    (package / "__init__.py").write_text("import os\nos._exit(3)\n")
    heard: list[str] = []
    found = prove_ops(
        table.ops[:2], package, "killer_ops", jobs=1, progress=lambda v: heard.append(v.name)
    )
    assert [verdict.status for verdict in found] == [Status.ERROR, Status.ERROR]
    assert "ended its process" in found[0].notes[0]
    assert sorted(heard) == ["clipped_line", "cube"]


def test_a_package_that_cannot_be_imported_gets_verdicts(tmp_path: Path) -> None:
    table = table_of(RIGHT, tmp_path)
    package = tmp_path / "broken_ops"
    package.mkdir()
    (package / "__init__.py").write_text("import nothing_of_that_name\n")
    (found,) = prove_ops(table.ops[:1], package, "broken_ops", jobs=1)
    assert found.status is Status.ERROR
    assert "nothing_of_that_name" in found.notes[0]


def test_several_workers_give_the_same_verdicts(
    verdicts: dict[str, OpVerdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradspec_codegen.prove.workers.OPS_PER_WORKER", 1)
    table = table_of(RIGHT, tmp_path)
    built = PackageBuilder(table, "right_ops", own_table()).build()
    heard: list[str] = []
    with staged(built.files) as staging:
        found = prove_ops(
            table.ops, staging, "right_ops", jobs=2, progress=lambda v: heard.append(v.name)
        )
    assert [v.name for v in found] == [op.name for op in table.ops]
    assert sorted(heard) == sorted(verdicts)
    assert [(v.status, v.identities) for v in found] == [
        (v.status, v.identities) for v in verdicts.values()
    ]


PARENT = """
import sys
from pathlib import Path
from gradspec_codegen.prove.report.verdict import Status
from tests.codegen.proving import prove_text

if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text()
    proved = prove_text(text, Path(sys.argv[1]).parent, "some_ops")
    assert proved["cube"][1].status is Status.PROVED, proved["cube"][1]
    assert "gradspec" not in sys.modules and "sympy" not in sys.modules
    print("alone")
"""


def test_the_parent_imports_neither_the_runtime_nor_sympy(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(RIGHT)
    (tmp_path / "parent.py").write_text(PARENT)
    done = subprocess.run(
        [sys.executable, tmp_path / "parent.py", tmp_path / "spec.yaml"],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "alone\n", done.stderr


GENERATOR = """
import sys
from gradspec_codegen.cli import main
from gradspec_codegen.prove import workers

if __name__ == "__main__":
    workers.OPS_PER_WORKER = 1
    main(["codegen", sys.argv[1], "--out", sys.argv[2], "-j", sys.argv[3]])
"""


def test_a_worker_without_work_ends_in_silence() -> None:
    program = (
        "from gradspec_codegen.prove.workers import spare_worker\n"
        "for _ in range(60):\n"
        "    with spare_worker():\n"
        "        pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_worker_outlives_a_generator_that_is_killed(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "spec.yaml").write_text(RIGHT)
    (tmp_path / "generator.py").write_text(GENERATOR)
    (tmp_path / "tmp").mkdir()
    words = ["generator.py", "spec.yaml", "made", str(jobs)]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.DEVNULL,
    )
    # Beside the workers there are processes that track what they share.
    wait_until(lambda: len(children_of(process.pid)) >= jobs + 1, 60)
    workers = children_of(process.pid)
    assert len(workers) >= jobs + 1
    time.sleep(0.5)  # some may be idle, some at work
    process.kill()
    process.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 20)
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
    assert list((tmp_path / "tmp").glob("gradspec-*")) == []
