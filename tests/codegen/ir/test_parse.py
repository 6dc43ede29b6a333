"""Formula text to tree: what is read, what is refused, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradspec_codegen.ir.nodes import (
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
    Node,
    Return,
    Sequence,
    Slice,
    Star,
    Subscript,
    TextSpan,
    Unary,
)
from gradspec_codegen.ir.parse import FormulaError, parse
from gradspec_codegen.ir.walk import walk

A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("-a", Unary("-", A)),
        ("~a", Unary("~", A)),
        ("not a", Unary("not", A)),
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a ** b ** c", Binary("**", A, Binary("**", B, C))),
        ("-a ** b", Unary("-", Binary("**", A, B))),
        ("a / b // c % a", Binary("%", Binary("//", Binary("/", A, B), C), A)),
        ("a @ b", Binary("@", A, B)),
        ("a & b | c ^ a", Binary("|", Binary("&", A, B), Binary("^", C, A))),
        ("a <= b", Compare("<=", A, B)),
        ("a is not None", Compare("is not", A, Const(None))),
        ("a not in (b, c)", Compare("not in", A, Sequence((B, C)))),
        ("a and b and c", Logic("and", (A, B, C))),
        ("a or b", Logic("or", (A, B))),
        ("f()", Call("f", ())),
        ("f(a, dim=b)", Call("f", (A,), (("dim", B),))),
        ("np.exp(a)", Call("np.exp", (A,))),
        ("np.linalg.inv(a)", Call("np.linalg.inv", (A,))),
        ("a.shape", Attribute(A, "shape")),
        ("a.shape[0]", Subscript(Attribute(A, "shape"), Const(0))),
        ("a[b:]", Subscript(A, Slice(B, None, None))),
        ("a[:-1]", Subscript(A, Slice(None, Unary("-", Const(1)), None))),
        ("a[::2]", Subscript(A, Slice(None, None, Const(2)))),
        ("a if b else c", Conditional(B, A, C)),
        ("(a, b)", Sequence((A, B))),
        ("[*a, 1]", Sequence((Star(A), Const(1)))),
        ("()", Sequence(())),
        ("1.5e-3", Const(0.0015)),
        ("True", Const(True)),
        ("'mean'", Const("mean")),
        ("  a + \n b", None),
        ("(a\n + b)", Binary("+", A, B)),
        ("a + b  # why", Binary("+", A, B)),
        # Powers group from the right.
        ("2**3**2", Binary("**", Const(2), Binary("**", Const(3), Const(2)))),
    ],
)
def test_an_expression(text: str, tree: Expr | None) -> None:
    if tree is None:
        with pytest.raises(FormulaError):
            parse(text)
    else:
        assert parse(text) == Block((Return(tree),))


def test_true_is_not_one() -> None:
    first, second = parse("True").expression, parse("1").expression
    assert isinstance(first, Const)
    assert isinstance(second, Const)
    assert (type(first.value), type(second.value)) == (bool, int)


def test_a_block() -> None:
    text = "if a == 1:\n  b, c = f(a)\nelif a:\n  return a\nelse:\n  b = c = 2\n"
    with pytest.raises(FormulaError, match="chained assignment"):
        parse(text)
    text = "if a == 1:\n  b, c = f(a)\nelif a:\n  return a\nelse:\n  b = 2\n\nreturn b\n"
    assert parse(text) == Block(
        (
            If(
                Compare("==", A, Const(1)),
                (Assign(("b", "c"), Call("f", (A,))),),
                (If(A, (Return(A),), (Assign(("b",), Const(2)),)),),
            ),
            Return(B),
        )
    )


def test_both_branches_may_return() -> None:
    block = parse("if a:\n  return b\nelse:\n  return c")
    assert block == Block((If(A, (Return(B),), (Return(C),)),))
    assert block.expression is None


def texts(node: Node, text: str) -> list[str]:
    """The text of every name and call below a node."""
    return [
        text[found.span.start : found.span.end]
        for found in walk(node)
        if isinstance(found, Name | Call)
    ]


def test_spans_are_in_characters_of_the_text() -> None:
    text = "  f('é', a) + b"
    assert texts(parse(text), text) == ["f('é', a)", "a", "b"]
    text = "# ä comment\nif a:\n    b = 'ß' + c\n    return b\nreturn g(\n  a, 'ü', c)\n"
    assert texts(parse(text), text) == ["a", "c", "b", "g(\n  a, 'ü', c)", "a", "c"]


MEMBERS = [
    ("a.T", "t(a)"),
    ("a.mT", "transpose(a, -2, -1)"),
    ("a.H", "conj(t(a))"),
    ("a.mH", "conj(transpose(a, -2, -1))"),
    ("a.real + a.imag", "real(a) + imag(a)"),
    ("(a @ b.mT).T", "t(a @ transpose(b, -2, -1))"),
    ("a.sum(0, keepdim=True)", "sum(a, 0, keepdim=True)"),
    ("(a - b).abs().mean(-1)", "mean(abs(a - b), -1)"),
    ("a[0].exp()", "exp(a[0])"),
    ("f(a).mT", "transpose(f(a), -2, -1)"),
    ("a.size(-1) + a.dim() + a.size()[0]", "a.shape[-1] + a.ndim + a.shape[0]"),
    ("a.numel()", "numel(a)"),
    ("a.is_complex()", "is_complex(a)"),
]


@pytest.mark.parametrize(("written", "meant"), MEMBERS, ids=[row[0] for row in MEMBERS])
def test_members_of_tensors_are_calls(written: str, meant: str) -> None:
    assert parse(written) == parse(meant)


def test_a_member_stands_where_it_is_written() -> None:
    assert texts(parse("b + a.sum(0).mT"), "b + a.sum(0).mT") == [
        "b",
        "a.sum(0).mT",
        "a.sum(0)",
        "a",
    ]


REFUSED = [
    ("lambda: a", "GS031", "lambda: a"),
    ("[b for b in a]", "GS031", "[b for b in a]"),
    ("{b for b in a}", "GS031", "{b for b in a}"),
    ("{b: b for b in a}", "GS031", "{b: b for b in a}"),
    ("f(b for b in a)", "GS031", "(b for b in a)"),
    ("(b := a)", "GS031", "b := a"),
    ("f'{a}'", "GS031", "f'{a}'"),
    ("{}", "GS031", "{}"),
    ("{a}", "GS031", "{a}"),
    ("await a", "GS031", "await a"),
    ("a.flat", "GS031", "a.flat"),
    ("a._softmax(0)", "GS031", "a._softmax"),
    ("a.float()", "GS031", "a.float"),
    ("a.where(b, c)", "GS031", "a.where"),
    ("a.shape.index(0)", "GS031", "a.shape.index"),
    ("'b'.join(a)", "GS031", "'b'.join"),
    ("a.ſum(0)", "GS031", "a.ſum"),
    ("a.sum(dim=0, dim=1)", "GS030", "dim=1"),
    ("a.__class__", "GS031", "a.__class__"),
    ("__import__('os')", "GS031", "__import__"),
    ("f(a)(b)", "GS031", "f(a)"),
    ("np.pi", "GS031", "np.pi"),
    ("f(*a)", "GS031", "*a"),
    ("f(**a)", "GS031", "a"),
    ("f(__a=1)", "GS031", "__a=1"),
    ("a['b']", "GS031", "'b'"),
    ("a < b < c", "GS031", "a < b < c"),
    ("+a", "GS031", "+a"),
    ("a << 2", "GS031", "a << 2"),
    ("1j", "GS031", "1j"),
    ("b'x'", "GS031", "b'x'"),
    ("...", "GS031", "..."),
    ("α + a", "GS031", "α"),
    # Python would read this as `fi`.
    ("ﬁ + a", "GS031", "ﬁ"),
    ("f(ﬁ=1)", "GS031", "ﬁ=1"),
    ("np.ﬁ(a)", "GS031", "np.ﬁ"),
    ("a.ſhape", "GS031", "a.ſhape"),
    ("a += 1\nreturn a", "GS031", "a += 1"),
    ("a: int = 1\nreturn a", "GS031", "a: int = 1"),
    ("a = b = 1\nreturn a", "GS031", "a = b = 1"),
    ("a.x = 1\nreturn a", "GS031", "a.x"),
    ("a, *b = c\nreturn a", "GS031", "*b"),
    ("() = c\nreturn a", "GS031", "()"),
    ("for b in a:\n  return b", "GS031", "for b in a:\n  return b"),
    ("while a: return b", "GS031", "while a: return b"),
    ("import os", "GS031", "import os"),
    ("from os import path", "GS031", "from os import path"),
    ("def f(): return 1", "GS031", "def f(): return 1"),
    ("@f\nclass A: pass", "GS031", "class A: pass"),
    ("with a: return b", "GS031", "with a: return b"),
    ("try: return a\nfinally: return b", "GS031", "try: return a\nfinally: return b"),
    ("raise a", "GS031", "raise a"),
    ("assert a", "GS031", "assert a"),
    ("global a", "GS031", "global a"),
    ("del a", "GS031", "del a"),
    ("pass", "GS031", "pass"),
    ("match a:\n  case 1: return b", "GS031", "match a:\n  case 1: return b"),
    ("yield a", "GS031", "yield a"),
    ("return", "GS031", "return"),
    ("a\nb", "GS031", "a"),
    ("", "GS030", ""),
    ("  \n ", "GS030", "  \n "),
    ("# a", "GS030", "# a"),
    ("a b", "GS030", "b"),
    ("a +", "GS030", ""),
    ("a) + (b", "GS030", ")"),
    ("1if a else b", "GS030", "1"),
    ("'a", "GS030", "'"),
    ("a\x00b", "GS030", "\x00"),
    ("a\x0cb", "GS030", "\x0c"),
    ("'\ud800'", "GS030", "\ud800"),
    ("f(a=1, a=2)", "GS030", "a=2"),
    ("a = 1", "GS032", "a = 1"),
    ("if a:\n  return b", "GS032", "if a:\n  return b"),
    ("return a\nreturn b", "GS032", "return b"),
    ("9" * 31, "GS033", "9" * 31),
    ("9" * 5000, "GS033", "9" * 5000),
    ("0x" + "f" * 40, "GS033", "0x" + "f" * 40),
    ("0xffffffffffffffffffffffffff", "GS033", "0xffffffffffffffffffffffffff"),
    ("1e999", "GS033", "1e999"),
    ("a * 9**9**9", "GS033", "9**9**9"),
    ("a ** (10**200 * -(10**200))", "GS033", "10**200 * -(10**200)"),
    ("(" * 51, "GS033", "("),
    ("a * sqrt(-1.0)", "GS033", "sqrt(-1.0)"),
    ("a + 2 * log(0.0)", "GS033", "log(0.0)"),
    ("a * (-8.0) ** 0.5", "GS033", "(-8.0) ** 0.5"),
    ("a * exp(1e5)", "GS033", "exp(1e5)"),
    ("(a + 1) / 0", "GS033", "(a + 1) / 0"),
    ("b % (2 - 2)", "GS033", "b % (2 - 2)"),
    ("len([1] * 250_000_000)", "GS033", "[1] * 250_000_000"),
    ("f(([1] * 2000 + [2]) * 2000)", "GS033", "([1] * 2000 + [2]) * 2000"),
]


@pytest.mark.parametrize(("text", "code", "place"), REFUSED, ids=[row[0][:30] for row in REFUSED])
def test_a_refusal_names_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert (error.code, text[error.span.start : error.span.end]) == (code, place)


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("np.pi * a", "`np.pi` without a call", "write `pi`"),
        ("a.where(b, c)", "the method `where`", "write `where(condition, x, y)`"),
        ("a._softmax(0)", "the method `_softmax`", "write `_softmax(x)`"),
        ("a += 1\nreturn a", "an augmented assignment", "write `x = x + ...`"),
        ("a < b < c", "a chained comparison", "join two with `&` or `and`"),
        ("a.size", "the attribute `.size`", "write `numel(x)`"),
        (
            "a.grad_fn",
            "the attribute `.grad_fn`",
            "there are only `.shape`, `.ndim`, `.dtype`, `.strides`, `.meta`",
        ),
    ],
)
def test_a_refusal_says_what_to_write(text: str, message: str, help: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert caught.value.message == f"{message} is not part of the formula language"
    assert caught.value.help == help


HOSTILE = {
    "a million parentheses": "(" * 10**6 + "a" + ")" * 10**6,
    "parentheses": "(" * 9_000 + "a" + ")" * 9_000,
    "minus signs": "-" * 19_000 + "a",
    "not": "not " * 4_000 + "a",
    "a sum": "+".join(["a"] * 9_000),
    "powers": "**".join(["9"] * 6_000),
    "attributes": "a" + ".shape" * 3_000,
    "subscripts": "a" + "[0]" * 6_000,
    "calls": "f" + "()" * 9_000,
    "conditionals": "a if b else " * 1_500 + "c",
    "lambdas": "lambda:" * 2_500 + "a",
    "comparisons": "<".join(["a"] * 9_000),
    "elif": "if a:\n return b\n" + "elif a:\n return b\n" * 1_000 + "else:\n return c",
    "nested if": "".join(" " * i + "if a:\n" for i in range(99)) + " " * 99 + "return b",
    "indents": "".join(" " * i + "if a:\n" for i in range(150)) + " " * 150 + "return b",
    "strings": "'a' " * 4_000 + "b",
    "awaits": "await " * 3_000 + "a",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.usefixtures("has_an_end")
def test_a_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert 0 <= caught.value.span.start <= caught.value.span.end <= len(text) + 1


def test_a_long_sum_in_a_block_is_fine() -> None:
    lines = ["total = a", *("total = total + a * b" for _ in range(300)), "return total"]
    assert len(parse("\n".join(lines)).statements) == 302


PIECES = r"""
a b f( ( ) [ ] { : , = == + - ** not if else elif return 1 9e9 ' " \ . .shape lambda for in # f' __
@ ; None * é
"""
pieces = st.sampled_from([*PIECES.split(), " ", "  ", "\n", "\t", "\r", "\u3000"])


def outcome(text: str) -> list[TextSpan]:
    """The places that parsing a text gives: those of the nodes, or that of the mistake."""
    try:
        return [node.span for node in walk(parse(text))]
    except FormulaError as error:
        return [error.span]


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(pieces).map("".join), st.lists(pieces).map(" ".join)))
def test_any_text_is_a_block_or_a_formula_error(text: str) -> None:
    for span in outcome(text):
        assert 0 <= span.start <= span.end <= len(text) + 1
