"""`gradspec prove OP --certificate FILE` and `gradspec verify FILE`, as users run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.codegen.own_specs import KERNELS, SPEC, command


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec and the certificate of all its ops, which has a package as well."""
    folder = tmp_path_factory.mktemp("certified")
    (folder / "ops.yaml").write_text(SPEC)
    (folder / "kernels.py").write_text(KERNELS)
    words = ["--out", folder / "some_ops", "--all", "--certificate", folder / "all.jsonl"]
    result = command("prove", folder / "ops.yaml", *words, *kernels(folder), "-j", "1")
    assert result.exit_code == 0, result.output
    assert "4 ops: 4 proved; 4 proved now" in result.output
    return folder


def kernels(folder: Path) -> list[object]:
    return ["--kernels", folder / "kernels.py"]


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files, in which one stands."""
    for name in ("ops.yaml", "kernels.py", "all.jsonl"):
        (tmp_path / name).write_text((made / name).read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


VERIFY = ["verify", "all.jsonl", "--spec", "ops.yaml", "--kernels", "kernels.py", "-j", "1"]


def test_a_certificate_of_all_ops_holds(folder: Path) -> None:
    result = command(*VERIFY)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The certificate holds for all 4 ops: checked in ")
    assert "hold at a random point of a finite field" in result.output


def test_the_same_seed_is_told_to_programs(folder: Path) -> None:
    result = command(*VERIFY, "--seed", "ab", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["ok"], found["seed"], found["scope"]) == (True, "ab", "all")
    assert {op["name"] for op in found["ops"]} == {"tripled", "squared", "twice_product", "sixfold"}


def test_changes_of_the_formulas_are_seen(folder: Path) -> None:
    spec = folder / "ops.yaml"
    spec.write_text(spec.read_text().replace("self: grad * 3", "self: 3 * grad"))
    result = command(*VERIFY)
    assert result.exit_code == 1
    assert "error[GS085]: `tripled`: its formulas, or what they call, have changed" in result.stderr
    assert "--> all.jsonl:2:1" in result.stderr
    assert "`sixfold`" in result.stderr  # which calls it
    assert "the certificate is refused." in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"prover": "', '"prover": "0', "this was proved by another prover"),
        ('"table": "', '"table": "0', "the digest of the table is another"),
        ('"sympy": "', '"sympy": "0.', "this was proved with sympy 0."),
        ('"op": "tripled"', '"op": "quadrupled"', "`quadrupled`: there is no such op"),
    ],
)
def test_a_certificate_of_something_else_is_refused(
    folder: Path, old: str, new: str, message: str
) -> None:
    file = folder / "all.jsonl"
    text = file.read_text()
    changed = text.replace(old, new, 1)
    if "digest" in message or "prover" in message:  # as long as digests are
        start = changed.index(new) + len(new)
        end = changed.index('"', start)
        changed = changed[: end - 1] + changed[end:]
    assert changed != text
    file.write_text(changed)
    result = command(*VERIFY)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_an_op_that_was_removed_is_missed(folder: Path) -> None:
    file = folder / "all.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    del lines[2]
    lines[0] = lines[0].replace('"ops": 4', '"ops": 3')
    lines[-1] = lines[-1].replace("4", "3")
    file.write_text("".join(lines))
    result = command(*VERIFY)
    assert result.exit_code == 1
    assert "this is to be about all ops, but not about `squared`" in result.stderr


def test_a_record_that_does_not_hold_is_located(folder: Path) -> None:
    file = folder / "all.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    content = json.loads(lines[3])
    assert content["op"] == "twice_product"
    dropped = content["calls"][0]["runs"][0]["identities"].pop()
    lines[3] = json.dumps(content) + "\n"
    file.write_text("".join(lines))
    result = command(*VERIFY)
    assert result.exit_code == 1
    assert f"the identity `{dropped[0]}` is missing" in result.stderr
    assert "--> all.jsonl:4:1" in result.stderr


def test_named_ops_are_proved_and_nothing_else_is_written(folder: Path) -> None:
    words = ["ops.yaml", "twice_product", "--kernels", "kernels.py", "-j", "1"]
    result = command("prove", *words, "--certificate", "one.jsonl")
    assert result.exit_code == 0, result.output
    assert "twice_product: proved, " in result.output
    assert "1 op: 1 proved, in " in result.output
    assert "Wrote one.jsonl" in result.output
    there = {path.name for path in folder.iterdir()}
    assert there == {"ops.yaml", "kernels.py", "all.jsonl", "one.jsonl"}
    result = command("verify", "one.jsonl", *VERIFY[2:])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The certificate holds for 1 op:")


def test_a_wrong_op_has_no_certificate(folder: Path) -> None:
    spec = folder / "ops.yaml"
    spec.write_text(spec.read_text().replace("self: grad * 3", "self: grad * 4"))
    words = ["ops.yaml", "tripled", "--kernels", "kernels.py", "-j", "1"]
    result = command("prove", *words, "--certificate", "wrong.jsonl")
    assert result.exit_code == 1
    assert "error[GS070]: VJP of self[0] is wrong in `tripled(self=[2])`" in result.stderr
    assert not (folder / "wrong.jsonl").exists()


@pytest.mark.parametrize("name", ["mine.txt", "away/one.jsonl", "ops.yaml"])
def test_nothing_but_a_certificate_is_replaced(folder: Path, name: str) -> None:
    (folder / "mine.txt").write_text("mine\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = ["ops.yaml", "tripled", "--kernels", "kernels.py", "-j", "1"]
    result = command("prove", *words, "--certificate", name)
    assert result.exit_code == 1
    assert "error[GS084]" in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prove", "ops.yaml", "--certificate", "x"], "give --all, or the names of ops"),
        (["prove", "ops.yaml", "tripled", "--all"], "Name ops, or give --all, not both"),
        (["prove", "nothing.yaml"], "File 'nothing.yaml' does not exist"),
        (["prove", "tripled", "--backend", "loki"], "joblib has no backend `loki`"),
        (["verify"], "Missing argument 'FILE'"),
    ],
)
def test_wrong_usage_is_told(folder: Path, words: list[str], message: str) -> None:
    result = command(*words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_name_without_an_op_is_told(folder: Path) -> None:
    result = command("prove", "ops.yaml", "trippled", "--kernels", "kernels.py")
    assert result.exit_code == 1
    assert result.stderr == "There is no op `trippled`. Did you mean `tripled`?\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "this cannot be read: No such file"),
        ("mine\n", "this is no certificate"),
        ('{"gradspec certificate": 7}\n', "this is version 7 of the format, and not 1"),
    ],
)
def test_what_is_no_certificate_is_refused(folder: Path, content: str | None, message: str) -> None:
    if content is not None:
        (folder / "x.jsonl").write_text(content)
    result = command("verify", "x.jsonl", *VERIFY[2:])
    assert result.exit_code == 1
    assert f"error[GS084]: {message}" in result.stderr
    assert "--> x.jsonl:1:1" in result.stderr
