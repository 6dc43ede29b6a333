"""The JSON Schema of spec files, for editors: completion, hints, and red lines while one types.

It knows the words of the language and the kinds of values. What it cannot know (names, formulas,
overloads) is checked by the loader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from .examples import DATA_KINDS
from .vocabulary import (
    DOMAINS,
    ENTRY_KEYS,
    FACTORIZATIONS,
    OPERATORS,
    PYTHON_MODULES,
    REFUSALS,
    VARIANTS,
)

TITLE = "A table of ops for gradspec"

_NAME = r"[A-Za-z_]\w*"

_RULES = ("auto", "non_differentiable", "auto_linear", "auto_element_wise")
"""What a rule may be besides a formula."""

_DESCRIPTIONS = {
    "name": "The ATen signature: `base.overload(Type name=default, *, Type key) -> Type`.",
    "doc": "One line for the users of the op.",
    "forward": "The definition of the op: a formula; np.*, sp.*, kernels.* may be called.",
    "kernel": "The call of a kernel that computes `forward` on arrays, and is proved equal.",
    "composite": "Instead of forward: what the op computes by calls of other ops, on tensors.",
    "output_differentiability": "One flag an output: whether it has a gradient.",
    "domain": "Where the op is defined and smooth, by argument.",
    "kinks": "The factor of `grad` at the breakpoints of a piecewise op, by condition.",
    "examples": "Calls to prove, test and document the op with.",
    "variants": "Where the op is found: as a function, as a method.",
    "python_module": "The namespace of the function.",
    "operators": "The Python operators that the op answers.",
    "aliases": "Other names of the function.",
    "node": "The name of the node, where PyTorch's does not follow from the op's.",
    "promotes": "The tensor arguments that are brought to one dtype, and that broadcast.",
    "same_dtype": "Those of the promoted arguments that must have one dtype already.",
    "no_bools": "Bools are refused.",
    "int_to_float": "Integers and bools are computed in the default float dtype.",
    "complex": "The formulas hold for complex tensors too, and are proved for them.",
    "real_only": "Complex tensors are refused, with this exception.",
    "inplace": "The op has an in-place twin: `mul_` to `mul`.",
    "layout": "The order in memory of each output: rows, or that of a tensor argument.",
    "proof": "How the op is proved: symbolic, or `numeric: why`.",
}


def schema() -> dict[str, Any]:
    """The schema of a spec file, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "type": "array",
        "items": {
            "anyOf": [
                _object(
                    {"family": _text("The generated module that what follows goes to.", _NAME)}
                ),
                _object({"include": _text("Another spec file, relative to this one.")}),
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
    kinds: dict[str, dict[str, Any]] = {
        "name": {"type": "string", "pattern": rf"^{_NAME}(\.{_NAME})?\s*\([\s\S]*\)\s*->"},
        "doc": {"type": "string"},
        "forward": {"$ref": "#/$defs/formula"},
        "kernel": {"type": "string", "pattern": r"kernels\.\w+\("},
        "composite": {"$ref": "#/$defs/formula"},
        "output_differentiability": {"type": "array", "items": {"type": "boolean"}},
        "domain": {
            "type": "object",
            "additionalProperties": {"type": "string", "examples": list(DOMAINS)},
        },
        "kinks": {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
        "examples": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}},
        },
        "variants": _words(VARIANTS),
        "python_module": _words(PYTHON_MODULES),
        "operators": _words(OPERATORS),
        "aliases": _words([_NAME], are_patterns=True),
        "node": {"type": "string", "pattern": f"^{_NAME}$"},
        "promotes": _words([_NAME], are_patterns=True),
        "same_dtype": _words([_NAME], are_patterns=True),
        "no_bools": {"type": "boolean"},
        "int_to_float": {"type": "boolean"},
        "complex": {"type": "boolean"},
        "real_only": {"enum": list(REFUSALS)},
        "inplace": {"type": "boolean"},
        "layout": _words([_NAME], are_patterns=True),
        "proof": {
            "anyOf": [
                {"type": "string", "pattern": r"^(symbolic|numeric:.+)$"},
                _object({"numeric": {"type": "string", "minLength": 1}}),
            ]
        },
    }
    # A pattern holds for all keys, also for those that have a kind of their own.
    rule_key = rf"^(?!(?:{'|'.join(ENTRY_KEYS)})$){_NAME}(\s*,\s*{_NAME})*$"
    described = {key: kinds[key] | {"description": _DESCRIPTIONS[key]} for key in ENTRY_KEYS}
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
            {"$ref": "#/$defs/formula", "examples": list(_RULES)},
            _object({"not_implemented": {"type": "string", "minLength": 1}}),
            _object({"constant": {"type": "string", "minLength": 1}}),
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


def _words(known: Iterable[str], *, are_patterns: bool = False) -> dict[str, Any]:
    """Some of the known words, in a list or between commas."""
    words = list(known)
    pattern = "|".join(words if are_patterns else map(re.escape, words))
    item: dict[str, Any] = {"type": "string", "pattern": f"^(?:{pattern})$"}
    if not are_patterns:
        item = {"enum": words}
    return {
        "anyOf": [
            {"type": "string", "pattern": rf"^\s*(?:{pattern})(?:\s*,\s*(?:{pattern}))*\s*$"},
            {"type": "array", "items": item, "minItems": 1},
        ]
    }


def _text(description: str, pattern: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string", "description": description}
    return found | {"pattern": f"^{pattern}$"} if pattern else found


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """A mapping that has all of these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
