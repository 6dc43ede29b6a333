"""Refuse texts of hostile sizes before Python's parser sees them."""

from __future__ import annotations

import re

from .nodes import TextSpan

MAX_LENGTH = 20_000
MAX_BRACKET_DEPTH = 50
MAX_OPERATORS_PER_LINE = 100

_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_LONG_NUMBER = re.compile(r"(?<!\w)\d\w{30,}")
_TOKEN = re.compile(
    r"""(?P<text>'[^'\n]*'|"[^"\n]*"|\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<line>\n)"""
    r"""|(?P<operator>[-+~*/%@&|^<>=!]+|\b(?:not|and|or|if|else|elif|in|is|lambda|await)\b)""",
    re.VERBOSE,
)


class FormulaError(Exception):
    """A text that is not a formula: where, which mistake (`GS0xx`), and what to do."""

    def __init__(self, span: TextSpan, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.span = span
        self.code = code
        self.message = message
        self.help = help


def check_size(text: str) -> None:
    """Refuse a text too long, too deep or too chained to be parsed without risk.

    Raises FormulaError. Python's parser recurses in C, and a crash there cannot be caught.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            TextSpan(MAX_LENGTH, MAX_LENGTH + 1),
            "GS033",
            f"the formula is longer than {MAX_LENGTH} characters",
            "move it to a kernel, or split it into private ops (`_name`)",
        )
    if found := _FORBIDDEN.search(text):
        raise FormulaError(TextSpan(*found.span()), "GS030", "a character that no formula has")
    if number := _LONG_NUMBER.search(text):
        raise FormulaError(TextSpan(*number.span()), "GS033", "a number of more than 30 digits")
    _check_depth(text)


def _check_depth(text: str) -> None:
    depth = operators = 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "operator":
                # `----x` is one match and four levels.
                operators += len(token[0]) if token[0][0] in "-+~" else 1
            case "line" if depth <= 0:
                operators = 0
        if depth > MAX_BRACKET_DEPTH or operators > MAX_OPERATORS_PER_LINE:
            raise FormulaError(
                TextSpan(*token.span()),
                "GS033",
                "the formula is nested too deeply",
                "name a part of it in a block: `part = ...`, `return ...`",
            )
