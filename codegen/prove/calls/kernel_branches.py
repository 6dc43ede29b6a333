"""The conditions in a file of kernels of one's own, noting their answers like those of formulas.

The file is read once more with every comparison of plain values (extents, numbers, texts), and
every flag that an `if` or `and` asks, noting its answer. Elements answer nothing, as kernels may
keep from a division by what no call has; nor do dtypes and layouts, in which calls are repeated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

Note: TypeAlias = Callable[[int, bool], object]
"""Is given the number of a condition and its answer."""

_COMPARED, _ASKED = "compared__", "asked__"
"""Names that no kernel should have."""

_OF_LAYOUT = frozenset({"base", "dtype", "flags", "itemsize", "kind", "strides"})
"""Attributes of arrays that are varied otherwise."""

_OF_TYPES = ("callable", "hasattr", "isinstance", "issubclass")

_PLAIN = (bool, float, int, str, type(None))


def noting_kernels(module: ModuleType, note: Note) -> tuple[dict[str, Any], list[str]]:
    """The functions of a file, whose conditions call `note` with their number and answer; and the
    texts of the conditions, in the order of their numbers."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    reader = _Reader()
    tree = ast.fix_missing_locations(reader.visit(ast.parse(source)))

    def compared(number: int, compare: Callable[..., Any], *sides: Any) -> Any:
        answer = compare(*sides)
        if all(map(_is_plain, sides)):
            note(number, bool(answer))
        return answer

    def asked(number: int, value: Any) -> Any:
        if _is_plain(value):
            note(number, bool(value))
        return value

    scope = {**vars(module), _COMPARED: compared, _ASKED: asked}
    exec(compile(tree, str(module.__file__), "exec"), scope)
    return scope, reader.texts


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN  # numbers of NumPy may come of elements


class _Reader(ast.NodeTransformer):
    """Calls a note at every condition of a file."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._of_layout: frozenset[str] = frozenset()
        """Names of the function that is read which tell of its arrays what is varied otherwise."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Find the names that are exempt in a function, then read it."""
        outer = self._of_layout
        self._of_layout = outer | {*_names_of_layout(node)}
        read = self.generic_visit(node)
        self._of_layout = outer
        return read

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Let a comparison note its answer."""
        if self._is_exempt(node):
            return node
        call = self._noting(_COMPARED, node)
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        names = [f"side{number}__" for number in range(len(sides))]
        first, *others = (ast.Name(name, ast.Load()) for name in names)
        params = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        call.args += [ast.Lambda(params, ast.Compare(first, node.ops, [*others])), *sides]
        return call

    def visit_If(self, node: ast.If) -> ast.AST:
        """Let a test note its answer, but one of calls that are refused."""
        if isinstance(node.body[-1], ast.Raise):
            node.orelse = [self.visit(each) for each in node.orelse]
            return node
        return self._with_test(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        """Let a test note its answer."""
        return self._with_test(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Let a test note its answer."""
        return self._with_test(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Let each of what `and` and `or` join note its answer."""
        asked = [self._asks(value) for value in node.values]
        self.generic_visit(node)
        node.values = [_around(call, value) for call, value in zip(asked, node.values, strict=True)]
        return node

    def _with_test(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        call = self._asks(node.test)
        self.generic_visit(node)
        node.test = _around(call, node.test)
        return node

    def _asks(self, test: ast.expr) -> ast.Call | None:
        """The call that is given the value of a test; None where its parts note theirs."""
        is_made_of_parts = isinstance(test, ast.Compare | ast.BoolOp | ast.Constant)
        if is_made_of_parts or self._is_exempt(test):
            return None
        return self._noting(_ASKED, test)

    def _noting(self, function: str, node: ast.expr) -> ast.Call:
        self.texts.append(ast.unparse(node))
        number = ast.Constant(len(self.texts) - 1)
        return ast.Call(ast.Name(function, ast.Load()), [number], [])

    def _is_exempt(self, node: ast.expr) -> bool:
        parts = list(ast.walk(node))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        return _reads_layout(node) or bool(names & {*self._of_layout, *_OF_TYPES})


def _around(call: ast.Call | None, value: ast.expr) -> ast.expr:
    if call is None:
        return value
    call.args.append(value)
    return call


def _reads_layout(node: ast.AST) -> bool:
    return any(isinstance(p, ast.Attribute) and p.attr in _OF_LAYOUT for p in ast.walk(node))


def _names_of_layout(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _reads_layout(node.value):
            for target in node.targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
