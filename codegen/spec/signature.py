"""ATen signatures: `name.overload(Type name=default, *, Type name) -> Type`."""

from __future__ import annotations

import keyword
import math
import re
from functools import cache
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from ..diagnostics import did_you_mean
from ..ir.nodes import TextSpan
from ..ir.parse import PRIMITIVE_ROOTS
from ..ir.shorthands import SHORTHANDS
from .keys import ENTRY_KEYS
from .model import REQUIRED, Output, Param, Signature, Type
from .vocabulary import BASE_TYPES, CONSTANTS, HELPERS

__all__ = ["RESERVED", "SignatureError", "parse_signature"]

_MAX_LENGTH = 4_000
_FORM = "a signature is `name.overload(Type name=default, *, Type name=default) -> Type`"

_SYNONYMS = {"SymInt": "int"}
_WORDS = {"True": True, "False": False, "None": None}

_SUFFIX = re.compile(
    r"(?:\((?P<alias>[a-z]!?)\))?(?P<mark>\?)?(?:\[(?P<size>\d*)\](?P<list_mark>\?)?)?"
)

RESERVED = frozenset({"grad", "grads", *CONSTANTS, *PRIMITIVE_ROOTS, *ENTRY_KEYS})
"""An argument of this name would hide a word of the formula language or a key of the entry."""

_GRAMMAR = r"""
signature: name "(" params ")" "->" returns
name: NAME ["." NAME]
params: [_param ("," _param)*]
_param: argument | star
argument: type NAME ["=" default]
star: "*"
returns: output | "(" [output ("," output)*] ")"
output: type [NAME]
type: NAME (OPTIONAL | ALIAS | SIZE)*
?default: _atom | list
_atom: NUMBER | STRING | NAME
list: "[" [_atom ("," _atom)*] "]"

NAME: /[A-Za-z_][A-Za-z_0-9]*/
NUMBER: /-?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,3})?/
STRING: /'[^'\\\n]*'|"[^"\\\n]*"/
OPTIONAL: "?"
ALIAS: /\([a-z]!?\)/
SIZE: /\[\d{0,3}\]/
%ignore /[ \t\n]+/
"""


