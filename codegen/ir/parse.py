"""Formula text to tree: Python's syntax, read by `ast`, and only what the tree can hold.

Nothing is ever evaluated. What `ast` accepts and the formula language does not is refused by name,
so that an author reads "a lambda" and not the name of a class.
"""

from __future__ import annotations

import ast
import warnings

from .guard import FormulaError, check_size
from .indexing import Index, indexed
from .magnitude import fault_of
from .members import ATTRIBUTES, attribute_by_ops, fault_of_method, method
from .nodes import (
    Assign,
    Attribute,
    Binary,
    Block,
    Call,
    Compare,
    Conditional,
    Const,
    Expr,
    If,
    Logic,
    Name,
    Return,
    Sequence,
    Slice,
    Star,
    Stmt,
    Subscript,
    TextSpan,
    Unary,
)
from .places import Places
from .shorthands import NotShort, written_out

__all__ = ["ATTRIBUTES", "PRIMITIVE_ROOTS", "FormulaError", "parse"]

PRIMITIVE_ROOTS = ("np", "sp", "kernels")
"""The words before the dot of a primitive's name."""

_MAX_TREE_DEPTH = 120
_MAX_INT = 10**30

_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.Invert: "~", ast.Not: "not"}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", ""),
    ast.ListComp: ("a comprehension", ""),
    ast.SetComp: ("a comprehension", ""),
    ast.DictComp: ("a comprehension", ""),
    ast.GeneratorExp: ("a comprehension", ""),
    ast.NamedExpr: ("an assignment inside an expression", "assign on a line of its own"),
    ast.JoinedStr: ("an f-string", ""),
    ast.Dict: ("a dict", ""),
    ast.Set: ("a set", ""),
    ast.Await: ("await", ""),
    ast.Yield: ("yield", ""),
    ast.YieldFrom: ("yield", ""),
    ast.Starred: ("a starred value", "`*shape` may stand in a list or tuple display only"),
    ast.AugAssign: ("an augmented assignment", "write `x = x + ...`"),
    ast.AnnAssign: ("an annotated assignment", "write `x = ...`"),
    ast.For: ("a for loop", "write a kernel, or an op of its own"),
    ast.While: ("a while loop", "write a kernel, or an op of its own"),
    ast.Import: ("an import", ""),
    ast.ImportFrom: ("an import", ""),
    ast.FunctionDef: ("a function definition", "make it an op of the table"),
    ast.AsyncFunctionDef: ("a function definition", "make it an op of the table"),
    ast.ClassDef: ("a class", ""),
    ast.With: ("a with block", ""),
    ast.Try: ("a try block", ""),
    ast.Raise: ("raise", ""),
    ast.Assert: ("assert", ""),
    ast.Global: ("global", ""),
    ast.Nonlocal: ("nonlocal", ""),
    ast.Delete: ("del", ""),
    ast.Pass: ("pass", ""),
    ast.Match: ("a match block", "use if/elif/else"),
}


def parse(text: str) -> Block:
    """Parse a formula: one expression, or a block of assignments, `if` and `return`.

    Raises FormulaError, whatever the text; never evaluates any of it.
    """
    check_size(text)
    indent = len(text) - len(text.lstrip())
    places = Places(text, indent)
    tree = _python_tree(text[indent:], places)
    if not tree.body:
        raise FormulaError(TextSpan(0, len(text)), "GS030", "the formula is empty")
    reader = _Reader(text, places)
    if len(tree.body) == 1 and isinstance(only := tree.body[0], ast.Expr):
        return Block((Return(reader.expr(only.value), span=places.span(only)),))
    statements = reader.statements(tree.body)
    if not _always_returns(statements):
        last = statements[-1]
        raise FormulaError(last.span, "GS032", "not every path returns", "end with `return ...`")
    return Block(statements, span=TextSpan(indent, len(text.rstrip())))


