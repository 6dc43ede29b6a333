"""Only the folders of comparisons import other frameworks: elsewhere tests are read without."""

from __future__ import annotations

import ast

from tests.conftest import FOLDERS
from tests.meta.source_tree import ROOT, python_files


def _imported_when_read(tree: ast.Module) -> set[str]:
    """The top-level packages that a module imports as it is read."""
    found: set[str] = set()
    statements: list[ast.stmt] = list(tree.body)
    while statements:
        statement = statements.pop()
        if isinstance(statement, ast.Import):
            found |= {alias.name.split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            found.add(statement.module.split(".")[0])
        elif isinstance(statement, (ast.Try, ast.With, ast.ClassDef)):
            statements += statement.body
    return found


def test_frameworks_are_imported_in_their_folders():
    outside = [
        f"{path.relative_to(ROOT)} imports {package}"
        for path in python_files("tests")
        for package in _imported_when_read(ast.parse(path.read_text(encoding="utf-8")))
        if package in FOLDERS.values()
        and FOLDERS.get(path.relative_to(ROOT / "tests").parts[0]) != package
    ]
    assert outside == []


def test_folders_of_frameworks_are_there():
    assert all((ROOT / "tests" / folder).is_dir() for folder in FOLDERS)
