"""The JSON Schema of spec files, for editors: completion, hints, and red lines while one types.

It refuses what one entry shows to be wrong: words, kinds of values, signatures, keys and rules that
are a slip of the pen away from those that exist. What depends on other names (arguments, overloads,
formulas) is checked by the loader.
"""

from __future__ import annotations

import json
from typing import Any

from .examples import DATA_KINDS, MAX_DIMENSIONS
from .keys import ENTRY_KEYS, FORMULA, KEYS, REASON, mapping
from .patterns import FAMILY, NAME, near, signature
from .signature import RESERVED
from .vocabulary import FACTORIZATIONS

TITLE = "A table of ops for gradspec"

_RULES = ("auto", "non_differentiable", "auto_linear", "auto_element_wise")
"""The words that a rule may be besides a formula."""

_SHORTEST = 5
"""Letters of the shortest key of which others may be misspellings: `dim` is none of `doc`."""


def schema() -> dict[str, Any]:
    """The schema of a spec file, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "type": "array",
        "items": {
            "anyOf": [
                mapping(
                    {"family": _text("The generated module that what follows goes to.", FAMILY)}
                ),
                mapping(
                    {
                        "include": _text(
                            "Another spec file, relative to this one.",
                            r"(?!/|\.\./)[\s\S]*\S[\s\S]*",
                        )
                    }
                ),
                {"$ref": "#/$defs/entry"},
            ]
        },
        "$defs": {
            "entry": _entry(),
            "signature": {"type": "string", "pattern": signature(sorted(RESERVED))},
            "formula": {
                "type": ["string", "number"],
                "pattern": r"\S",
                "description": "A formula, or a block.",
            },
            "rule": _rule(),
            "tensor": _tensor(),
            **{f"{kind}_data": _data(kind) for kind in DATA_KINDS},
            "value": {
                "anyOf": [
                    {"type": ["number", "string", "boolean", "null"]},
                    {"$ref": "#/$defs/tensor"},
                    {"type": "array", "items": {"$ref": "#/$defs/value"}},
                ]
            },
        },
    }


def schema_text() -> str:
    """The schema as the file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _entry() -> dict[str, Any]:
    # A pattern holds for all keys, also for those that have a kind of their own.
    others = near(key for key in ENTRY_KEYS if len(key) >= _SHORTEST)
    rule_key = rf"^(?!(?:{'|'.join(ENTRY_KEYS)}|{others})$){NAME}(\s*,\s*{NAME})*$"
    described = {key.name: key.values | {"description": key.description} for key in KEYS}
    return {
        "type": "object",
        "required": ["name"],
        "properties": described,
        "patternProperties": {rule_key: {"$ref": "#/$defs/rule"}},
        "additionalProperties": False,
        "oneOf": [{"required": ["forward"]}, {"required": ["composite"]}],
        "dependentRequired": {"kernel": ["forward"], "same_dtype": ["promotes"]},
        "dependentSchemas": {
            "composite": {
                "description": "The rules are those of the ops that it calls.",
                "propertyNames": {"enum": [key for key in ENTRY_KEYS if key != "layout"]},
            }
        },
    }


def _rule() -> dict[str, Any]:
    """The VJP of an argument or the JVP of an output."""
    return {
        "description": "The VJP of an argument, or the JVP of an output.",
        "anyOf": [
            FORMULA | {"examples": list(_RULES), "not": {"pattern": _misspelt_rule()}},
            mapping({"not_implemented": REASON}),
            mapping({"constant": REASON}),
        ],
    }


def _misspelt_rule() -> str:
    """A rule that is almost one of the words, or one that has to say why."""
    words = [word for word in _RULES if len(word) >= _SHORTEST]
    others = f"{near(words)}|{near(['not_implemented'])}"
    return rf"^\s*(?!(?:{'|'.join(words)})\s*$)(?:{others})\s*$"


def _tensor() -> dict[str, Any]:
    """A shape, also of complex numbers or of factors, or data: `{int: [0, 2]}`."""
    size = {"type": "integer", "minimum": 0}
    shape = {"type": "array", "items": size, "maxItems": MAX_DIMENSIONS}
    kinds: dict[str, Any] = {kind: {"$ref": f"#/$defs/{kind}_data"} for kind in DATA_KINDS}
    kinds |= {"complex": shape} | dict.fromkeys(FACTORIZATIONS, shape | {"minItems": 2})
    return {
        "anyOf": [
            shape,
            {"type": "object", "properties": kinds, "minProperties": 1, "maxProperties": 1}
            | {"additionalProperties": False},
        ]
    }


def _data(kind: str) -> dict[str, Any]:
    """Elements of a kind, in lists of any depth."""
    element = {"int": "integer", "bool": "boolean", "float": "number"}[kind]
    nested = {"type": "array", "items": {"$ref": f"#/$defs/{kind}_data"}}
    return {"anyOf": [{"type": element}, nested]}


def _text(description: str, pattern: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string", "description": description}
    return found | {"pattern": f"^{pattern}$"} if pattern else found
