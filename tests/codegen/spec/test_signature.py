"""ATen signatures: what is read, what is refused, and where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradspec_codegen.spec.model import REQUIRED, Output, Param, Signature, Type
from gradspec_codegen.spec.signature import SignatureError, parse_signature

TENSOR = Type("Tensor")


def test_a_signature_with_everything() -> None:
    assert parse_signature(
        "max.dim(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None)"
        " -> (Tensor values, Tensor indices)"
    ) == Signature(
        "max",
        "dim",
        (
            Param("self", TENSOR),
            Param("dim", Type("int")),
            Param("keepdim", Type("bool"), False),
            Param("dtype", Type("ScalarType", is_optional=True), None, keyword_only=True),
        ),
        (Output("values", TENSOR), Output("indices", TENSOR)),
    )


def test_blanks_and_line_ends_do_not_matter() -> None:
    assert parse_signature(" sin( Tensor   self )\n ->Tensor ") == parse_signature(
        "sin(Tensor self) -> Tensor"
    )


def test_no_arguments_and_only_keywords() -> None:
    assert parse_signature("f() -> Tensor").params == ()
    (param,) = parse_signature("f(*, int n) -> Tensor").params
    assert param == Param("n", Type("int"), REQUIRED, keyword_only=True)


@pytest.mark.parametrize(
    ("returns", "names"),
    [
        ("Tensor", ["result"]),
        ("(Tensor)", ["result"]),
        ("Tensor out", ["out"]),
        ("(Tensor, Tensor)", ["result0", "result1"]),
        ("(Tensor q, Tensor)", ["q", "result1"]),
        ("int", ["result"]),
        ("Tensor[]", ["result"]),
    ],
)
def test_unnamed_outputs_are_called_result(returns: str, names: list[str]) -> None:
    outputs = parse_signature(f"f(Tensor self) -> {returns}").outputs
    assert [output.name for output in outputs] == names


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Tensor", TENSOR),
        ("Tensor?", Type("Tensor", is_optional=True)),
        ("Tensor(a)", Type("Tensor", alias="a")),
        ("Tensor(a!)", Type("Tensor", alias="a!")),
        ("Tensor(a)[]", Type("Tensor", is_list=True, alias="a")),
        ("Tensor[]", Type("Tensor", is_list=True)),
        ("Tensor?[]", Type("Tensor", is_list=True, has_optional_items=True)),
        ("Scalar", Type("Scalar")),
        ("Scalar?", Type("Scalar", is_optional=True)),
        ("SymInt", Type("int")),
        ("SymInt[2]", Type("int", is_list=True, size=2)),
        ("int[]", Type("int", is_list=True)),
        ("int[1]?", Type("int", is_list=True, size=1, is_optional=True)),
        ("float?", Type("float", is_optional=True)),
        ("bool[3]", Type("bool", is_list=True, size=3)),
        ("str", Type("str")),
        ("ScalarType?", Type("ScalarType", is_optional=True)),
        ("Generator?", Type("Generator", is_optional=True)),
    ],
)
def test_types(text: str, type_: Type) -> None:
    assert parse_signature(f"f({text} x) -> Tensor").params[0].type == type_


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        ("int x=-1", -1),
        ("float x=1e-05", 1e-05),
        ("float x=1", 1),
        ("Scalar x=0.5", 0.5),
        ("Scalar x=True", True),
        ("bool x=False", False),
        ("int[]? x=None", None),
        ("int[] x=[]", ()),
        ("int[2] x=[0, -1]", (0, -1)),
        ("int[2] x=1", 1),
        ("str x='mean'", "mean"),
        ('str? x="a, b)"', "a, b)"),
        ("Tensor?[] x=[None]", (None,)),
    ],
)
def test_defaults(declaration: str, value: Any) -> None:
    default = parse_signature(f"f({declaration}) -> Tensor").params[0].default
    assert default == value
    assert type(default) is type(value)


def test_a_view_carries_the_letter_of_its_input() -> None:
    assert parse_signature("t(Tensor(a) self) -> Tensor(a)").view_of == "self"
    assert parse_signature("t(Tensor self) -> Tensor").view_of is None


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "GS020", ""),
        ("f(Tensor x) ->", "GS020", ""),
        ("f(Tensor x)", "GS020", ""),
        ("f(Tensor x) => Tensor", "GS020", "="),
        ("f(Tensor x y) -> Tensor", "GS020", "y"),
        ("f(Tensor x,) -> Tensor", "GS020", ")"),
        ("f.(Tensor x) -> Tensor", "GS020", "("),
        ("f(x) -> Tensor", "GS020", ")"),
        ("f(Tensor x) -> Tensor;", "GS020", ";"),
        ("f(int[]?[] x) -> Tensor", "GS020", "int[]?[]"),
        ("f(int(a) x) -> Tensor", "GS020", "int(a)"),
        ("f(int[] x=[[1]]) -> Tensor", "GS020", "[1]"),
        ("f(str x='a) -> Tensor", "GS020", "'"),
        ("é", "GS020", "é"),
        ("f(tensor x) -> Tensor", "GS021", "tensor"),
        ("f(Tensor x) -> Tenser", "GS021", "Tenser"),
        ("f(int x=1.5) -> Tensor", "GS022", "1.5"),
        ("f(int x=True) -> Tensor", "GS022", "True"),
        ("f(bool x=1) -> Tensor", "GS022", "1"),
        ("f(int x=None) -> Tensor", "GS022", "None"),
        ("f(int[] x=1) -> Tensor", "GS022", "1"),
        ("f(int x=[1]) -> Tensor", "GS022", "[1]"),
        ("f(int[] x=[1, 'a']) -> Tensor", "GS022", "[1, 'a']"),
        ("f(str x=mean) -> Tensor", "GS022", "mean"),
        ("f(Tensor x=0) -> Tensor", "GS022", "0"),
        ("f(Tensor x) -> ()", "GS023", "()"),
        ("f(Tensor x, int x) -> Tensor", "GS024", "x"),
        ("f(Tensor grad) -> Tensor", "GS024", "grad"),
        ("f(Tensor pi) -> Tensor", "GS024", "pi"),
        ("f(Tensor doc) -> Tensor", "GS024", "doc"),
        ("f(Tensor lambda) -> Tensor", "GS024", "lambda"),
        ("f(Tensor __x) -> Tensor", "GS024", "__x"),
        ("f(Tensor result) -> Tensor", "GS024", "result"),
        ("f(Tensor x) -> (Tensor x)", "GS024", "Tensor x"),
        ("f(Tensor x) -> (Tensor q, Tensor q)", "GS024", "Tensor q"),
        ("class(Tensor x) -> Tensor", "GS024", "class"),
        ("f(int a=1, int b) -> Tensor", "GS025", "b"),
        ("f(Tensor x, *) -> Tensor", "GS025", "*"),
        ("f(*, int a, *, int b) -> Tensor", "GS025", "*"),
        ("f(" + "Tensor x, " * 1000 + ") -> Tensor", "GS020", ","),
        ("f(int[] x=" + "[" * 3000, "GS020", "["),
    ],
)
def test_a_refusal_names_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature(text)
    error = caught.value
    assert (error.code, text[error.span.start : error.span.end]) == (code, place)


def test_an_unknown_type_gets_a_suggestion() -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature("f(Tenser x) -> Tensor")
    assert caught.value.help == "did you mean `Tensor`?"
    with pytest.raises(SignatureError) as caught:
        parse_signature("f(Layout x) -> Tensor")
    assert caught.value.help.startswith("the types are Tensor, Scalar, int")


PIECES = (
    *("f", "(", ")", "Tensor", "int", ",", "*", "->", "=", "None", "?", "[]", "[", "]", "(a)"),
    *(".", "'x'", "1", "-1.5", "x", "self", "SymInt[2]", "é"),
)


def outcome(text: str) -> str:
    """The name of a readable signature, or the code of the mistake."""
    try:
        return parse_signature(text).name
    except SignatureError as error:
        return error.code


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, " "])).map("".join)))
def test_any_text_is_a_signature_or_a_signature_error(text: str) -> None:
    assert outcome(text) in text or outcome(text).startswith("GS02")


@pytest.mark.parametrize(
    "outputs", ["Tensor share, Tensor share_t", "Tensor share_t, Tensor share"]
)
def test_an_output_is_not_called_like_the_tangent_of_another(outputs: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature(f"halves(Tensor self) -> ({outputs})")
    assert caught.value.code == "GS024"
