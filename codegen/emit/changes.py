"""Compare a generated package with what would be generated: by file, and by definition."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """One line a file that is missing, changed, or not generated; nothing for what is the same."""
    return [
        _change(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _change(name: str, before: str | None, after: str | None) -> str:
    if before is None:
        return f"{name}: missing"
    if after is None:
        return f"{name}: not generated"
    names = ", ".join(_changed_definitions(before, after)) if name.endswith(".py") else ""
    return f"{name}: changed" + (f" in {names}" if names else "")


def _changed_definitions(before: str, after: str) -> Iterator[str]:
    try:
        old, new = _definitions(before), _definitions(after)
    except SyntaxError:
        return
    for name in dict.fromkeys([*new, *old]):
        if old.get(name) != new.get(name):
            yield name


def _definitions(text: str) -> dict[str, str]:
    return {
        node.name: ast.dump(node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
