"""Spell names, types and defaults of the table in Python, after PyTorch."""

from __future__ import annotations

from typing import Any

from ..diagnostics import Diagnostic, SpecError
from ..spec.model import REQUIRED, OpSpec, Param, Signature, Table, Type, spelled
from ..spec.vocabulary import NUMPY_NAMES

_ANNOTATIONS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "float": "float",
    "int": "int",
    "bool": "bool",
    "str": "str",
    "ScalarType": "DTypeLike",
}


def node_names(table: Table) -> dict[str, str]:
    """The node of each op that has a gradient: `mul.Tensor` → `MulBackward0`.

    Overloads of one base name are numbered in the order of the table, as PyTorch numbers them.
    SpecError if two ops would have one node.
    """
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    owners: dict[str, str] = {}
    mistakes = []
    for op in table.ops:
        if op.forward is None or not op.recorded_params:
            continue
        stem = "".join(word.title() for word in op.signature.name.split("_"))
        number = counts.get(stem, 0)
        counts[stem] = number + 1
        names[op.name] = name = op.node or f"{stem}Backward{number}"
        owner = owners.setdefault(name, op.name)
        if owner != op.name:
            message = f"`{name}` is the node of `{owner}` already"
            mistakes.append(Diagnostic("GS050", op.span, message, "give one of them a `node`"))
    if mistakes:
        raise SpecError(mistakes)
    return names


def annotation(type_: Type, *, accepts_numbers: bool = False) -> str:
    """The type of a parameter in generated code."""
    base = _ANNOTATIONS.get(type_.base, "Any")
    if accepts_numbers and base == "Tensor":
        base = "Tensor | Number"
    if type_.is_list:
        text = f"Sequence[{base} | None]" if type_.has_optional_items else f"Sequence[{base}]"
        if type_.size is not None:
            text = f"{base} | {text}"
    else:
        text = base
    return f"{text} | None" if type_.is_optional else text


def default(value: Any) -> str:
    """The literal of a default value."""
    if isinstance(value, list | tuple):
        items = ", ".join(default(item) for item in value)
        return f"({items}{',' if len(value) == 1 else ''})"
    return repr(value)


def python_signature(op: OpSpec, *, public: bool = False, further: tuple[str, ...] = ()) -> str:
    """The parameters of the function, with types and defaults; as its users know them, or as its
    code does. `further` are those by name that functions of its kind take: see `further_names`."""
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        text = _python_param(op, param, param.public if public else spelled(param.name))
        if _may_be_renamed(param, further) and param.default is REQUIRED:
            text += " | None = None"
        words.append(text)
    words += [f"{name}: {_FURTHER.get(name, 'Any')} = None" for name in further]
    return ", ".join(words)


_FURTHER = {"keepdims": "bool | None"}
"""The types of further parameters, where one is that of all ops."""


def further_names(op: OpSpec) -> tuple[str, ...]:
    """Parameters that the function of an op takes by name beside those of its signature.

    These are NumPy's names of its arguments, and `out`. One that takes the place of a required
    argument has to be the last of these.
    """
    if op.is_private or not {"function", "method"} & set(op.variants):
        return ()
    public = {param.public for param in op.signature.params}
    required = [param for param in op.signature.params if param.default is REQUIRED]
    names = [
        NUMPY_NAMES[param.public]
        for param in op.signature.params
        if param.public in NUMPY_NAMES and (param.default is not REQUIRED or param is required[-1])
    ]
    names += ["out"] if op.takes_out else []
    return tuple(name for name in names if name not in public)


def further_test(op: OpSpec, further: tuple[str, ...]) -> str:
    """The test whether any of the further arguments is given."""
    # A required argument that may be renamed is left out if it is None.
    left_out = [
        f"{p.public} is None"
        for p in op.signature.params
        if _may_be_renamed(p, further) and p.default is REQUIRED
    ]
    return " or ".join([*left_out, *(f"{name} is not None" for name in further)])


def _may_be_renamed(param: Param, further: tuple[str, ...]) -> bool:
    """Return whether an argument may also be given by its name in NumPy."""
    return NUMPY_NAMES.get(param.public) in further


def untyped_signature(op: OpSpec, *, public: bool = False) -> str:
    """The same parameters of a function that is always given all of them, of any type."""
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        words.append(f"{param.public if public else spelled(param.name)}: Any")
    return ", ".join(words)


def _python_param(op: OpSpec, param: Param, name: str) -> str:
    lifts = param.name in op.promotes
    text = f"{name}: {annotation(param.type, accepts_numbers=lifts)}"
    return text if param.default is REQUIRED else f"{text} = {default(param.default)}"


def handed_on(signature: Signature) -> str:
    """The arguments of the public function as what computes takes them."""
    return ", ".join(
        f"{spelled(p.name)}={p.public}" if p.keyword_only else p.public for p in signature.params
    )


def forwarded(signature: Signature) -> str:
    """The arguments of a call that hands everything on: `input, other, alpha=alpha`."""
    return ", ".join(
        f"{p.public}={spelled(p.name)}" if p.keyword_only else spelled(p.name)
        for p in signature.params
    )


def aten_signature(op: OpSpec) -> str:
    """The parameters as the runtime knows them: `Tensor input, *, Scalar alpha=...`."""
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        default = "" if param.default is REQUIRED else "=..."
        words.append(f"{aten_type(param.type)} {param.public}{default}")
    return ", ".join(words)


def aten_type(type_: Type) -> str:
    """The ATen spelling of a type, which the runtime checks arguments against."""
    text = type_.base
    if type_.is_list:
        text += f"{'?' if type_.has_optional_items else ''}[{type_.size or ''}]"
    return f"{text}?" if type_.is_optional else text


def result_type_name(op: OpSpec) -> str:
    """The named tuple of an op with several outputs, e.g. `MaxDimResult`."""
    words = op.signature.full_name.replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) + "Result"
