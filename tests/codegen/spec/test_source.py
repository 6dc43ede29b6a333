"""YAML to located nodes: every character has a place, and what is not plain data is refused."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradspec_codegen.diagnostics import Report
from gradspec_codegen.ir.nodes import TextSpan
from gradspec_codegen.spec.source import (
    Listing,
    Located,
    Mapping,
    Scalar,
    compose,
    decode,
    read_source,
)


def read(data: bytes) -> tuple[Located | None, Report]:
    report = Report()
    source = decode("spec.yaml", data, report)
    return (None if source is None else compose(source, report)), report


def scalar(text: str) -> Scalar:
    """The value of the key `k` of a mapping."""
    root, report = read(text.encode())
    assert report.diagnostics == []
    assert isinstance(root, Mapping)
    value = root.get("k")
    assert isinstance(value, Scalar)
    return value


SCALARS = {
    "plain": "k: a + b",
    "plain over lines": "k: a +\n   b\n   * c",
    "plain with a blank line": "k: a +\n\n   b",
    "single quotes": "k: 'a + ''b'' + c'",
    "single quotes over lines": "k: 'a +\n   b'",
    "double quotes": 'k: "a + \\"b\\" + c"',
    "escapes": 'k: "a\\tb \\x41 \\u00e9 \\U0001F600 c"',
    "escaped line end": 'k: "a + \\\n    b"',
    "literal": "k: |\n  a\n  b\n",
    "literal with an inner indent": "k: |\n  if a:\n    b\n  c\n",
    "literal with a blank line": "k: |\n  a\n\n  b\n",
    "literal with a header": "k: |2-\n   a\n  b\n",
    "folded": "k: >\n  a +\n  b\n\n  c\n",
    "folded without the last line end": "k: >-\n  a +\n  b",
    "beyond ASCII": "k: é + 'ß😀' + b",
    "carriage returns": "k: |\r\n  a\r\n  b\r\n",
    "after a mark": "\ufeffk: a",
}


@pytest.mark.parametrize("text", SCALARS.values(), ids=SCALARS)
def test_every_character_of_a_value_has_its_place(text: str) -> None:
    value = scalar(text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    spans = value.spans()
    assert len(spans) == len(value.value) + 1
    for character, span in zip(value.value, spans, strict=False):
        written = lines[span.line - 1][span.column - 1 : span.column]
        # Folding turns line ends to blanks; escapes stand at their backslash.
        assert written in (character, "\\") or (character.isspace() and written in ("", " "))
    letters = [
        (span.line, span.column) for c, span in zip(value.value, spans, strict=False) if c in "abc"
    ]
    assert letters == sorted(set(letters))


@pytest.mark.parametrize("text", SCALARS.values(), ids=SCALARS)
def test_places_are_the_same_in_another_process(text: str) -> None:
    spans = scalar(text).spans()
    there = pickle.loads(pickle.dumps(spans))
    back = pickle.loads(pickle.dumps(there))
    for copy in (there, back):
        assert len(copy) == len(spans)
        assert list(copy) == list(spans)
        assert copy[2:] == spans[2:]


def test_places_travel_without_the_text_and_in_few_bytes() -> None:
    spans = scalar("k: >-\n" + "  grad * cos(self) +\n" * 1_000 + "  grad\n").spans()
    data = pickle.dumps(spans)
    assert b"cos" not in data
    assert len(data) < len(spans)


def test_places_of_known_characters() -> None:
    value = scalar("x: 1\nk: >-\n   grad *\n   cos(self)\n")
    assert value.value == "grad * cos(self)"
    spans = value.spans()
    assert [(spans[i].line, spans[i].column) for i in (0, 5, 7, 11)] == [
        (3, 4),
        (3, 9),
        (4, 4),
        (4, 8),
    ]
    place = value.locate(TextSpan(7, 16))
    assert (place.line, place.column, place.width) == (4, 4, 9)
    place = value.locate(TextSpan(0, 16))
    assert (place.line, place.column, place.width) == (3, 4, 1)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2", 2),
        ("-3", -3),
        ("+3", 3),
        ("010", 10),
        ("2.5", 2.5),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("inf", math.inf),
        ("-.inf", -math.inf),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'2'", "2"),
        ('"true"', "true"),
        # Words that older YAML takes for a truth value, a time or a date.
        ("yes", "yes"),
        ("off", "off"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("0x10", "0x10"),
        ("9" * 31, float("9" * 31)),
    ],
)
def test_literals(written: str, value: object) -> None:
    literal = scalar(f"k: {written}").literal
    assert literal == value
    assert type(literal) is type(value)


def test_nan_is_a_number() -> None:
    assert [math.isnan(float(str(scalar(f"k: {word}").literal))) for word in ("nan", ".nan")] == [
        True
    ] * 2


def test_nodes_keep_their_order_and_places() -> None:
    root, report = read(b"- b: 1\n  a: [x, {y: z}]\n-\n")
    assert report.diagnostics == []
    assert isinstance(root, Listing)
    first, second = root.items
    assert isinstance(first, Mapping)
    assert [(key.value, key.span.line, key.span.column) for key, _ in first.items] == [
        ("b", 1, 3),
        ("a", 2, 3),
    ]
    key = first.key("a")
    assert key is not None
    assert key.span.width == 1
    assert first.get("c") is None
    inner = first.get("a")
    assert isinstance(inner, Listing)
    assert (inner.span.line, inner.span.column) == (2, 6)
    assert isinstance(second, Scalar)
    assert second.literal is None


def test_an_empty_file_has_no_root() -> None:
    for data in (b"", b"# nothing\n", b"\n\n"):
        root, report = read(data)
        assert (root, report.diagnostics) == (None, [])


def test_every_second_key_is_reported() -> None:
    _, report = read(b"a: 1\nb: 2\na: 3\nb: 4\na: 5\n")
    found = [(d.code, d.span.line, d.span.column, d.help) for d in report.diagnostics]
    assert found == [
        ("GS008", 3, 1, "the first is in line 1"),
        ("GS008", 4, 1, "the first is in line 2"),
        ("GS008", 5, 1, "the first is in line 1"),
    ]


BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20)
)

HOSTILE = {
    "aliases": (BOMB, "GS005", 1, 4),
    "alias": (b"k: *a", "GS005", 1, 4),
    "anchor of a mapping": (b"k: &a {b: c}", "GS005", 1, 4),
    "python tag": (b"k: !!python/object/apply:os.system [id]", "GS006", 1, 4),
    "plain tag": (b"k: !mine x", "GS006", 1, 4),
    "standard tag": (b"k: !!int 3", "GS006", 1, 4),
    "tag of a key": (b"!!str k: 3", "GS006", 1, 1),
    "tag prefix": (b"%TAG ! tag:x,2000:\n---\nk: !y 3", "GS006", 3, 4),
    "deep dashes": (b"- " * 1_000_000, "GS007", 1, 101),
    "deep mappings": (b"{a: " * 100_000, "GS007", 1, 201),
    "deep indents": (b"".join(b" " * i + b"a:\n" for i in range(1000)), "GS007", 51, 51),
    "two documents": (b"k: 1\n---\nk: 2\n", "GS009", 2, 1),
    "list as key": (b"? [a]\n: b", "GS010", 1, 3),
    "mapping as key": (b"{{a: b}: c}", "GS010", 1, 2),
    "tab": (b"k:\n\t- a", "GS004", 2, 1),
    "open quote": (b"k: 'a", "GS004", 1, 6),
    "open list": (b"k: [a, b", "GS004", 1, 9),
    "colon": (b"k: a: b", "GS004", 1, 5),
    "at sign": (b"k: @a", "GS004", 1, 4),
    "unknown escape": (b'k: "\\q"', "GS004", 1, 5),
    "directive": (b"%YAML 9.1\n---\nk: 1", "GS004", 1, 1),
    "latin-1": (b"k: a\nj: caf\xe9", "GS002", 2, 7),
    "latin-1 after carriage returns": (b"k: a\r\nj: b\r\xe9", "GS002", 3, 1),
    "utf-16": ("k: a".encode("utf-16"), "GS002", 1, 1),
    "cut character": (b"k: \xc3", "GS002", 1, 4),
    "surrogate": (b"k: \xed\xa0\x80", "GS002", 1, 4),
    "nul": (b"k: a\x00", "GS003", 1, 5),
    "escape": (b"k: \x1b[31m", "GS003", 1, 4),
    "inner mark": (b"k: a\xef\xbb\xbf", "GS003", 1, 5),
}


@pytest.mark.parametrize("data", [b"[" * 1_000_000, b"[" * 100_000 + b"]" * 100_000])
@pytest.mark.usefixtures("has_an_end")
def test_deep_lists_are_refused(data: bytes) -> None:
    """Later versions of libyaml have a limit of their own, from a thousand on."""
    root, report = read(data)
    assert root is None
    (found,) = report.diagnostics
    assert (found.code, found.span.line) == ("GS007", 1)
    assert found.span.column in (51, 1001)


@pytest.mark.parametrize(("data", "code", "line", "column"), HOSTILE.values(), ids=HOSTILE)
@pytest.mark.usefixtures("has_an_end")
def test_what_is_not_plain_data_is_refused(data: bytes, code: str, line: int, column: int) -> None:
    root, report = read(data)
    assert root is None
    (found,) = report.diagnostics
    assert (found.code, found.span.line, found.span.column) == (code, line, column)


def test_a_tab_and_a_colon_get_a_help() -> None:
    assert read(b"k:\n\t- a")[1].diagnostics[0].help == "indent with spaces"
    assert "quotes" in read(b"k: a: b")[1].diagnostics[0].help


def test_fifty_levels_are_read() -> None:
    root, report = read(b"[" * 50 + b"]" * 50)
    assert report.diagnostics == []
    assert isinstance(root, Listing)


@pytest.mark.parametrize("size", [4 * 1024**2 + 1, 10 * 1024**2])
def test_a_file_of_more_than_four_megabytes_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"k: " + b"x" * (size - 3))
    report = Report()
    assert read_source(path, report) is None
    assert [(d.code, str(d.span)) for d in report.diagnostics] == [("GS001", f"{path}:1:1")]


@pytest.mark.parametrize("name", ["missing.yaml", ".", "nul\0.yaml", "x" * 300])
def test_what_is_no_file_is_reported(tmp_path: Path, name: str) -> None:
    report = Report()
    assert read_source(tmp_path / name, report) is None
    assert [d.code for d in report.diagnostics] == ["GS001"]


PIECES = [
    b"k",
    b": ",
    b"- ",
    b"\n",
    b"  ",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"'",
    b'"',
    b"|",
    b">",
    b"#",
]
MORE = [b"&a", b"*a", b"!", b"---", b"? ", b"%", b"\\", b"\t", b"\xc3\xa9", b"\xff", b"\x00", b"1"]


@settings(deadline=None)
@given(st.one_of(st.binary(), st.lists(st.sampled_from([*PIECES, *MORE])).map(b"".join)))
def test_any_bytes_are_read_or_reported_inside_the_file(data: bytes) -> None:
    root, report = read(data)
    lines = data.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for diagnostic in report.diagnostics:
        assert 1 <= diagnostic.span.line <= len(lines)
        assert 1 <= diagnostic.span.column <= len(lines[diagnostic.span.line - 1]) + 1
    if isinstance(root, Scalar):
        assert len(root.spans()) == len(root.value) + 1


def test_brackets_in_a_list_between_brackets_are_explained() -> None:
    _, report = read(b"requires: [x.ndim == 1 and x.shape[0] == 3]")
    (found,) = report.diagnostics
    assert found.code == "GS004"
    assert "must stand in quotes" in found.help
