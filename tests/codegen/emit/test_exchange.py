"""The exchange of a generated tree: only what was generated is replaced and removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradspec_codegen.emit import write
from gradspec_codegen.emit.ownership import Refusal, signed
from gradspec_codegen.emit.write import check_target, contents, remove_leftovers, replace
from tests.codegen.folders import OURS, everything, generated


def test_only_what_was_generated_is_replaced_and_removed(tmp_path: Path) -> None:
    target = generated(tmp_path / "made")
    (target / "__pycache__").mkdir()
    (target / "__pycache__" / "ops.cpython-311.pyc").write_bytes(b"")
    target.chmod(0o750)
    new = {"__init__.py": OURS["__init__.py"], "other.py": signed("other.py", "", "ops.yaml")}
    replace(target, new, "ops.yaml")
    assert contents(target) == new
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o750


def test_line_ends_are_no_edit(tmp_path: Path) -> None:
    target = generated(tmp_path / "made")
    for path in (target / name for name in OURS):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    check_target(target, "ops.yaml")


@pytest.mark.parametrize("name", ["ops.py", "names/ops.py"])
def test_edits_are_given_up_only_where_that_is_asked_for(tmp_path: Path, name: str) -> None:
    target = generated(tmp_path / "made")
    (target / name).write_text(OURS[name] + "# mine\n")
    with pytest.raises(Refusal, match="edited"):
        replace(target, OURS, "ops.yaml")
    replace(target, OURS, "ops.yaml", discard_edits=True)
    assert contents(target) == OURS
    (target / name).with_name("mine.py").write_text("")
    with pytest.raises(Refusal, match=r"mine\.py"):
        replace(target, OURS, "ops.yaml", discard_edits=True)


def test_a_copy_under_another_name_is_no_edit_to_give_up(tmp_path: Path) -> None:
    target = generated(tmp_path / "made")
    helpers = OURS["ops.py"] + "# mine\n"
    (target / "my_helpers.py").write_text(helpers)
    with pytest.raises(Refusal, match=r"my_helpers\.py"):
        replace(target, OURS, "ops.yaml", discard_edits=True)
    assert (target / "my_helpers.py").read_text() == helpers


@pytest.mark.parametrize("name", ["notes.pyc.txt", "precious.pyc", "ops.cpython-311.pyc.bak"])
def test_a_cache_holds_compiled_modules_alone(tmp_path: Path, name: str) -> None:
    target = generated(tmp_path / "made")
    (target / "__pycache__").mkdir()
    (target / "__pycache__" / name).write_text("mine")
    with pytest.raises(Refusal, match="__pycache__/"):
        replace(target, OURS, "ops.yaml", discard_edits=True)
    assert (target / "__pycache__" / name).read_text() == "mine"


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("name", ["mine.py", "ops.py", "names/mine.py", "names/ops.py"])
def test_a_file_that_appears_at_the_last_moment_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool, name: str
) -> None:
    target = generated(tmp_path / "made")
    exchange, written = write._exchange, []

    def late(a: Path, b: Path) -> bool:
        if not written:
            written.append((target / name).write_text("written between check and exchange"))
        return exchanges and exchange(a, b)

    monkeypatch.setattr(write, "_exchange", late)
    new = {"__init__.py": signed("__init__.py", "new", "ops.yaml")}
    with pytest.raises(Refusal):
        replace(target, new, "ops.yaml")
    assert (target / name).read_text() == "written between check and exchange"
    assert contents(target) == {**OURS, name: "written between check and exchange"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_an_interrupt_between_exchange_and_check_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = generated(tmp_path / "made")

    def interrupt(*_: object, **__: object) -> None:
        if target.joinpath("new.py").exists():
            raise KeyboardInterrupt

    (target / "ops.py").write_text(OURS["ops.py"] + "# mine\n")
    monkeypatch.setattr(write, "check_replaceable", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace(target, {"new.py": signed("new.py", "", "ops.yaml")}, "ops.yaml")
    texts = [path.read_text() for path in tmp_path.rglob("ops.py")]
    assert texts == [OURS["ops.py"] + "# mine\n"]


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: (folder / ".staging-made-1-x").write_text("a file"),
        lambda folder: (folder / ".staging-made-99999999-abcdefgh").write_text("a file"),
        lambda folder: (folder / ".staging-made-99999999-abcdefgh").symlink_to("src"),
        lambda folder: filled(folder / ".staging-made-99999999-abcdefgh", "mine.txt"),
        lambda folder: filled(folder / ".staging-made-99999999-abcdefgh", "ops.py"),
        lambda folder: filled(folder / ".staging-made-99999999-abcdefgh", "deep/ops.py"),
        lambda folder: filled(folder / ".staging-made-99999999-abcdefgh", "names/ops.py"),
        lambda folder: filled(folder / ".staging-made-99999999-abcdefgh-old", "mine.txt"),
        lambda folder: filled(folder / ".staging-made-mine", "mine.txt"),
        lambda folder: filled(folder / ".staging-other-99999999-abcdefgh", "mine.txt"),
        lambda folder: filled(folder / ".proofs.lock-99999999", "mine.txt"),
    ],
)
def test_what_is_called_like_our_leftovers_stays(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    filled(tmp_path / "src", "mine.txt")
    make(tmp_path)
    before = everything(tmp_path)
    remove_leftovers(tmp_path / "made")
    assert everything(tmp_path) == before


def filled(folder: Path, name: str) -> Path:
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("precious")
    return folder


def test_our_leftovers_are_cleared_away(tmp_path: Path) -> None:
    whole = tmp_path / ".staging-made-99999999-abcdefgh"
    whole.mkdir()
    write.write_files(whole, OURS)
    partial = tmp_path / ".staging-made-99999998-abcdefgh"
    filled(partial, "names/ops.py")
    (partial / "ops.py").write_text("precious")
    (partial / ".writing").write_text("__init__.py\nops.py\nnames/ops.py")
    running = filled(tmp_path / f".staging-made-{os.getpid()}-abcdefgh", "ops.py")
    remove_leftovers(tmp_path / "made")
    assert list(tmp_path.iterdir()) == [running]


FILES = st.dictionaries(
    st.sampled_from(
        ["__init__.py", "ops.py", "mine.py", "proofs.lock", ".hidden", "sub/a.py", "names/ops.py"]
    ),
    st.sampled_from(["", "x = 1\n", *OURS.values(), OURS["ops.py"] + "#\n"]),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(files=FILES, discard=st.booleans())
def test_whatever_lies_there_is_generated_or_kept(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], discard: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    target = folder / "made"
    target.mkdir()
    for name, text in files.items():
        (target / name).parent.mkdir(exist_ok=True)
        (target / name).write_text(text)
    before = everything(folder)
    ours = {name for name, text in files.items() if OURS.get(name) == text}
    begins = {name for name, text in files.items() if text[:11] == "# @generate"}
    written = {name: signed(name, "", "ops.yaml") for name in ("new.py", "ops.py", "names/ops.py")}
    replaced = ours | (begins & written.keys() if discard else set())
    try:
        replace(target, written, "ops.yaml", discard_edits=discard)
    except Refusal:
        assert everything(folder) == before
        assert files.keys() != replaced
    else:
        assert contents(target) == written
        assert files.keys() == replaced
    assert [path.name for path in folder.iterdir()] == ["made"]
