"""The JSON Schema of spec files, for editors: completion, hints, and red lines while one types.

It knows the words of the language and the kinds of values. What it cannot know (names, formulas,
overloads) is checked by the loader.
"""

from __future__ import annotations

import json
from typing import Any

from .examples import DATA_KINDS
from .keys import ENTRY_KEYS, FORMULA, KEYS, NAME, REASON, mapping
from .vocabulary import FACTORIZATIONS

TITLE = "A table of ops for gradspec"

_RULES = ("auto", "non_differentiable", "auto_linear", "auto_element_wise")
"""The words that a rule may be besides a formula."""


def schema() -> dict[str, Any]:
    """The schema of a spec file, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "type": "array",
        "items": {
            "anyOf": [
                mapping({"family": _text("The generated module that what follows goes to.", NAME)}),
                mapping({"include": _text("Another spec file, relative to this one.")}),
                {"$ref": "#/$defs/entry"},
            ]
        },
        "$defs": {
            "entry": _entry(),
            "formula": {"type": ["string", "number"], "description": "A formula, or a block."},
            "rule": _rule(),
            "tensor": _tensor(),
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
    rule_key = rf"^(?!(?:{'|'.join(ENTRY_KEYS)})$){NAME}(\s*,\s*{NAME})*$"
    described = {key.name: key.values | {"description": key.description} for key in KEYS}
    return {
        "type": "object",
        "required": ["name"],
        "properties": described,
        "patternProperties": {rule_key: {"$ref": "#/$defs/rule"}},
        "additionalProperties": False,
        "anyOf": [{"required": ["forward"]}, {"required": ["composite"]}],
    }


def _rule() -> dict[str, Any]:
    """The VJP of an argument or the JVP of an output."""
    return {
        "description": "The VJP of an argument, or the JVP of an output.",
        "anyOf": [
            FORMULA | {"examples": list(_RULES)},
            mapping({"not_implemented": REASON}),
            mapping({"constant": REASON}),
        ],
    }


def _tensor() -> dict[str, Any]:
    """A shape, also of complex numbers or of factors, or data: `{int: [0, 2]}`."""
    shape = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    kinds: dict[str, Any] = {kind: {"$ref": "#/$defs/value"} for kind in DATA_KINDS}
    kinds |= dict.fromkeys(("complex", *FACTORIZATIONS), shape)
    return {
        "anyOf": [
            shape,
            {"type": "object", "properties": kinds, "minProperties": 1, "maxProperties": 1}
            | {"additionalProperties": False},
        ]
    }


def _text(description: str, pattern: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string", "description": description}
    return found | {"pattern": f"^{pattern}$"} if pattern else found