def _python_tree(text: str, places: Places) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # A warning of the tokenizer ("1if x") is a mistake in a formula.
            warnings.simplefilter("error")
            return ast.parse(text)
    except SyntaxError as error:
        place = places.of_syntax_error(error)
        at_end = place.start >= len(places.text.rstrip())
        message = "the formula ends too early" if at_end else f"not a formula: {error.msg}"
        raise FormulaError(place, "GS030", message) from None
    except (RecursionError, MemoryError, ValueError):
        whole = TextSpan(0, len(places.text))
        raise FormulaError(whole, "GS033", "the formula is nested too deeply") from None


class _Reader:
    """Turns allowed `ast` nodes to nodes of ours; refuses the others where they stand."""

    def __init__(self, text: str, places: Places) -> None:
        self._text = text
        self._places = places
        self._depth = 0

    def statements(self, body: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements of one branch, none of them after a return."""
        result: list[Stmt] = []
        for node in body:
            if result and _always_returns(tuple(result)):
                raise self._error(node, "GS032", "this can never run: the block has returned")
            result.append(self._stmt(node))
        return tuple(result)

    def _stmt(self, node: ast.stmt) -> Stmt:
        span = self._places.span(node)
        match node:
            case ast.Assign(targets=[target], value=value):
                return Assign(self._targets(target), self.expr(value), span=span)
            case ast.Assign():
                raise self._refuse(node, "a chained assignment", "assign on two lines")
            case ast.If(test=test, body=body, orelse=orelse):
                with self._deeper(node):
                    return If(
                        self.expr(test), self.statements(body), self.statements(orelse), span=span
                    )
            case ast.Return(value=ast.expr() as value):
                return Return(self.expr(value), span=span)
            case ast.Return():
                raise self._refuse(node, "a return without a value", "")
            case ast.Expr():
                raise self._refuse(
                    node,
                    "an expression that nothing uses",
                    "write `return ...`, or put a formula of several lines in parentheses",
                )
        raise self._refuse_by_class(node)

    def _targets(self, target: ast.expr) -> tuple[str, ...]:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        if not names:
            raise self._refuse(target, "an assignment to nothing", "")
        for name in names:
            if not isinstance(name, ast.Name):
                raise self._refuse(name, "an assignment to something not a name", "")
        return tuple(self._name(name, name.id) for name in names if isinstance(name, ast.Name))

    def expr(self, node: ast.expr) -> Expr:
        """One expression with everything below it."""
        with self._deeper(node):
            return self._expr(node, self._places.span(node))

    def _expr(self, node: ast.expr, span: TextSpan) -> Expr:
        match node:
            case ast.Name(id=name):
                return Name(self._name(node, name), span=span)
            case ast.Constant():
                return self._constant(node, span)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return Unary(_UNARY[type(op)], self.expr(operand), span=span)
            case ast.BinOp(left=left, op=binary, right=right) if type(binary) in _BINARY:
                made = Binary(_BINARY[type(binary)], self.expr(left), self.expr(right), span=span)
                return self._finite(node, made)
            case ast.Compare(left=left, ops=[compare], comparators=[right]):
                return Compare(
                    _COMPARE[type(compare)], self.expr(left), self.expr(right), span=span
                )
            case ast.BoolOp(op=logic, values=values):
                word = "and" if isinstance(logic, ast.And) else "or"
                return Logic(word, tuple(self.expr(value) for value in values), span=span)
            case ast.Call():
                return self._finite(node, self._call(node, span))
            case ast.Attribute():
                return self._attribute(node, span)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=indices)):
                return self._indexed(node, self.expr(value), indices)
            case ast.Subscript(value=value, slice=ast.Constant(value=None) as index):
                return self._indexed(node, self.expr(value), [index])
            case ast.Subscript(value=value, slice=index):
                return Subscript(self.expr(value), self._index(index), span=span)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Conditional(self.expr(test), self.expr(body), self.expr(orelse), span=span)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return Sequence(tuple(self._item(item) for item in items), span=span)
        raise self._refuse_by_class(node)

    def _finite(self, node: ast.expr, made: Expr) -> Expr:
        """An expression, unless it is made of numbers and its value is no finite one."""
        if fault := fault_of(made):
            raise self._error(node, "GS033", fault)
        return made

    def _constant(self, node: ast.Constant, span: TextSpan) -> Const:
        value = node.value
        if isinstance(value, int) and abs(value) >= _MAX_INT:
            raise self._error(node, "GS033", "an integer of more than 30 digits")
        if value in (float("inf"), float("-inf")):
            raise self._error(node, "GS033", "this number is infinite as a float", "write `inf`")
        if value is None or isinstance(value, bool | int | float | str):
            return Const(value, span=span)
        raise self._refuse(node, f"a {type(value).__name__} literal", "")

    def _call(self, node: ast.Call, span: TextSpan) -> Expr:
        if self._is_method(node.func):
            assert isinstance(node.func, ast.Attribute)
            function = self._name_of_member(node.func)
            if help := fault_of_method(function):
                raise self._refuse(node.func, f"the method `{function}`", help)
            called = self._arguments(function, (self.expr(node.func.value),), node, span)
            made = method(called, span)
        else:
            made = self._arguments(self._function(node.func), (), node, span)
        if not isinstance(made, Call):
            return made
        try:
            return written_out(made)
        except NotShort as error:
            raise self._error(node, "GS031", f"{error}", error.help) from None

    @staticmethod
    def _is_method(node: ast.expr) -> bool:
        """Return whether a function is a member of what may be a tensor."""
        if not isinstance(node, ast.Attribute):
            return False
        dotted = _dotted_name(node)
        if dotted is not None and dotted[0] in PRIMITIVE_ROOTS:
            return False
        owner = node.value
        is_plain = isinstance(owner, ast.Attribute) and owner.attr in ATTRIBUTES
        return not is_plain and not isinstance(owner, ast.Constant | ast.Tuple | ast.List)

    def _name_of_member(self, node: ast.Attribute) -> str:
        """The name behind the dot."""
        self._check_name(node, node.attr)
        if not node.attr.isascii() or not self._text[: self._places.span(node).end].endswith(
            node.attr
        ):
            raise self._error(node, "GS031", "a name with letters outside a-z, 0-9 and _")
        return node.attr

    def _arguments(
        self, function: str, first: tuple[Expr, ...], node: ast.Call, span: TextSpan
    ) -> Call:
        """A call of a function, with what stands in front of the arguments that are written."""
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self._refuse(argument, "a starred argument", "name each argument")
        kwargs: list[tuple[str, Expr]] = []
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._refuse(keyword.value, "a `**` argument", "name each argument")
            if any(keyword.arg == name for name, _ in kwargs):
                raise self._error(keyword, "GS030", f"`{keyword.arg}` is given twice")
            kwargs.append((self._name(keyword, keyword.arg), self.expr(keyword.value)))
        return Call(function, (*first, *map(self.expr, node.args)), tuple(kwargs), span=span)

    def _function(self, node: ast.expr) -> str:
        dotted = _dotted_name(node)
        if dotted is None:
            method = f"{node.attr}(x)" if isinstance(node, ast.Attribute) else "an op of the table"
            raise self._refuse(node, "a call of a computed value", f"call {method} by its name")
        for part in dotted:
            self._check_name(node, part)
        self._check_letters(node, "".join(dotted))
        if len(dotted) > 1 and dotted[0] not in PRIMITIVE_ROOTS:
            raise self._refuse(
                node, "a method call", f"write `{dotted[-1]}({'.'.join(dotted[:-1])})`"
            )
        return ".".join(dotted)

    def _attribute(self, node: ast.Attribute, span: TextSpan) -> Expr:
        if (dotted := _dotted_name(node)) is not None and dotted[0] in PRIMITIVE_ROOTS:
            help = f"write `{node.attr}`" if node.attr in ("pi", "inf", "nan") else ""
            raise self._refuse(node, f"`{'.'.join(dotted)}` without a call", help)
        name = self._name_of_member(node)
        value = self.expr(node.value)
        if name in ATTRIBUTES:
            return Attribute(value, name, span=span)
        if (by_ops := attribute_by_ops(value, name, span)) is not None:
            return by_ops
        names = ", ".join(f"`.{each}`" for each in ATTRIBUTES)
        help = "write `numel(x)`" if name == "size" else f"there are only {names}"
        raise self._refuse(node, f"the attribute `.{name}`", help)

    def _index(self, node: ast.expr) -> Expr | Slice:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [None if part is None else self.expr(part) for part in (lower, upper, step)]
                return Slice(*parts, span=self._places.span(node))
            case ast.Constant(value=value) if not isinstance(value, int):
                raise self._refuse(node, "an index that is not an integer", "")
        return self.expr(node)

    def _indexed(self, node: ast.expr, value: Expr, indices: list[ast.expr]) -> Expr:
        """`value[1:, None, -1]` of a tensor, as calls of ops."""
        parts: list[Index] = []
        for index in indices:
            if isinstance(index, ast.Constant) and index.value in (None, ...):
                parts.append(... if index.value is ... else self.expr(index))
            else:
                parts.append(self._index(index))
        try:
            return indexed(value, parts)
        except ValueError as error:
            raise self._error(node, "GS031", f"{error}") from None

    def _item(self, node: ast.expr) -> Expr:
        if isinstance(node, ast.Starred):
            with self._deeper(node):
                return Star(self.expr(node.value), span=self._places.span(node))
        return self.expr(node)

    def _name(self, node: ast.expr | ast.keyword, name: str) -> str:
        self._check_name(node, name)
        self._check_letters(node, name)
        return name

    def _check_letters(self, node: ast.expr | ast.keyword, name: str) -> None:
        """Refuse names of other alphabets: Python reads some of them as different letters."""
        start = self._places.span(node).start
        written = self._text[start:].replace(".", "").replace(" ", "")
        if not name.isascii() or not written.startswith(name):
            raise self._error(node, "GS031", "a name with letters outside a-z, 0-9 and _")

    def _check_name(self, node: ast.expr | ast.keyword, name: str) -> None:
        # `angle__t` is the tangent of an argument `angle_`.
        if "__" in name.removesuffix("_p").removesuffix("_t"):
            raise self._error(node, "GS031", f"`{name}`: names with two underscores do not exist")

    def _deeper(self, node: ast.expr | ast.stmt) -> _Deeper:
        if self._depth >= _MAX_TREE_DEPTH:
            raise self._error(node, "GS033", "the formula is nested too deeply")
        return _Deeper(self)

    def _refuse_by_class(self, node: ast.expr | ast.stmt) -> FormulaError:
        match node:
            case ast.Compare():
                return self._refuse(node, "a chained comparison", "join two with `&` or `and`")
            case ast.UnaryOp():
                return self._refuse(node, "a unary plus", "leave it out")
            case ast.BinOp():
                return self._refuse(node, "a shift", "multiply by a power of two")
        what, help = _REFUSED.get(type(node), (f"this ({type(node).__name__})", ""))
        return self._refuse(node, what, help)

    def _refuse(self, node: ast.expr | ast.stmt, what: str, help: str) -> FormulaError:
        return self._error(node, "GS031", f"{what} is not part of the formula language", help)

    def _error(
        self, node: ast.expr | ast.stmt | ast.keyword, code: str, message: str, help: str = ""
    ) -> FormulaError:
        return FormulaError(self._places.span(node), code, message, help)


class _Deeper:
    """Counts how deep the reader stands in the tree."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        self._reader._depth += 1

    def __exit__(self, *_: object) -> None:
        self._reader._depth -= 1


def _dotted_name(node: ast.expr) -> list[str] | None:
    """`a.b.c` as its parts, None of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


def _always_returns(statements: tuple[Stmt, ...]) -> bool:
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, If):
        return _always_returns(last.then) and _always_returns(last.otherwise)
    return isinstance(last, Return)
