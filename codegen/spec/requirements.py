"""Checks of `requires`: conditions on the structure and the plain values of arguments alone."""

from __future__ import annotations

from ..diagnostics import Report, did_you_mean
from ..ir.nodes import (
    Attribute,
    Binary,
    Call,
    Compare,
    Const,
    Expr,
    Logic,
    Name,
    Node,
    Sequence,
    Slice,
    Star,
    Subscript,
    TextSpan,
    Unary,
)
from ..ir.walk import children, names, walk
from .entry import Entry
from .model import Formula, Param, Requirement
from .structure import BINARY, shape_only, unmet
from .vocabulary import CONSTANTS, DTYPES, HELPERS

_STRUCTURE = ("shape", "ndim", "dtype")
"""The attributes of tensors that conditions may be about."""

_ELEMENTS_HELP = (
    "say in `domain` where elements may lie, as in `domain: {{{0}: positive}}`; here stand "
    "`{0}.shape`, `{0}.ndim`, `{0}.dtype`, and `is None`"
)


def check_requirements(entry: Entry, report: Report) -> None:
    """Report conditions that are none on structure and plain values, and examples against them."""
    reported = len(report.diagnostics)
    for requirement in entry.op.requires:
        _Check(entry, requirement.formula, report).condition(requirement)
    if len(report.diagnostics) == reported:
        _check_examples(entry, report)


def _check_examples(entry: Entry, report: Report) -> None:
    for example in entry.op.examples:
        requirement = unmet(entry.op, shape_only(entry.op, example))
        if requirement is not None:
            message = f"the example is refused by what `{entry.op.name}` requires"
            help = f"that is `{requirement.formula.text.strip()}`"
            report.error("GS061", example.span, message, help)


