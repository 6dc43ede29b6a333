"""Kernels of one's own: a Python file whose functions `forward` calls as `kernels.name`.

The file is read, never imported: what it holds is copied into the generated package, and runs in
the proof and in the programs that use the package. A spec alone runs nothing; who gives the command
a file of kernels asks for it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..diagnostics import Diagnostic, Report, Span, SpecError
from .source import read_source

MODULE = "own_kernels"
"""The module of a generated package that holds them."""

_IMPORTABLE = sys.stdlib_module_names | {"numpy", "scipy", "gradspec"}

_CHANGING = frozenset(
    {
        "builtins",
        "ctypes",
        "datetime",
        "gc",
        "importlib",
        "inspect",
        "multiprocessing",
        "os",
        "platform",
        "random",
        "secrets",
        "socket",
        "subprocess",
        "sys",
        "threading",
        "time",
        "traceback",
        "uuid",
        "weakref",
    }
)
"""Modules that answer differently from one call to the next, from one machine to the other, or in a
proof: which modules there are, and who calls."""

_CHANGING_NAMES = frozenset(
    {
        "__import__",
        "compile",
        "eval",
        "exec",
        "globals",
        "hash",
        "id",
        "input",
        "locals",
        "open",
        "vars",
    }
)
"""Functions of Python that do, or that name what is not seen here."""

_OF_PLACES = frozenset(
    {
        "__array_interface__",
        "__array_struct__",
        "__hash__",
        "__reduce__",
        "aligned",
        "base",
        "byteorder",
        "ctypes",
        "isnative",
        "may_share_memory",
        "memmap",
        "owndata",
        "shares_memory",
        "writeable",
    }
)
"""Attributes that tell where the elements of an array lie, and functions of NumPy: equal elements
must give equal results."""


@dataclass(frozen=True, slots=True)
class OwnKernels:
    """The text of a file, and the functions that formulas may call."""

    file: str
    """Its name, without folders."""
    text: str
    names: frozenset[str]


def read_own_kernels(path: Path) -> OwnKernels:
    """Read a file of kernels. Raises SpecError for what is no Python or cannot be copied."""
    report = Report()
    source = read_source(path, report)
    report.raise_if_any()
    assert source is not None
    try:
        body = ast.parse(source.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        place = Span(str(path), line, max(1, column))
        message = f"this is not Python: {getattr(error, 'msg', error)}"
        raise SpecError([Diagnostic("GS082", place, message)]) from None
    for node, module in _imported(body):
        if module.partition(".")[0] not in _IMPORTABLE:
            place = Span(str(path), node.lineno, node.col_offset + 1)
            message = f"kernels cannot import `{module or '.'}`"
            help = "the file is copied into the package: it imports NumPy, SciPy, gradspec, Python"
            report.error("GS082", place, message, help)
    for changing, name in _changing(body):
        place = Span(str(path), changing.lineno, changing.col_offset + 1)
        message = f"kernels cannot use `{name}`: what they give follows from their arguments alone"
        help = "pass what is random, or read from elsewhere, as an argument"
        report.error("GS082", place, message, help)
    report.raise_if_any()
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    public = frozenset(name for name in names if not name.startswith("_"))
    return OwnKernels(path.name, source.text, public)


def _imported(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, ast.Import):
                yield from ((node, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node, "." * node.level + (node.module or "")


def _changing(body: list[ast.stmt]) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Names of what is no function of arguments: equal calls do not show what it may give."""
    for node, module in _imported(body):
        if module.partition(".")[0] in _CHANGING or module == "numpy.random":
            yield node, module
    for top in body:
        for part in ast.walk(top):
            if isinstance(part, ast.Global):
                yield part, "global"
            elif isinstance(part, ast.Attribute) and _is_of_places(part):
                yield part, ast.unparse(part)
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                if part.func.id in _CHANGING_NAMES:
                    yield part, part.func.id
            elif isinstance(part, ast.ImportFrom):
                names = {name.name for name in part.names}
                yield from ((part, name) for name in sorted(names & {"random", *_OF_PLACES}))
            elif isinstance(part, ast.FunctionDef):
                yield from _identities(part)


def _is_of_places(node: ast.Attribute) -> bool:
    """Return whether a part is random, or is read to tell where arrays lie."""
    return node.attr == "random" or (isinstance(node.ctx, ast.Load) and node.attr in _OF_PLACES)


def _identities(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, str]]:
    """Questions whether two arguments are one object, of which elements say nothing."""
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            sides = (node.left, *node.comparators)
            if all(isinstance(side, ast.Name) and side.id in given for side in sides):
                yield node, ast.unparse(node)
