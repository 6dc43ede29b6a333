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

_COMPUTING = frozenset(
    {
        "__future__",
        "abc",
        "array",
        "bisect",
        "cmath",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "math",
        "numbers",
        "operator",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "warnings",
    }
)
"""Python's modules whose answers follow from what they are given. Others read files and clocks, or
keep something from call to call."""

_CHANGING_NAMES = frozenset(
    {
        "__import__",
        "attrgetter",
        "breakpoint",
        "compile",
        "delattr",
        "eval",
        "exec",
        "globals",
        "hash",
        "id",
        "input",
        "locals",
        "methodcaller",
        "open",
        "setattr",
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
        "behaved",
        "byte_bounds",
        "byteorder",
        "carray",
        "ctypes",
        "data",
        "farray",
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

_OF_ELSEWHERE = frozenset(
    {
        "DataSource",
        "fromfile",
        "fromregex",
        "genfromtxt",
        "get_default_dtype",
        "get_printoptions",
        "getbufsize",
        "geterr",
        "geterrcall",
        "is_grad_enabled",
        "load",
        "loadtxt",
        "manual_seed",
        "open_memmap",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "set_default_dtype",
        "set_printoptions",
        "setbufsize",
        "seterr",
        "seterrcall",
        "tofile",
    }
)
"""Functions that read or write files, or what is set for the whole program."""

_OF_INSIDES = frozenset(
    {"__builtins__", "__class__", "__closure__", "__code__", "__dict__", "__globals__"}
)
"""Attributes by which everything can be reached, under any name."""

_NOT_READ = _OF_PLACES | _OF_ELSEWHERE | _OF_INSIDES


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
        root = module.partition(".")[0]
        changes = root in sys.stdlib_module_names and root not in _COMPUTING
        if changes or module == "numpy.random":
            yield node, module
    for top in body:
        for part in ast.walk(top):
            if isinstance(part, ast.Global):
                yield part, "global"
            elif isinstance(part, ast.Attribute) and _is_not_for_kernels(part):
                yield part, ast.unparse(part)
            elif isinstance(part, ast.Name) and part.id in _CHANGING_NAMES | _OF_INSIDES:
                yield part, part.id
            elif isinstance(part, ast.Call) and _is_indirect(part):
                yield part, ast.unparse(part)
            elif isinstance(part, ast.ImportFrom):
                names = {name.name for name in part.names}
                yield from ((part, n) for n in sorted(names & {"random", *_NOT_READ}))
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield from _identities(part)
    yield from _whole_flags(body)
    yield from _kept_elsewhere(body)


def _is_not_for_kernels(node: ast.Attribute) -> bool:
    """Return whether a part is random, or tells where arrays lie or what else there is."""
    is_read = isinstance(node.ctx, ast.Load)
    return node.attr in ("attrgetter", "methodcaller", "random") or (
        is_read and node.attr in _NOT_READ
    )


def _is_indirect(node: ast.Call) -> bool:
    """Return whether a call asks for an attribute by a text that is not seen, or is refused."""
    if not (isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")):
        return False
    name = node.args[1] if len(node.args) > 1 else None
    text = name.value if isinstance(name, ast.Constant) else None
    return not isinstance(text, str) or text in {"random", "flags", *_NOT_READ}


def _whole_flags(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, str]]:
    """The flags of an array, where they are not asked for one by one: they tell who owns it."""
    read = [p for top in body for p in ast.walk(top) if isinstance(p, ast.Attribute)]
    asked = {id(part.value) for part in read if part.attr != "num"}
    for part in read:
        if part.attr == "flags" and id(part) not in asked:
            yield part, ast.unparse(part)


def _kept_elsewhere(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, str]]:
    """Attributes that a function changes of what is not its own: they last until the next call."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for top in body
        for node in ast.walk(top)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    known = imported | {top.name for top in body if isinstance(top, ast.ClassDef | ast.FunctionDef)}
    for top in body:
        for part in ast.walk(top):
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                root: ast.expr = part
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in known:
                    yield part, ast.unparse(part)


def _identities(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> Iterator[tuple[ast.expr, str]]:
    """Questions whether two arguments are one object, of which elements say nothing."""
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            sides = (node.left, *node.comparators)
            if all(isinstance(side, ast.Name) and side.id in given for side in sides):
                yield node, ast.unparse(node)
