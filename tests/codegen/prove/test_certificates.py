"""Certificates hold for what was proved, and no change of one that matters goes unnoticed."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib.externals.loky import ProcessPoolExecutor

from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove.recheck.outcome import Recheck
from gradspec_codegen.prove.report.certificate import (
    BadCertificate,
    Certificate,
    Header,
    decoded,
    encoded,
    is_certificate,
    read,
    text,
)
from gradspec_codegen.prove.workers import certify_ops, recheck_in_worker
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table
from tests.codegen.proving import own_table

RIGHT = """
- name: product(Tensor self, Tensor other) -> Tensor
  doc: A product, also of complex numbers.
  forward: self * other
  self: grad * conj(other)
  other: grad * conj(self)
  result: self_t * other_p + other_t * self_p
  promotes: self, other
  complex: true

- name: two_slopes(Tensor self) -> Tensor
  doc: Two pieces.
  forward: where(self > 0, 2 * self, self)
  self: where(self > 0, 2 * grad, grad)
  result: auto_element_wise
  promotes: self
  kinks: {"self == 0": 1}

- name: length(Tensor self, Tensor other) -> Tensor
  doc: A root of a sum.
  forward: sqrt(self * self + other * other + 1)
  self: grad * self / result
  other: grad * other / result
  result: (self_t * self_p + other_t * other_p) / result
  promotes: self, other

- name: numerically(Tensor self) -> Tensor
  doc: Proved by numbers.
  forward: np.sinh(self)
  self: grad * cosh(self)
  result: auto_element_wise
  promotes: self
  proof: {numeric: to try it}
