"""The keys of an entry: what each says, and the values it may have.

The loader, the JSON Schema and the table in docs/spec.md are all made of `KEYS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .patterns import INEQUALITY, NAME, PYTHON_NAME
from .vocabulary import (
    DOMAINS,
    OPERATORS,
    PYTHON_MODULES,
    REASONED_PROOFS,
    REFUSALS,
    VARIANTS,
)

JsonSchema: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it says, in Markdown, and its values as JSON Schema."""

    name: str
    says: str
    values: JsonSchema

    @property
    def description(self) -> str:
        """The text as a sentence without links."""
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.says)
        return f"{plain[0].upper()}{plain[1:]}."


def mapping(properties: JsonSchema) -> JsonSchema:
    """A mapping that has all of these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _words(known: Iterable[str], *, are_patterns: bool = False) -> JsonSchema:
    """Some of the known words, in a list or between commas."""
    words = list(known)
    pattern = "|".join(words if are_patterns else map(re.escape, words))
    item: JsonSchema = {"type": "string", "pattern": f"^(?:{pattern})$"}
    if not are_patterns:
        item = {"enum": words}
    return {
        "anyOf": [
            {"type": "string", "pattern": rf"^\s*(?:{pattern})(?:\s*,\s*(?:{pattern}))*\s*$"},
            {"type": "array", "items": item, "minItems": 1},
        ]
    }


REASON: JsonSchema = {"type": "string", "pattern": r"\S"}
FORMULA: JsonSchema = {"$ref": "#/$defs/formula"}
_FLAG: JsonSchema = {"type": "boolean"}

_IMPORTED: JsonSchema = {"type": "string", "pattern": rf"^{NAME}(\.{NAME})+$"}
"""A function in a module."""
_NAMES = _words([NAME], are_patterns=True)
_PYTHON_NAMES = _words([PYTHON_NAME], are_patterns=True)
_CONDITION: list[JsonSchema] = [REASON, {"type": "object", "additionalProperties": REASON}]
"""A condition, or conditions with the texts of their errors."""

KEYS = (
    Key(
        "name",
        "the [signature](#the-signature): "
        "`base.overload(Type name=default, *, Type keyword) -> Type`",
        {"$ref": "#/$defs/signature"},
    ),
    Key("doc", "what the op does, in one line for its users", REASON),
    Key(
        "forward",
        "the definition on arrays; may call ops of the table, `kernels.*` (also "
        "[your own](#kernels-of-your-own)), and the functions of `np` and `sp` (SciPy's special "
        "functions) that [`specs/primitives.yaml`](../specs/primitives.yaml) lists",
        FORMULA,
    ),
    Key(
        "kernel",
        "beside `forward`: the call of a kernel that "
        "[computes it](#a-kernel-beside-a-definition) on arrays, proved equal to it",
        {"type": "string", "pattern": r"kernels\.\w+\("},
    ),
    Key(
        "composite",
        "instead of `forward`: the definition by calls of other ops. No node, no rules: the ops "
        "it calls have theirs",
        FORMULA,
    ),
    Key(
        "batch",
        "how the op acts on each of several examples, where `vmap` finds no "
        "[rule](#batching-rules) of its own: the same function, by calls of ops that have rules",
        FORMULA,
    ),
    Key(
        "promotes",
        "the tensor arguments that are brought to one dtype and broadcast. Generated code sums "
        "their gradients to their shapes and casts them: formulas need not care, and see whole "
        "numbers beside floats as floats",
        _NAMES,
    ),
    Key(
        "same_dtype",
        "those of the promoted arguments that must have one dtype already, where PyTorch refuses "
        "to mix them",
        _NAMES,
    ),
    Key("no_bools", "`true`: bools are refused beside other dtypes", _FLAG),
    Key(
        "int_to_float",
        "`true`: integers and bools are computed in the default float dtype",
        _FLAG,
    ),
    Key(
        "complex",
        "`true`: the rules hold for complex tensors, and are proved for them. Without it, asking "
        "for the gradient of complex numbers raises; and complex tensors are refused where the "
        "gradient was found to be zero, of real numbers",
        _FLAG,
    ),
    Key(
        "real_only",
        "complex tensors are refused, as there is no such function of them, or no order, with "
        "the exception that is named: " + " or ".join(f"`{word}`" for word in REFUSALS),
        {"enum": list(REFUSALS)},
    ),
    Key(
        "requires",
        "the calls that are meant: conditions on shapes, dtypes and plain values, "
        "[checked at each call](#calls-that-are-meant)",
        {"anyOf": [*_CONDITION, {"type": "array", "minItems": 1, "items": {"anyOf": _CONDITION}}]},
    ),
    Key(
        "domain",
        f"where the op is defined and smooth, by argument: "
        f"{', '.join(f'`{word}`' for word in DOMAINS)}, or an inequality such as `-1 < self < 1`",
        {
            "type": "object",
            "additionalProperties": {
                "type": "string",
                "pattern": rf"^\s*(?:{'|'.join(DOMAINS)}|{INEQUALITY})\s*$",
                "examples": list(DOMAINS),
            },
        },
    ),
    Key(
        "kinks",
        'what stands for the derivative at breakpoints: `{"self == 0": 0}` maps a condition to '
        "the factor of `grad` there",
        {
            "type": "object",
            "propertyNames": {"pattern": "[<>!=]=|[<>]"},
            "additionalProperties": {"type": ["number", "string"], "pattern": r"\S"},
        },
    ),
    Key(
        "unproved",
        "calls at which the gradients are [not the derivatives](#what-is-not-proved), and why, by "
        "condition on the arguments",
        {"type": "object", "minProperties": 1, "additionalProperties": REASON},
    ),
    Key(
        "accuracy",
        "points at which digits [may be lost](#accuracy), and why, by condition on the arguments",
        {"type": "object", "minProperties": 1, "additionalProperties": REASON},
    ),
    Key(
        "torch",
        "how the op is emitted [for PyTorch](targets.md): `custom_op: true` registers it with "
        "`torch.library`; `kernel: module.function` names what computes it there",
        {
            "type": "object",
            "minProperties": 1,
            "properties": {"custom_op": _FLAG, "kernel": _IMPORTED},
            "additionalProperties": False,
        },
    ),
    Key(
        "jax",
        "the same [for JAX](targets.md): `kernel: module.function`",
        {
            "type": "object",
            "minProperties": 1,
            "properties": {"kernel": _IMPORTED},
            "additionalProperties": False,
        },
    ),
    Key(
        "output_differentiability",
        "`[true, false]`: which outputs have a gradient at all; instead of `false`, why one that "
        "changes with the arguments has none",
        {"type": "array", "items": {"type": ["boolean", "string"], "pattern": r"\S\s+\S"}},
    ),
    Key(
        "examples",
        "[calls](#examples) to prove and test the op with",
        {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}},
        },
    ),
    Key(
        "variants",
        "`function`, `method`, or both; a function unless told otherwise. Methods are there once "
        "the package is imported",
        _words(VARIANTS),
    ),
    Key("inplace", "`true`: tensors also get the in-place variant, `x.mul_` to `mul`", _FLAG),
    Key(
        "takes_out",
        "`true`: the function also takes `out`, the tensor that the result is written to (a tuple "
        "of tensors for several results)",
        _FLAG,
    ),
    Key(
        "layout",
        "the order in memory of the result, where PyTorch has one that does not follow from the "
        "formula: `rows` (row-major), or the tensor argument whose order it has; a list for "
        "several outputs",
        _NAMES,
    ),
    Key(
        "operators",
        "the Python operators the op answers on `Tensor`: `__mul__`, `__rmul__`",
        _words(OPERATORS),
    ),
    Key("aliases", "other names of the function", _PYTHON_NAMES),
    Key(
        "copy_doc",
        "of a view: what `NAME_copy` is, in one line. That op has the same definition and rules, "
        "and gives a copy, in row-major order",
        REASON,
    ),
    Key(
        "node",
        "the name of the node, where PyTorch's does not follow from the op's",
        {"type": "string", "pattern": f"^{PYTHON_NAME}$"},
    ),
    Key(
        "python_module",
        "the namespace of the function: `nn`, `linalg`, `fft`, `special`; `torch, nn` is both the "
        "top level and `nn.functional`",
        _words(PYTHON_MODULES),
    ),
    Key(
        "proof",
        "`{numeric: why}` for an op that symbols cannot go through, `{certified: why}` for one of "
        "which symbols do not decide every identity",
        {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^\s*(symbolic|(certified|numeric)\s*:[\s\S]*\S[\s\S]*)\s*$",
                },
                *(mapping({word: REASON}) for word in REASONED_PROOFS),
            ]
        },
    ),
)
"""The fixed keys; rules are keyed by arguments and outputs."""

ENTRY_KEYS = tuple(key.name for key in KEYS)

_RULES = (
    ("*an argument*", "its [VJP](#rules); `self, other: …` for several at once, returning a tuple"),
    ("*an output*", "its [JVP](#rules)"),
)


def key_table() -> str:
    """All keys, and those of rules behind the definitions, as the table of the manual."""
    rows = [(f"`{key.name}`", key.says) for key in KEYS]
    place = 1 + ENTRY_KEYS.index("composite")
    rows = [("key", "says"), ("---", "---"), *rows[:place], *_RULES, *rows[place:]]
    return "".join(f"| {key} | {says} |\n" for key, says in rows)