class SignatureError(Exception):
    """A text that is not a signature: where, which mistake (`GS02x`), and what to do."""

    def __init__(self, span: TextSpan, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.span = span
        self.code = code
        self.message = message
        self.help = help


def parse_signature(text: str) -> Signature:
    """Parse one ATen signature; raises SignatureError.

    A single unnamed output is called `result`, several are `result0`, `result1`, ...
    """
    if len(text) > _MAX_LENGTH:
        place = TextSpan(_MAX_LENGTH, _MAX_LENGTH + 1)
        raise SignatureError(place, "GS020", f"a signature of more than {_MAX_LENGTH} characters")
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
    name, params, returns = (child for child in tree.children if isinstance(child, Tree))
    base, overload = name.children
    _check_name(base)
    if base in HELPERS or base in SHORTHANDS:
        message = f"`{base}` is a function of the formula language"
        raise SignatureError(_span(base), "GS024", message, "rename the op")
    outputs = _outputs(returns, text)
    result = Signature(str(base), str(overload or ""), _params(params), outputs)
    _check_outputs(result, returns)
    return result


@cache
def _parser() -> Lark:
    return Lark(
        _GRAMMAR,
        start="signature",
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=True,
    )


def _syntax_error(text: str, error: UnexpectedInput) -> SignatureError:
    token = getattr(error, "token", None)
    if isinstance(token, Token) and token.type == "$END":
        place = TextSpan(len(text.rstrip()), len(text.rstrip()) + 1)
        return SignatureError(place, "GS020", "the signature ends too early", _FORM)
    start = error.pos_in_stream or 0
    found = str(token) if token is not None else text[start]
    span = TextSpan(start, start + len(found))
    return SignatureError(span, "GS020", f"`{found}` is not expected here", _FORM)


def _params(tree: Tree[Token]) -> tuple[Param, ...]:
    result: list[Param] = []
    star: Tree[Token] | None = None
    for child in tree.children:
        assert isinstance(child, Tree)
        if child.data == "star":
            if star is not None:
                raise SignatureError(_span(child), "GS025", "a second `*`")
            star = child
            continue
        param = _param(child, keyword_only=star is not None)
        name = child.children[1]
        assert isinstance(name, Token)
        for other in result:
            _check_apart(param, other, _span(name))
        if param.default is REQUIRED and not param.keyword_only and _has_default(result):
            raise SignatureError(
                _span(name),
                "GS025",
                f"`{param.name}` has no default but follows an argument with one",
                "give it a default, move it forward, or put `*` before it",
            )
        result.append(param)
    if star is not None and not any(param.keyword_only for param in result):
        raise SignatureError(_span(star), "GS025", "no argument follows the `*`", "leave it out")
    return tuple(result)


def _check_apart(param: Param, other: Param, place: TextSpan) -> None:
    """Two arguments may not be one to users, or one in formulas."""
    if param.name == other.name:
        raise SignatureError(place, "GS024", f"a second argument `{param.name}`")
    if param.public == other.public:
        message = f"`{other.name}` and `{param.name}` are both `{param.public}` in Python"
        raise SignatureError(place, "GS024", message, "rename one of them")
    for one, two in ((param, other), (other, param)):
        forms = [f"{name}_{of}" for name in (two.name, two.public) for of in "pt"]
        if two.type.base == "Tensor" and one.name in forms:
            what = "primal" if one.name.endswith("p") else "tangent"
            message = f"`{one.name}` is the {what} of `{two.name}` in a JVP"
            raise SignatureError(place, "GS024", message, "rename one of them")


def _has_default(params: list[Param]) -> bool:
    return bool(params) and params[-1].default is not REQUIRED


def _param(tree: Tree[Token], *, keyword_only: bool) -> Param:
    type_tree, name, default = tree.children
    assert isinstance(type_tree, Tree)
    assert isinstance(name, Token)
    type_ = _type(type_tree)
    _check_name(name)
    if name in RESERVED or name == "result":
        raise SignatureError(
            _span(name), "GS024", f"`{name}` is a word of the spec language", "rename the argument"
        )
    if default is None:
        return Param(str(name), type_, REQUIRED, keyword_only)
    value = _value(default)
    if not _fits(value, type_):
        help = "`?` after the type allows None" if value is None else ""
        place = _span(default)
        raise SignatureError(place, "GS022", f"this default is not of the type of `{name}`", help)
    return Param(str(name), type_, value, keyword_only)


def _outputs(tree: Tree[Token], text: str) -> tuple[Output, ...]:
    trees = [child for child in tree.children if isinstance(child, Tree)]
    if not trees:
        start = text.rindex("(")
        place = TextSpan(start, len(text.rstrip()))
        raise SignatureError(place, "GS023", "an op without an output", "an op is a function")
    outputs: list[Output] = []
    for index, child in enumerate(trees):
        type_tree, name = child.children
        assert isinstance(type_tree, Tree)
        if name is not None:
            assert isinstance(name, Token)
            _check_name(name)
        default_name = "result" if len(trees) == 1 else f"result{index}"
        outputs.append(Output(str(name or default_name), _type(type_tree)))
    return tuple(outputs)


def _check_outputs(signature: Signature, tree: Tree[Token]) -> None:
    """Outputs share the names of formulas with the arguments, so none may repeat."""
    taken = {param.name for param in signature.params} | RESERVED
    taken |= {f"{p.name}_{of}" for p in signature.tensor_params for of in "pt"}
    trees = [child for child in tree.children if isinstance(child, Tree)]
    tangents = {f"{output.name}_t" for output in signature.outputs}
    for output, place in zip(signature.outputs, trees, strict=True):
        if output.name in taken | tangents:
            raise SignatureError(
                _span(place),
                "GS024",
                f"the output `{output.name}` has a name that is taken",
                "rename the argument or name the output: `-> (Tensor values)`",
            )
        taken.add(output.name)
        if len(trees) > 1 and f"grad_{output.name}" in taken:
            raise SignatureError(
                _span(place),
                "GS024",
                f"the argument `grad_{output.name}` is called like the gradient of `{output.name}`",
                "rename one of them",
            )


def _type(tree: Tree[Token]) -> Type:
    name, *suffixes = tree.children
    base = _SYNONYMS.get(str(name), str(name))
    if base not in BASE_TYPES:
        known = ", ".join(BASE_TYPES)
        help = did_you_mean(base, [*BASE_TYPES, *_SYNONYMS]) or f"the types are {known}"
        raise SignatureError(_span(name), "GS021", f"unknown type `{name}`", help)
    match = _SUFFIX.fullmatch("".join(map(str, suffixes)))
    if match is None or (match["alias"] and base != "Tensor"):
        raise SignatureError(
            _span(tree),
            "GS020",
            "the marks after the type are not in order",
            "as in `Tensor(a)?[]`",
        )
    is_list = match["size"] is not None
    return Type(
        base,
        is_list=is_list,
        size=int(match["size"]) if match["size"] else None,
        is_optional=bool(match["list_mark"] if is_list else match["mark"]),
        has_optional_items=is_list and bool(match["mark"]),
        alias=match["alias"],
    )


def _value(node: Token | Tree[Token]) -> Any:
    """A default as a Python value; lists become tuples."""
    if isinstance(node, Tree):
        return tuple(_value(child) for child in node.children if child is not None)
    if node.type == "STRING":
        return str(node)[1:-1]
    if node.type == "NUMBER":
        value = int(node) if re.fullmatch(r"-?\d+", node) else float(node)
        if math.isinf(value):
            raise SignatureError(_span(node), "GS022", "this default is infinite as a float")
        return value
    if node in _WORDS:
        return _WORDS[str(node)]
    raise SignatureError(
        _span(node), "GS022", f"`{node}` is not a value", "a text stands in quotes: 'mean'"
    )


def _fits(value: Any, type_: Type) -> bool:
    if value is None:
        return type_.is_optional
    if isinstance(value, tuple):
        return type_.is_list and all(_item_fits(item, type_) for item in value)
    # `int[2] stride=1` stands for one number in each place.
    return (not type_.is_list or type_.size is not None) and _item_fits(value, type_)


def _item_fits(value: Any, type_: Type) -> bool:
    if value is None:
        return type_.has_optional_items
    match type_.base:
        case "Scalar":
            return isinstance(value, int | float)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
    return False


def _check_name(name: Token | Any) -> None:
    if keyword.iskeyword(name) or "__" in name:
        raise SignatureError(_span(name), "GS024", f"`{name}` cannot be a name in Python")


def _span(node: Token | Tree[Token] | Any) -> TextSpan:
    if isinstance(node, Token):
        return TextSpan(node.start_pos or 0, node.end_pos or 0)
    return TextSpan(node.meta.start_pos, node.meta.end_pos)
