"""A plan derives what is `auto` first, if it has to, and renders once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.emit.package import GeneratedPackage, PackageBuilder
from gradspec_codegen.pipeline import Plan, plan
from gradspec_codegen.prove.report import derive
from gradspec_codegen.prove.report.lock import read
from gradspec_codegen.target import Target
from tests.codegen.own_specs import command

SPEC = """\
- name: bump(Tensor self, float width=2) -> Tensor
  doc: A function with a hill.
  forward: width / (1 + squared(self))
  self: auto
  result: auto_element_wise

- name: squared(Tensor self) -> Tensor
  doc: Squares.
  forward: self * self
  self: grad * 2 * self
  result: auto_element_wise
"""

FORMULA = "-2 * grad * self * width / (self ** 2 + 1) ** 2"


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The lock of the spec above."""
    folder = tmp_path_factory.mktemp("planned")
    (folder / "ops.yaml").write_text(SPEC)
    result = command("codegen", folder / "ops.yaml", "--out", folder / "hills", "-j", "1")
    assert result.exit_code == 0, result.output
    return (folder / "hills" / "proofs.lock").read_text()


class _Counted:
    """The work of a plan."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.derived: list[str] = []
        self.rendered = 0
        derive_vjp, build = derive.derive_vjp, PackageBuilder.build

        def counted_derivation(spec: object, table: object, param: str) -> str:
            self.derived.append(param)
            return derive_vjp(spec, table, param)  # type: ignore[arg-type]

        def counted_rendering(builder: PackageBuilder) -> GeneratedPackage:
            self.rendered += 1
            return build(builder)

        monkeypatch.setattr(derive, "derive_vjp", counted_derivation)
        monkeypatch.setattr(PackageBuilder, "build", counted_rendering)

    def plan(self, spec: str, lock: str) -> Plan:
        """Plan a spec beside a package with this lock."""
        (self.folder / "hills").mkdir()
        (self.folder / "hills" / "proofs.lock").write_text(lock)
        (self.folder / "ops.yaml").write_text(spec)
        return plan(Target(self.folder / "ops.yaml", self.folder / "hills", "hills"))


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Counted:
    return _Counted(tmp_path, monkeypatch)


def test_the_lock_says_what_was_derived_and_from_what(lock: str, tmp_path: Path) -> None:
    (tmp_path / "proofs.lock").write_text(lock)
    entries = read(tmp_path / "proofs.lock")
    assert entries["bump"].derived == (("self", FORMULA),)
    assert f"    derived from {entries['bump'].basis}\n" in lock
    assert entries["squared"].basis == ""


def test_an_unchanged_spec_costs_no_derivation(lock: str, counted: _Counted) -> None:
    planned = counted.plan(SPEC, lock)
    assert (counted.derived, counted.rendered, planned.stale()) == ([], 1, [])


def test_rules_are_derived_anew_where_one_of_an_op_that_they_call_changes(
    lock: str, counted: _Counted
) -> None:
    planned = counted.plan(SPEC.replace("grad * 2 * self", "2 * grad * self"), lock)
    assert [op.name for op in planned.stale()] == ["bump", "squared"]
    assert (counted.derived, counted.rendered) == (["self"], 1)
    assert planned.derived["bump"] == (("self", FORMULA),)


CHANGES = [
    ("width / (1", "width / (3", "-2 * grad * self * width / (self ** 2 + 3) ** 2"),
    ("self * self", "self * 5", "-5 * grad * width / (5 * self + 1) ** 2"),
]


@pytest.mark.parametrize(("old", "new", "formula"), CHANGES)
def test_what_has_another_definition_is_derived_anew(
    lock: str, counted: _Counted, old: str, new: str, formula: str
) -> None:
    assert SPEC.count(old) == 1
    planned = counted.plan(SPEC.replace(old, new), lock)
    assert (counted.derived, counted.rendered) == (["self"], 1)
    assert planned.derived["bump"] == (("self", formula),)


def test_a_formula_that_was_edited_in_the_lock_is_derived_anew(
    lock: str, counted: _Counted
) -> None:
    assert lock.count("-2 * grad") == 1
    planned = counted.plan(SPEC, lock.replace("-2 * grad", "-3 * grad"))
    assert counted.derived == ["self"]
    assert planned.derived["bump"] == (("self", FORMULA),)


def test_a_lock_that_says_no_origin_is_not_trusted(lock: str, counted: _Counted) -> None:
    lines = lock.splitlines(keepends=True)
    kept = "".join(line for line in lines if "derived from" not in line)
    assert len(kept) < len(lock)
    counted.plan(SPEC, kept)
    assert (counted.derived, counted.rendered) == (["self"], 1)
