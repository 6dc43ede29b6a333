"""Tables are read once; the cache is read if it is whole, and only the user can write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen import table_cache
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import REQUIRED, Table

SPEC = """
- name: doubled(Tensor self, Scalar alpha=2) -> Tensor
  doc: Twice a tensor.
  forward: alpha * self
  self: grad * {factor}
  result: alpha * self_t
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "specs" / "ops.yaml"
    path.parent.mkdir()
    path.write_text(SPEC.format(factor="alpha"), encoding="utf-8")
    return path


@pytest.fixture
def read_anew(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The specs that had to be read."""
    read: list[Path] = []

    def noted(path: Path) -> Table:
        read.append(path)
        return load_table(path)

    monkeypatch.setattr(table_cache, "load_table", noted)
    return read


def cache_file(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache" / "tables").iterdir()
    return file


def test_what_is_kept_is_the_table(spec: Path, read_anew: list[Path]) -> None:
    first = table_cache.read(spec)
    again = table_cache.read(spec)
    assert read_anew == [spec]
    assert again == first == load_table(spec)
    (op,) = again.ops
    assert op.signature.params[0].default is REQUIRED


def test_a_changed_spec_is_read_anew(spec: Path, read_anew: list[Path]) -> None:
    before = table_cache.read(spec)
    spec.write_text(SPEC.format(factor="2 * alpha / 2"), encoding="utf-8")
    after = table_cache.read(spec)
    assert read_anew == [spec, spec]
    assert before != after == load_table(spec)


def test_a_damaged_file_is_read_anew(spec: Path, tmp_path: Path, read_anew: list[Path]) -> None:
    table = table_cache.read(spec)
    file = cache_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert table_cache.read(spec) == table
    assert read_anew == [spec, spec]


def test_a_file_that_others_can_write_is_read_anew(
    spec: Path, tmp_path: Path, read_anew: list[Path]
) -> None:
    table = table_cache.read(spec)
    cache_file(tmp_path).chmod(0o666)
    assert table_cache.read(spec) == table
    assert read_anew == [spec, spec]
    assert cache_file(tmp_path).stat().st_mode & 0o777 == 0o600


def test_without_a_cache_the_spec_is_read(
    spec: Path, tmp_path: Path, read_anew: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRADSPEC_CACHE", str(tmp_path / "file"))
    assert table_cache.read(spec) == table_cache.read(spec)
    assert read_anew == [spec, spec]
