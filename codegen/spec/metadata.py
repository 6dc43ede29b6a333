"""Checks of what an entry says besides its formulas: names, domains, kinks, examples."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterable

from ..diagnostics import Report, did_you_mean
from ..ir.nodes import Compare
from ..ir.parse import FormulaError, parse
from ..ir.walk import free_names
from .copies import has_copy
from .entry import Entry
from .patterns import INEQUALITY
from .source import Mapping, Scalar
from .vocabulary import CONSTANTS, DOMAINS, OPERATORS, PYTHON_MODULES, REFUSALS, ROWS, VARIANTS

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def check_metadata(entry: Entry, report: Report) -> None:
    """Report every word that is not known, and every name that is no argument."""
    _check_words(entry, report)
    _check_aliases(entry, report)
    _check_promotes(entry, report)
    _check_layout(entry, report)
    _check_copy(entry, report)
    _check_domain(entry, report)
    _check_kinks(entry, report)


def _check_words(entry: Entry, report: Report) -> None:
    _check_known(entry, "variants", VARIANTS, report)
    _check_known(entry, "python_module", PYTHON_MODULES, report)
    _check_known(entry, "operators", OPERATORS, report)
    _check_known(entry, "real_only", REFUSALS, report)


def _check_known(entry: Entry, key: str, known: Iterable[str], report: Report) -> None:
    known = tuple(known)
    for word, place in entry.words(key):
        if word not in known:
            help = did_you_mean(word, known)
            if not help and len(known) < 10:
                help = f"known are {', '.join(known)}"
            report.error("GS051", place, f"`{word}` is not known to `{key}`", help)


def _check_aliases(entry: Entry, report: Report) -> None:
    for word, place in (*entry.words("aliases"), *entry.words("node")):
        if not _NAME.fullmatch(word) or "__" in word or keyword.iskeyword(word):
            report.error("GS024", place, f"`{word}` cannot be a name in Python")


def _check_promotes(entry: Entry, report: Report) -> None:
    tensors = [param.name for param in entry.op.signature.tensor_params]
    for word, place in entry.words("promotes"):
        if word not in tensors:
            message = f"`{word}` is no tensor argument of `{entry.op.name}`"
            report.error("GS057", place, message, did_you_mean(word, tensors))
    for word, place in entry.words("same_dtype"):
        if word not in entry.op.promotes:
            message = f"`{word}` is not among what `{entry.op.name}` promotes"
            report.error("GS057", place, message, did_you_mean(word, entry.op.promotes))


def _check_layout(entry: Entry, report: Report) -> None:
    signature = entry.op.signature
    known = (ROWS, *(param.name for param in signature.tensor_params if not param.type.is_list))
    words = entry.words("layout")
    for word, place in words:
        if word not in known:
            help = did_you_mean(word, known) or f"known are {', '.join(known)}"
            report.error("GS051", place, f"`{word}` is not known to `layout`", help)
    if words and entry.op.composite is not None:
        message = f"`{entry.op.name}` is a composite: the ops that it calls have layouts"
        report.error("GS041", entry.key_span("layout"), message)
    if len(words) not in (0, 1, len(signature.outputs)):
        count = f"{len(words)} words for {len(signature.outputs)} outputs"
        report.error("GS049", entry.key_span("layout"), count, "one for each, or one for all")


def _check_copy(entry: Entry, report: Report) -> None:
    op = entry.op
    if op.copy_doc and (op.signature.view_of is None or op.forward is None):
        help = "a view marks an argument and the result: `Tensor(a) self -> Tensor(a)`"
        message = f"`{op.name}` is no view with a definition of its own"
        report.error("GS051", entry.key_span("copy_doc"), message, help)
    elif op.copy_doc and not has_copy(op):
        help = "name a kernel of one expression"
        report.error("GS051", entry.key_span("copy_doc"), "a block cannot be copied", help)


def _check_domain(entry: Entry, report: Report) -> None:
    params = {param.name for param in entry.op.signature.params}
    node = entry.mapping.get("domain")
    for key, value in node.items if isinstance(node, Mapping) else ():
        if key.value not in params:
            message = f"`{key.value}` is no argument of `{entry.op.name}`"
            report.error("GS056", key.span, message, did_you_mean(key.value, params))
        elif isinstance(value, Scalar) and not _is_condition(value.value, key.value, params):
            words = ", ".join(DOMAINS)
            help = f"{words}, or an inequality such as `-1 < {key.value} < 1`"
            message = f"this is no condition on `{key.value}`"
            report.error("GS056", value.span, message, did_you_mean(value.value, DOMAINS) or help)


def _is_condition(text: str, name: str, params: Container[str]) -> bool:
    if text.strip() in DOMAINS:
        return True
    if len(text) > 200 or not re.fullmatch(INEQUALITY, text):
        return False
    names = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
    return name in names and all(word in params or word in CONSTANTS for word in names)


def _check_kinks(entry: Entry, report: Report) -> None:
    """Kinks are `condition: factor`, both about the arguments."""
    node = entry.mapping.get("kinks")
    for key, value in node.items if isinstance(node, Mapping) else ():
        _check_kink_formula(entry, key, report, is_condition=True)
        if isinstance(value, Scalar) and isinstance(value.literal, str):
            _check_kink_formula(entry, value, report, is_condition=False)


def _check_kink_formula(entry: Entry, node: Scalar, report: Report, *, is_condition: bool) -> None:
    try:
        block = parse(node.value)
    except FormulaError as error:
        report.error("GS058", node.locate(error.span), error.message, error.help)
        return
    if is_condition and not isinstance(block.expression, Compare):
        help = "say where the breakpoint is, as in `self == 0`"
        report.error("GS058", node.span, "a kink's condition is a comparison", help)
    params = {param.name for param in entry.op.signature.params}
    for name in sorted(free_names(block) - params - {*CONSTANTS}):
        message = f"`{name}` is no argument of `{entry.op.name}`"
        report.error("GS058", node.span, message, did_you_mean(name, params))
