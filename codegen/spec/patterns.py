"""The forms of names, signatures and inequalities as regular expressions, for the JSON Schema.

They are written in what Python's and JavaScript's expressions have in common.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from .vocabulary import RESERVED_FAMILIES

NAME = r"[A-Za-z_]\w*"
"""A name."""

_KEYWORDS = "|".join(keyword.kwlist)

PYTHON_NAME = rf"(?!(?:{_KEYWORDS})(?!\w))(?!\w*__)[A-Za-z_]\w*"
"""A name that an op or an argument may have."""

FAMILY = (
    rf"(?!(?:{'|'.join((*RESERVED_FAMILIES, *keyword.kwlist))})$)(?!.*_names$)"
    r"[A-Za-z][A-Za-z0-9_]*"
)
"""The name of a module."""

_TERM = r"\s*(?:-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[A-Za-z_]\w*)\s*"
INEQUALITY = rf"{_TERM}(?:(?:<=|>=|!=|<|>){_TERM}){{1,2}}"
"""A condition on an argument: `-1 < self < 1`."""

_INTEGER = r"-?\d{1,30}"
_NUMBER = r"-?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?"
_BOOL = "True|False"
_TEXT = r"""'[^'\\\n]*'|"[^"\\\n]*\""""

_DEFAULTS = {
    "Tensor": "None",
    "Scalar": f"{_NUMBER}|{_BOOL}|None",
    "SymInt": f"{_INTEGER}|None",
    "int": f"{_INTEGER}|None",
    "float": f"{_NUMBER}|None",
    "bool": f"{_BOOL}|None",
    "str": f"{_TEXT}|None",
    "ScalarType": "None",
    "Generator": "None",
}
"""The values that an argument of each type may have by default."""


def signature(reserved: Iterable[str]) -> str:
    """A whole signature, of which no argument has one of the names that are reserved."""
    name = rf"(?!(?:{'|'.join(reserved)})(?!\w)){PYTHON_NAME}"
    params = _several("|".join((r"\*", *(_param(base, name) for base in _DEFAULTS))))
    output = rf"(?:{'|'.join(map(_type, _DEFAULTS))})(?:\s+{PYTHON_NAME})?"
    returns = rf"(?:{output}|\(\s*{_several(output)}\s*\))"
    return (
        rf"^\s*{PYTHON_NAME}(?:\s*\.\s*{NAME})?\s*"
        rf"\(\s*(?:{params})?\s*\)\s*->\s*{returns}\s*$"
    )


def _param(base: str, name: str) -> str:
    value = _DEFAULTS[base]
    listed = rf"\[\s*(?:{_several(value)})?\s*\]"
    return rf"{_type(base)}\s+{name}(?:\s*=\s*(?:{value}|{listed}))?"


def _type(base: str) -> str:
    alias = r"(?:\s*\([a-z]!?\))?" if base == "Tensor" else ""
    return rf"{base}{alias}(?:\s*\?)?(?:\s*\[\d{{0,3}}\](?:\s*\?)?)?"


def _several(item: str) -> str:
    return rf"(?:{item})(?:\s*,\s*(?:{item}))*"


def near(words: Iterable[str]) -> str:
    """Spell the words with a mistake: one letter changed, or two that stand beside each other."""
    return "|".join(
        rf"{word[:place]}[A-Za-z_]{{1,3}}{word[place + 2 :]}"
        for word in words
        for place in range(len(word) - 1)
    )