class _Check:
    """The check of one condition."""

    def __init__(self, entry: Entry, formula: Formula, report: Report) -> None:
        self._params = {param.name: param for param in entry.op.signature.params}
        self._op = entry.op.name
        self._formula = formula
        self._report = report

    def condition(self, requirement: Requirement) -> None:
        """Check all of it."""
        expression = requirement.formula.block.expression
        assert expression is not None
        if self._names(expression):
            self._uses(expression)
            self._truth(expression)

    def _error(self, code: str, place: TextSpan, message: str, help: str = "") -> None:
        self._report.error(code, self._formula.locate(place), message, help)

    def _text(self, node: Node) -> str:
        return self._formula.text[node.span.start : node.span.end]

    def _names(self, expression: Expr) -> bool:
        """Report names of anything but arguments; returns whether there are none."""
        unknown = {n.id: n for n in names(expression) if n.id not in {*self._params, *CONSTANTS}}
        for name, node in unknown.items():
            message = f"`{name}` is no argument of `{self._op}`"
            help = did_you_mean(name, self._params) or f"it has {', '.join(self._params)}"
            self._error("GS034", node.span, message, help)
        return not unknown

    def _uses(self, node: Node) -> None:
        """Report elements of tensors, and what no condition can compute."""
        match node:
            case Attribute(value, name):
                self._attribute(node, value, name)
                return
            case Compare("is" | "is not", Name(), Const(None)):
                return
            case Compare():
                self._dtypes(node)
            case Call(function, arguments):
                if self._call(node, function, arguments):
                    return
            case Binary(op) if op not in BINARY:
                self._error("GS060", node.span, f"`{op}` has no place in a condition")
            case Name(name) | Subscript(Name(name), Slice()) if self._is_numbers(name):
                self._list(node, name)
                return
            case Name(name) if name in self._params and self._params[name].type.base == "Tensor":
                self._elements(node, self._params[name])
            case Subscript(Name(name), index) if self._is_numbers(name):
                self._sized(node, name)
                self._uses(index)
                return
            case Star(Name(name) | Subscript(Name(name), Slice())) if self._is_numbers(name):
                self._sized(node, name)
                return
        for child in children(node):
            self._uses(child)

    def _is_numbers(self, name: str) -> bool:
        """Return whether an argument is a list of plain values."""
        param = self._params.get(name)
        return param is not None and param.type.is_list and param.type.base != "Tensor"

    def _list(self, node: Node, name: str) -> None:
        """Report a list as it is: users may give a tuple for it, which equals no list."""
        if self._sized(node, name):
            text = self._text(node)
            message = f"`{text}` may be a list or a tuple, which never equal each other"
            self._error("GS060", node.span, message, f"write `tuple({text})`")

    def _sized(self, node: Node, name: str) -> bool:
        """Report what may be a single value; returns whether there is nothing to report."""
        if self._params[name].type.size is None:
            return True
        message = f"`{name}` may be a single value, or a list"
        self._error("GS060", node.span, message, "declare it as `int[]`, or as `int`")
        return False

    def _elements(self, node: Name, param: Param) -> None:
        if param.type.is_list:
            message = f"`{param.name}` is a list of tensors"
            help = f"ask for `len({param.name})`, or one of them: `{param.name}[0].shape`"
        else:
            message = f"a condition on the elements of `{param.name}`"
            help = _ELEMENTS_HELP.format(param.name)
        self._error("GS060", node.span, message, help)

    def _attribute(self, node: Attribute, value: Expr, name: str) -> None:
        if not self._is_tensor(value):
            message = f"`{self._text(value)}` is no tensor with a `.{name}`"
            self._error("GS060", node.span, message)
        elif name not in _STRUCTURE:
            known = ", ".join(f"`.{word}`" for word in _STRUCTURE)
            self._error("GS060", node.span, f"a condition on `.{name}`", f"there are {known}")
        elif isinstance(value, Subscript):
            self._uses(value.index)

    def _is_tensor(self, value: Expr) -> bool:
        """Return whether an expression is a tensor argument, or one of a list."""
        match value:
            case Name(name) | Subscript(Name(name)):
                param = self._params.get(name)
                is_item = isinstance(value, Subscript)
                return param is not None and (
                    param.type.base == "Tensor" and param.type.is_list is is_item
                )
        return False

    def _call(self, node: Call, function: str, arguments: tuple[Expr, ...]) -> bool:
        """Check a call; returns whether its arguments have been checked with it."""
        if function not in HELPERS:
            of_tensors = any(
                self._is_tensor(part) for part in walk(node) if isinstance(part, Name | Subscript)
            )
            if not of_tensors:
                help = f"there are {', '.join(f'`{name}`' for name in HELPERS)}"
                self._error("GS035", node.span, f"`{function}` in a condition", help)
            return False
        if len(arguments) != 1 or node.kwargs:
            self._error("GS036", node.span, f"`{function}` takes one argument")
            return True
        argument = arguments[0]
        if function == "is_complex":
            if not self._is_tensor(argument):
                self._error("GS060", argument.span, f"`{self._text(argument)}` is no tensor")
            return True
        if function == "numel" and self._is_tensor(argument):
            return True
        match argument:
            case Name(name) | Subscript(Name(name), Slice()) if self._is_numbers(name):
                self._sized(node, name)
                return True
            case Name(name) if name in self._params:
                return function == "len" and self._params[name].type.is_list
        return False

    def _dtypes(self, node: Compare) -> None:
        """Report texts beside a dtype that are the names of none."""
        sides = (node.left, node.right)
        if not any(isinstance(side, Attribute) and side.name == "dtype" for side in sides):
            return
        for side in sides:
            for text in side.items if isinstance(side, Sequence) else (side,):
                if isinstance(text, Const) and text.value not in DTYPES:
                    message = f"`{text.value}` is no dtype"
                    help = did_you_mean(str(text.value), DTYPES) or f"there are {', '.join(DTYPES)}"
                    self._error("GS051", text.span, message, help)

    def _truth(self, expression: Expr) -> None:
        """Report what is neither true nor false, and what is the same in every call."""
        match expression:
            case Logic(_, operands):
                for operand in operands:
                    self._truth(operand)
                return
            case Unary("not", operand):
                self._truth(operand)
                return
        if self._is_constant(expression):
            message = f"`{self._text(expression)}` is the same in every call"
            self._error("GS060", expression.span, message, "compare what an argument is or has")
        elif not self._is_test(expression):
            help = f"compare it, as in `{self._text(expression)} == 2`"
            self._error("GS060", expression.span, f"`{self._text(expression)}` is no test", help)

    def _is_constant(self, expression: Expr) -> bool:
        match expression:
            case Compare("is" | "is not", Name(name), Const(None)):
                return name in self._params and not self._params[name].type.is_optional
            case Compare(_, left, right) if left == right:
                return True
        return not any(name.id in self._params for name in names(expression))

    def _is_test(self, expression: Expr) -> bool:
        match expression:
            case Compare():
                return True
            case Call(function):
                return function == "is_complex" or function not in HELPERS
            case Name(name):
                return self._params[name].type.base in ("bool", "Tensor")
        return False
