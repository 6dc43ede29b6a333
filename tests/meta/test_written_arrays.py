"""No array is written to where it may be a copy of the one that was meant.

`reshape`, `ravel` and their like answer a view of some layouts and a copy of others, so what is
written to their answer is lost for these. And an array made by a `*_like` function takes over
its order in memory, unless told not to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from .source_tree import ROOT, parse, python_files

PERHAPS_COPIES = ("reshape", "ravel", "ascontiguousarray", "asfortranarray", "astype", "in_order")
"""Functions and methods that copy an array of another order, or has another dtype."""

WRITERS = ("copyto", "put", "putmask", "place", "put_along_axis", "fill_diagonal", "at")
"""Functions that write to their first argument, as `np.add.at` does."""

WRITING_METHODS = ("fill", "sort", "partition", "put", "setfield", "resize")
"""Methods that write to their array."""

OWN_WRITERS = ("add_at", "add_rows", "_write_masked")
"""Functions of the kernels that write to their first argument."""


def lost_writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that write to what may be a copy, with what they write to."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for function in ast.walk(tree):
        if isinstance(function, functions):
            nodes = list(ast.walk(function))
            given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            copies = {
                target.id
                for node in nodes
                if isinstance(node, ast.Assign) and perhaps_copies(node.value)
                for target in node.targets
                if isinstance(target, ast.Name) and not takes_place(target, node.value, given)
            }
            for node in nodes:
                for target in written(node):
                    base = array_of(target)
                    if perhaps_copies(base) or (isinstance(base, ast.Name) and base.id in copies):
                        yield node.lineno, ast.unparse(base)


def takes_place(target: ast.Name, value: ast.AST, given: set[str]) -> bool:
    """Return whether nothing still reads the old `x` after `x = x.reshape(...)`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    old = value.func.value
    return isinstance(old, ast.Name) and old.id == target.id and target.id not in given


def perhaps_copies(node: ast.AST) -> bool:
    """Return whether an expression is a call of one of `PERHAPS_COPIES`."""
    return isinstance(node, ast.Call) and name_of(node.func) in PERHAPS_COPIES


def name_of(function: ast.AST) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def array_of(target: ast.AST) -> ast.AST:
    """Return the array that a target such as `x[0].T[1:]` is a part of: `x`."""
    while isinstance(target, ast.Subscript) or (
        isinstance(target, ast.Attribute) and target.attr in ("T", "mT", "real", "imag", "flat")
    ):
        target = target.value
    return target


def written(node: ast.AST) -> Iterator[ast.AST]:
    """The arrays that a statement or an expression writes to."""
    if isinstance(node, ast.Assign):
        yield from (each for each in node.targets if isinstance(each, ast.Subscript))
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Call):
        name = name_of(node.func)
        if node.args and (name in WRITERS or name in OWN_WRITERS):
            yield node.args[0]
        if isinstance(node.func, ast.Attribute) and name in WRITING_METHODS:
            yield node.func.value
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")


def unordered_like_calls(tree: ast.AST) -> Iterator[int]:
    """Lines that make an array of another shape by a `*_like` function, without an order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func).endswith("_like"):
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if given.get("shape", "()") != "()" and "order" not in given:
                yield node.lineno


def test_no_copy_is_written_to() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in python_files("runtime", "generated")
        for line, what in lost_writes(parse(path))
    ]
    assert not found, "\n".join(found)


def test_arrays_of_like_functions_say_their_order() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in python_files("runtime", "generated")
        for line in unordered_like_calls(parse(path))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "out.reshape(-1)[0] = 1",
        "np.add.at(out.reshape(-1), i, v)",
        "table = np.ascontiguousarray(out); add_rows(table, i, v)",
        "flat = np.ravel(out); flat += 1",
        "flat = out.ravel(); flat.sort()",
        "np.multiply(a, b, out=out.reshape(2, 3))",
        "out.reshape(2, 3).T[0] -= 1",
        "out = out.reshape(-1); out += 1",
    ],
)
def test_what_is_refused(line: str) -> None:
    assert list(lost_writes(ast.parse(f"def f(out, i, v, a, b):\n    {line}")))


def test_like_calls_that_are_refused() -> None:
    assert list(unordered_like_calls(ast.parse("np.zeros_like(x, shape=(2,))"))) == [1]
    assert not list(unordered_like_calls(ast.parse("np.zeros_like(x, order='C', shape=(2,))")))