"""

WRONG = RIGHT.replace("grad * conj(other)", "2 * grad * conj(other)")

DIGEST = "sha256:" + 32 * "0"

Content = dict[str, Any]


class Checker:
    """The ops of a spec, certified; and a worker that checks records of them again."""

    def __init__(self, spec: str, folder: Path, package: str) -> None:
        (folder / "ops.yaml").write_text(spec, encoding="utf-8")
        self.table: Table = load_table(folder / "ops.yaml", base=own_table())
        self.staged = folder / "staged"
        self.package = package
        self._worker = ProcessPoolExecutor(max_workers=1)
        with staged(PackageBuilder(self.table, package, own_table()).build().files) as staging:
            shutil.copytree(staging, self.staged)

    def certify(self) -> dict[str, Content]:
        digests = {op.name: DIGEST for op in self.table.ops}
        answers = certify_ops(self.table.ops, digests, self.staged, self.package, jobs=1)
        return {verdict.name: json.loads(line) for verdict, line in answers}

    def check(self, content: Content, seed: str = "1") -> Recheck:
        item: tuple[OpSpec, Content, str] = self.table.by_name(content["op"]), content, seed
        future = self._worker.submit(recheck_in_worker, item, self.staged, self.package, "run")
        return future.result(timeout=120)

    def close(self) -> None:
        self._worker.shutdown(wait=True, kill_workers=True)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checker]:
    checker = Checker(RIGHT, tmp_path_factory.mktemp("right"), "certified_ops")
    yield checker
    checker.close()


@pytest.fixture(scope="module")
def records(right: Checker) -> dict[str, Content]:
    return right.certify()


@pytest.mark.parametrize("name", ["product", "two_slopes", "length"])
def test_a_certificate_holds(right: Checker, records: dict[str, Content], name: str) -> None:
    for seed in ("1", "2"):
        found = right.check(records[name], seed)
        assert found.problem == ""
        rows = sum(len(run["identities"]) for run in runs_of(records[name]))
        assert found.equal + found.by_residues + found.by_numbers == rows


def test_roots_of_sums_are_checked_with_numbers(
    right: Checker, records: dict[str, Content]
) -> None:
    assert right.check(records["length"]).by_numbers > 0


def test_what_was_tested_is_tested_again(right: Checker, records: dict[str, Content]) -> None:
    found = right.check(records["numerically"])
    assert (found.problem, found.tested, found.equal) == ("", 4, 0)


def test_the_record_has_every_piece_and_the_kink(records: dict[str, Content]) -> None:
    runs = runs_of(records["two_slopes"])
    assert {run["at"] for run in runs} == {"chamber", "tie", "kink"}
    decided = {text for run in runs for text in run.get("decisions", ())}
    assert {"self_0 > 0", "self_0 < 0"} <= decided


def runs_of(content: Content) -> list[Any]:
    return [run for call in content["calls"] for run in call["runs"]]


def test_a_wrong_formula_is_refused_under_the_record_of_a_right_one(
    records: dict[str, Content], tmp_path: Path
) -> None:
    wrong = Checker(WRONG, tmp_path, "wrong_ops")
    try:
        found = wrong.check(records["product"])
    finally:
        wrong.close()
    assert found.problem.endswith("run 1: `VJP of self[0,0]` does not hold")


def first_run(content: Content) -> Any:
    return content["calls"][0]["runs"][0]


def drop_identity(content: Content, at: int) -> None:
    rows = first_run(content)["identities"]
    del rows[at % len(rows)]


def repeat_identity(content: Content, at: int) -> None:
    rows = first_run(content)["identities"]
    rows.insert(at % len(rows), rows[at % len(rows)])


def rename_identity(content: Content, at: int) -> None:
    rows = first_run(content)["identities"]
    rows[at % len(rows)][0] += "'"


def change_residue(content: Content, at: int) -> None:
    rows = first_run(content)["identities"]
    row = rows[at % len(rows)]
    row[2] = f"{int(row[2], 16) + 1:015x}"


def change_reason(content: Content, at: int) -> None:
    rows = first_run(content)["identities"]
    rows[at % len(rows)][1] = ("numbers", "refuted", "believed")[at % 3]


def move_witness(content: Content, at: int) -> None:
    witness = first_run(content)["witness"]
    name = sorted(witness)[at % len(witness)]
    witness[name] = ("oo", "1/0", "1e3", "__import__('os')", "", "1/" + "7" * 5000)[at % 6]


def lose_symbol(content: Content, at: int) -> None:
    witness = first_run(content)["witness"]
    del witness[sorted(witness)[at % len(witness)]]


def invent_decision(content: Content, at: int) -> None:
    first_run(content).setdefault("decisions", []).append("self_0 + 100 > 0")


def drop_chamber(content: Content, at: int) -> None:
    runs = content["calls"][0]["runs"]
    del runs[at % sum(run["at"] == "chamber" for run in runs)]


def drop_call(content: Content, at: int) -> None:
    calls = [call for call in content["calls"] if call["of"] == "call"]
    content["calls"].remove(calls[at % len(calls)])


def leave_call(content: Content, at: int) -> None:
    call = content["calls"][0]
    call["runs"], call["left"] = [], "took too long"


def change_arguments(content: Content, at: int) -> None:
    args = content["calls"][0]["args"]
    args["self"] = [*args["self"], at + 1]


def change_call(content: Content, at: int) -> None:
    content["calls"][0]["call"] += " "


def change_status(content: Content, at: int) -> None:
    content["status"] = ("certified", "tested")[at % 2]


def change_chambers(content: Content, at: int) -> None:
    content["chambers"] += at + 1


def invent_run(content: Content, at: int) -> None:
    runs = content["calls"][0]["runs"]
    where = ("kink", "isolated", "chamber")[at % 3]
    runs.append(copy.deepcopy(runs[0]) | {"at": where})


CHANGES: tuple[Callable[[Content, int], None], ...] = (
    drop_identity,
    repeat_identity,
    rename_identity,
    change_residue,
    change_reason,
    move_witness,
    lose_symbol,
    invent_decision,
    drop_chamber,
    invent_run,
    drop_call,
    leave_call,
    change_arguments,
    change_call,
    change_status,
    change_chambers,
)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(["product", "two_slopes", "length"]),
    change=st.sampled_from(CHANGES),
    at=st.integers(0, 200),
)
def test_a_changed_record_is_refused(
    right: Checker,
    records: dict[str, Content],
    name: str,
    change: Callable[[Content, int], None],
    at: int,
) -> None:
    content = copy.deepcopy(records[name])
    change(content, at)
    found = right.check(content)
    assert found.problem
    assert "\n" not in found.problem
    assert "Traceback" not in found.problem


def test_a_witness_outside_its_region_is_refused(
    right: Checker, records: dict[str, Content]
) -> None:
    content = copy.deepcopy(records["two_slopes"])
    run = first_run(content)
    name, value = next(iter(run["witness"].items()))
    run["witness"][name] = value[1:] if value.startswith("-") else f"-{value}"
    problem = right.check(content).problem
    assert problem.startswith("call 1, `two_slopes(self=[3])`: run 1: its witness is outside")


def test_another_witness_of_the_region_will_do_until_its_ties(
    right: Checker, records: dict[str, Content]
) -> None:
    content = copy.deepcopy(records["product"])
    first_run(content)["witness"]["self_00"] = "17/16"
    assert right.check(content).problem == ""


def test_a_tie_that_is_none_is_refused(right: Checker, records: dict[str, Content]) -> None:
    content = copy.deepcopy(records["two_slopes"])
    tie = next(run for run in runs_of(content) if run["at"] == "tie")
    (name,) = (name for name, value in tie["witness"].items() if value == "0")
    tie["witness"][name] = "1/1000"
    assert "it is not so that" in right.check(content).problem


@pytest.fixture(scope="module")
def file(records: dict[str, Content], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "proofs.jsonl"
    lines = [json.dumps(content) + "\n" for content in records.values()]
    path.write_text(text(Header("all", len(lines), 64 * "a", 64 * "b", {"sympy": "1"}), lines))
    return path


def test_a_file_is_read_as_it_was_written(file: Path, records: dict[str, Content]) -> None:
    found = read(file)
    assert [record.op for record in found.records] == list(records)
    assert [record.content for record in found.records] == list(records.values())
    assert [record.line for record in found.records] == [2, 3, 4, 5]
    assert is_certificate(file)


def read_or_refuse(path: Path) -> Certificate | BadCertificate:
    try:
        return read(path)
    except BadCertificate as bad:
        return bad


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_no_damage_of_a_file_is_overlooked_or_ends_in_a_traceback(
    file: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = file.read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["truncate", "cut", "insert"]))
    if kind == "truncate":
        damaged = whole[:start]
    elif kind == "cut":
        damaged = whole[:start] + whole[start + data.draw(st.integers(1, 5000)) :]
    else:
        damaged = whole[:start] + data.draw(st.binary(min_size=1, max_size=9)) + whole[start:]
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(damaged)
    found = read_or_refuse(path)
    if isinstance(found, BadCertificate):
        assert 1 <= found.line <= damaged.count(b"\n") + 1
        assert found.message
    else:  # every op is there still: at most what a record says was changed
        assert kind != "truncate"
        assert len(found.records) == 4


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"gradspec certificate": 1', '"gradspec certificate": 2', 1, "version 2 of the format"),
        ('"gradspec certificate": 1', '"gradspec certificate": true', 1, "version true of"),
        ('"scope": "all"', '"scope": "most"', 1, "`scope` is neither"),
        ('"ops": 4', '"ops": 5', 6, "4 ops are there, and the first line speaks of 5"),
        ('"op": "length"', '"op": "product"', 4, "`product` is there twice"),
        ('"status": "tested"', '"status": "refuted"', 5, "`status` is not that of a proof"),
        ('"at": "kink"', '"at": "sea"', 3, "`at` is not what it should be"),
        ('"of": "kinks"', '"of": "seas"', 3, "`of` is not known"),
        ('"digest": "sha256:', '"digest": "md5:', 2, "`digest` is not what it should be"),
        ('"notes": []', '"nodes": []', 2, "`notes` is missing"),
        ('"notes": []', '"notes": [], "more": 1', 2, "`more` is not known"),
        ('{"op": "product"', '["op", "product"', 2, "this is not JSON"),
        ('"chambers": ', '"chambers": -', 2, "`chambers` is not what it should be"),
    ],
)
def test_what_is_wrong_with_a_file_is_located(
    file: Path, tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    path = tmp_path / "wrong.jsonl"
    changed = file.read_text().replace(old, new, 1)
    assert changed != file.read_text()
    path.write_text(changed)
    with pytest.raises(BadCertificate) as caught:
        read(path)
    assert (caught.value.line, message in caught.value.message) == (line, True), caught.value


@pytest.mark.parametrize(
    "content", [b"", b"# mine\n", b'{"gradspec": 1}\n', b"\xff\xfe\n", b'{"gradspec certificate": ']
)
def test_other_files_are_no_certificates(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadCertificate) as caught:
        read(path)
    assert caught.value.line == 1


def test_deep_nesting_is_refused(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    header = file.read_text().split("\n", 1)[0]
    path.write_text(header + "\n" + "[" * 200_000 + "\n")
    with pytest.raises(BadCertificate, match="this is not JSON"):
        read(path)


def test_only_certificates_may_be_replaced(file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "link").symlink_to(file)
    found = {name: is_certificate(tmp_path / name) for name in ("mine", "empty", "link", "absent")}
    assert found == {"mine": False, "empty": True, "link": False, "absent": True}
    assert not is_certificate(tmp_path)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False),
    lambda parts: (
        st.lists(parts)
        | st.lists(parts).map(tuple)
        | st.dictionaries(st.sampled_from(["int", "complex"]), parts)
    ),
)


@given(st.dictionaries(st.text(), VALUES))
def test_arguments_come_back_as_they_were(args: dict[str, Any]) -> None:
    written = json.loads(json.dumps(encoded(args.items()), allow_nan=False))
    back = dict(decoded(written))
    assert back == args
    assert repr(back) == repr(args)  # a tuple is no list, and True no 1
