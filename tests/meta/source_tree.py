"""The tree as Python sees it: modules, what they import, how long they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = {
    "gradspec": ROOT / "runtime",
    "gradspec.generated": ROOT / "generated",
    "gradspec_codegen": ROOT / "codegen",
    "gradspec_codegen.specs": ROOT / "specs",
}
HANDWRITTEN = ("runtime", "codegen", "tests", "examples", "benchmarks", "atlas")


@dataclass(frozen=True)
class Import:
    """One import of one module: by whom, of what, where."""

    importer: str
    imported: str
    """Absolute; `from a import b` is `a.b`, whether b is a module or not."""
    path: Path
    line: int
    in_function: bool
    for_types_only: bool

    def __str__(self) -> str:
        place = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{place}: {self.importer} imports {self.imported}"


def is_in(module: str, package: str) -> bool:
    """Return whether a module is a package or in it."""
    return module == package or module.startswith(package + ".")


def python_files(*folders: str) -> list[Path]:
    """The Python files of top-level folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def imports() -> tuple[Import, ...]:
    """Every import of the two packages, the generated one included."""
    found = []
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            module = ".".join((package, *(parts[:-1] if is_package else parts)))
            found += _imports_of(path, module, is_package)
    return tuple(found)


def _imports_of(path: Path, module: str, is_package: bool) -> Iterator[Import]:
    around = module if is_package else module.rpartition(".")[0]
    pending: list[tuple[ast.AST, bool, bool]] = [(parse(path), False, False)]
    while pending:
        node, in_function, types_only = pending.pop()
        for name in _imported_names(node, around):
            assert isinstance(node, ast.Import | ast.ImportFrom)
            yield Import(module, name, path, node.lineno, in_function, types_only)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += [(child, in_function, True) for child in node.body]
            pending += [(child, in_function, types_only) for child in node.orelse]
            continue
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        pending += [(child, inside, types_only) for child in ast.iter_child_nodes(node)]


def _imported_names(node: ast.AST, around: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        parents = around.split(".")
        parents = parents[: len(parents) - node.level + 1]
        base = ".".join([*parents, base] if base else parents)
    return [f"{base}.{alias.name}" for alias in node.names]


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))
