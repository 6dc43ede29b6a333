"""The files that a process leaves for later ones, and what is done with those it did not write."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradspec.compiler.kept import disk_cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gradspec" / "programs"


def only_file(cache: Path) -> Path:
    (found,) = (path for path in cache.rglob("*") if path.is_file())
    return found


def test_a_text_is_made_once(cache: Path) -> None:
    made: list[str] = []

    def make() -> str:
        made.append("")
        return "é\r\nline\n"

    assert [disk_cache.text(("a", "b"), make) for _ in range(3)] == ["é\r\nline\n"] * 3
    assert len(made) == 1
    assert disk_cache.text(("a", "c"), lambda: "another") == "another"


def test_a_file_and_its_folders_are_private(cache: Path) -> None:
    disk_cache.text(("a",), lambda: "text")
    for path in (cache, *cache.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_text_that_was_changed_is_made_again(cache: Path) -> None:
    disk_cache.text(("a",), lambda: "text")
    only_file(cache).write_text("import os", encoding="utf-8")
    assert disk_cache.text(("a",), lambda: "text") == "text"


def test_a_text_that_others_can_write_is_made_again(cache: Path) -> None:
    disk_cache.text(("a",), lambda: "text")
    only_file(cache).chmod(0o666)
    assert disk_cache.text(("a",), lambda: "again") == "again"


def test_a_folder_that_is_a_link_is_replaced_and_what_it_points_to_stays(
    cache: Path, tmp_path: Path
) -> None:
    disk_cache.text(("a",), lambda: "text")
    file = only_file(cache)
    elsewhere = tmp_path / "elsewhere"
    file.parent.rename(elsewhere)
    (elsewhere / "mine.txt").write_text("mine", encoding="utf-8")
    file.parent.symlink_to(elsewhere)
    assert disk_cache.text(("a",), lambda: "again") == "again"
    assert not file.parent.is_symlink()
    assert sorted(path.name for path in elsewhere.iterdir()) == sorted(["mine.txt", file.name])


def test_a_file_in_the_place_of_a_folder_is_replaced(cache: Path) -> None:
    disk_cache.text(("a",), lambda: "text")
    file = only_file(cache)
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("", encoding="utf-8")
    assert disk_cache.text(("a",), lambda: "again") == "again"


def test_a_folder_that_cannot_be_written_needs_no_other_text(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert disk_cache.text(("a",), lambda: "text") == "text"


def test_an_error_of_the_maker_is_not_kept(cache: Path) -> None:
    def fail() -> str:
        raise LookupError("no text")

    for _ in range(2):
        with pytest.raises(LookupError, match="no text"):
            disk_cache.text(("a",), fail)
    assert disk_cache.text(("a",), lambda: "text") == "text"
    assert not list(cache.glob("build-*"))


PROGRAM = """
import sys
import gradspec as gs

@gs.compile(backend=sys.argv[1])
def loss(x):
    return (x.sin() * x).sum()

x = gs.tensor([1.0, 2.0, 3.0], requires_grad=True)
for _ in range(3):
    loss(x).backward()
print(x.grad.tolist(), "jinja2" in sys.modules, "subprocess" in sys.modules)
"""


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_later_process_needs_neither_jinja_nor_the_compiler(cache: Path, backend: str) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache.parents[1])}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM, backend],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert first.endswith(f"True {backend == 'c'}\n")
    assert second.endswith("False False\n")
    assert first.partition("]")[0] == second.partition("]")[0]
