"""One entry of a table: from its located mapping to an `OpSpec`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..diagnostics import Report, Span, did_you_mean
from ..ir.definedness import Known, defined
from ..ir.nodes import TextSpan
from ..ir.parse import FormulaError, parse
from .examples import read_examples
from .keys import ENTRY_KEYS
from .model import (
    Auto,
    AutoElementwise,
    AutoLinear,
    Constant,
    Formula,
    NonDifferentiable,
    NotImplementedYet,
    OpSpec,
    Requirement,
    Rule,
    Signature,
    TangentRule,
    TargetKernel,
)
from .plain_numbers import with_plain_numbers
from .shared_locals import completed
from .signature import SignatureError, parse_signature
from .source import Listing, Located, Mapping, Scalar
from .values import Word, read_flag, read_mapping, read_text, read_words
from .vocabulary import REASONED_PROOFS

_REASONED = re.compile(
    r"(?P<word>not_implemented|constant)\s*(?::\s*(?P<reason>.+)|\(\s*(?P<quote>['\"])(?P<quoted>.+)(?P=quote)\s*\))",
    re.DOTALL,
)


_AnyRule = TypeVar("_AnyRule", Rule, TangentRule, Formula | None)


@dataclass(frozen=True, slots=True)
class RawEntry:
    """An entry before it is understood: its mapping, and the family it stands in."""

    mapping: Mapping
    family: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An op and the mapping it was read from, where the lints find their places."""

    op: OpSpec
    mapping: Mapping

    def key_span(self, key: str) -> Span:
        """The place of a key; that of the op's name if the entry has no such key."""
        found = self.mapping.key(key)
        return found.span if found is not None else self.op.span

    def param_span(self, name: str) -> Span:
        """The place where the signature declares an argument."""
        text = self.mapping.get("name")
        assert isinstance(text, Scalar)
        found = re.search(rf"\b{name}\s*(?=[,=)])", text.value)
        return (
            text.locate(TextSpan(found.start(), found.start() + len(name))) if found else text.span
        )

    def words(self, key: str) -> tuple[Word, ...]:
        """The words of a list and their places; what is wrong with the list is reported already."""
        node = self.mapping.get(key)
        return () if node is None else read_words(key, node, Report())

    def rule_keys(self) -> Iterator[tuple[tuple[str, ...], Scalar, Located]]:
        """The keys that are no fixed words: the names before each colon, the key, the value."""
        for key, value in self.mapping.items:
            if key.value not in ENTRY_KEYS:
                yield split_names(key.value), key, value

    def has_rule_for(self, name: str) -> bool:
        """Return whether a key names this argument or output, be its formula good or bad."""
        return any(name in names for names, _, _ in self.rule_keys())


def split_names(key: str) -> tuple[str, ...]:
    """The names of a joint key `a, b`."""
    return tuple(part.strip() for part in key.split(","))


def declared_name(mapping: Mapping) -> str | None:
    """The base name an entry means to declare, even if its signature is broken."""
    node = mapping.get("name")
    match = re.match(r"\s*([A-Za-z_]\w*)", node.value) if isinstance(node, Scalar) else None
    return match[1] if match else None


def read_entry(raw: RawEntry, report: Report) -> Entry | None:
    """Understand one entry; None if it has no readable signature, after reporting why."""
    mapping = raw.mapping
    name_node = mapping.get("name")
    assert name_node is not None
    name = read_text("name", name_node, report)
    signature = None if name is None else _signature(name, report)
    if name is None or signature is None:
        return None
    reader = _EntryReader(mapping, signature, report)
    proof, proof_reason = reader.proof()
    forward = reader.formula("forward")
    vjps, jvps = reader.rules()
    op = OpSpec(
        signature=signature,
        family=raw.family,
        span=name.span,
        doc=reader.text("doc"),
        forward=forward,
        kernel=_completed(reader.formula("kernel"), forward),
        composite=reader.formula("composite"),
        batch=reader.formula("batch"),
        vjps=tuple((names, _completed(rule, forward)) for names, rule in vjps),
        jvps=tuple((name, _completed(rule, forward)) for name, rule in jvps),
        promotes=reader.words("promotes"),
        same_dtype=reader.words("same_dtype"),
        no_bools=reader.flag("no_bools"),
        int_to_float=reader.flag("int_to_float"),
        complex=reader.flag("complex"),
        real_only=reader.text("real_only"),
        inplace=reader.flag("inplace"),
        takes_out=reader.flag("takes_out"),
        layout=reader.words("layout"),
        requires=reader.requires(),
        domain=reader.domain(),
        output_differentiability=reader.output_differentiability(),
        changing_outputs=reader.changing_outputs(),
        kinks=reader.kinks(),
        custom_op=reader.custom_op(),
        target_kernels=reader.target_kernels(),
        unproved=reader.reasoned_conditions("unproved"),
        accuracy=reader.reasoned_conditions("accuracy"),
        examples=read_examples(mapping.get("examples"), signature, report),
        variants=reader.words("variants") or ("function",),
        python_module=reader.text("python_module"),
        operators=reader.words("operators"),
        aliases=reader.words("aliases"),
        copy_doc=reader.text("copy_doc"),
        node=reader.text("node"),
        proof=proof,
        proof_reason=proof_reason,
    )
    return Entry(with_missing(op), mapping)


def with_missing(op: OpSpec) -> OpSpec:
    """An entry with `auto` for every rule that it leaves out, if it computes anything itself."""
    if op.forward is None or op.composite is not None or not op.differentiable_outputs:
        return op
    given = {name for names, _ in op.vjps for name in names}
    missing = [p.name for p in op.signature.tensor_params if p.name not in given]
    auto = Auto(op.span, is_given=False)
    vjps = (*op.vjps, *(((name,), auto) for name in missing))
    absent = NonDifferentiable | NotImplementedYet | Constant
    if all(isinstance(rule, absent) for _, rule in vjps):
        return op
    known = {name for name, _ in op.jvps}
    outputs = [o.name for o in op.differentiable_outputs if o.name not in known]
    return dataclasses.replace(op, vjps=vjps, jvps=(*op.jvps, *((name, auto) for name in outputs)))


def _completed(rule: _AnyRule, forward: Formula | None) -> _AnyRule | Formula:
    return completed(rule, forward) if isinstance(rule, Formula) else rule


def _signature(name: Scalar, report: Report) -> Signature | None:
    try:
        return parse_signature(name.value)
    except SignatureError as error:
        report.error(error.code, name.locate(error.span), error.message, error.help)
        return None


def read_formula(key: str, node: Located, report: Report, signature: Signature) -> Formula | None:
    """Parse the formula a key holds, of an entry of this signature; None after reporting."""
    scalar = read_text(key, node, report)
    if scalar is None:
        return None
    try:
        block = with_plain_numbers(parse(scalar.value), signature)
    except FormulaError as error:
        report.error(error.code, scalar.locate(error.span), error.message, error.help)
        return None
    return Formula(scalar.value, block, scalar.spans())


def _is_reason(item: Located) -> bool:
    return isinstance(item, Scalar) and isinstance(item.literal, str) and " " in item.value


class _EntryReader:
    def __init__(self, mapping: Mapping, signature: Signature, report: Report) -> None:
        self._mapping = mapping
        self._signature = signature
        self._report = report
        self._told: set[str] = set()
        """The frameworks of which unknown words are reported already."""

    def text(self, key: str) -> str:
        node = self._mapping.get(key)
        scalar = None if node is None else read_text(key, node, self._report)
        return "" if scalar is None else " ".join(scalar.value.split())

    def formula(self, key: str) -> Formula | None:
        node = self._mapping.get(key)
        return None if node is None else read_formula(key, node, self._report, self._signature)

    def words(self, key: str) -> tuple[str, ...]:
        node = self._mapping.get(key)
        words = () if node is None else read_words(key, node, self._report)
        return tuple(word for word, _ in words)

    def flag(self, key: str) -> bool:
        node = self._mapping.get(key)
        return node is not None and bool(read_flag(key, node, self._report))

    def rules(
        self,
    ) -> tuple[tuple[tuple[tuple[str, ...], Rule], ...], tuple[tuple[str, TangentRule], ...]]:
        """The VJPs and JVPs: every key that is an argument, a joint key, or an output."""
        params = {param.name for param in self._signature.params}
        outputs = {output.name for output in self._signature.outputs}
        vjps: list[tuple[tuple[str, ...], Rule]] = []
        jvps: list[tuple[str, TangentRule]] = []
        for key, value in self._mapping.items:
            if key.value in ENTRY_KEYS:
                continue
            names = split_names(key.value)
            if params.issuperset(names):
                vjp = self._vjp(key.value, value)
                vjps += [] if vjp is None else [(names, vjp)]
            elif key.value in outputs:
                jvp = self._jvp(key.value, value)
                jvps += [] if jvp is None else [(key.value, jvp)]
            else:
                self._unknown_key(key, names, {*params, *outputs})
        return tuple(vjps), tuple(jvps)

    def _unknown_key(self, key: Scalar, names: tuple[str, ...], known: set[str]) -> None:
        wrong = next(name for name in names if len(names) == 1 or name not in known)
        op = self._signature.full_name
        self._report.error(
            "GS012",
            key.span,
            f"`{wrong}` is neither a key of an entry nor an argument or output of `{op}`",
            did_you_mean(wrong, [*ENTRY_KEYS, *known]),
        )

    def _vjp(self, key: str, node: Located) -> Rule | None:
        match node.value.strip() if isinstance(node, Scalar) else None:
            case "auto":
                return Auto(node.span)
            case "non_differentiable":
                return NonDifferentiable(node.span)
        reasoned = self._reasoned(node)
        if reasoned is not None:
            word, reason = reasoned
            rule = Constant if word == "constant" else NotImplementedYet
            return rule(reason, node.span)
        return read_formula(key, node, self._report, self._signature)

    def _jvp(self, key: str, node: Located) -> TangentRule | None:
        match node.value.strip() if isinstance(node, Scalar) else None:
            case "auto":
                return Auto(node.span)
            case "auto_linear":
                return AutoLinear(node.span)
            case "auto_element_wise":
                return AutoElementwise(node.span)
        reasoned = self._reasoned(node)
        if reasoned is not None and reasoned[0] == "not_implemented":
            return NotImplementedYet(reasoned[1], node.span)
        return read_formula(key, node, self._report, self._signature)

    def _reasoned(self, node: Located) -> tuple[str, str] | None:
        """`"not_implemented: reason"`, `{not_implemented: reason}` or PyTorch's call form, also of
        `constant`: the word and the reason."""
        if isinstance(node, Mapping):
            words = [key.value for key, _ in node.items]
            if words in (["not_implemented"], ["constant"]):
                reason = read_text(words[0], node.items[0][1], self._report)
                return words[0], "" if reason is None else reason.value
        if isinstance(node, Scalar) and (match := _REASONED.fullmatch(node.value.strip())):
            return match["word"], match["reason"] or match["quoted"]
        return None

    def output_differentiability(self) -> tuple[bool, ...]:
        node = self._mapping.get("output_differentiability")
        if node is None:
            return ()
        if not isinstance(node, Listing):
            help = "one flag an output, as in `[true, false]`"
            self._report.error("GS010", node.span, "`output_differentiability` is a list", help)
            return ()
        flags = [False if _is_reason(item) else self._output_flag(item) for item in node.items]
        return () if None in flags else tuple(map(bool, flags))  # a bad flag is reported

    def _output_flag(self, item: Located) -> bool | None:
        return read_flag("output_differentiability", item, self._report)

    def changing_outputs(self) -> tuple[str, ...]:
        """The outputs that have no gradient for a reason that is given, though they change."""
        node = self._mapping.get("output_differentiability")
        items = node.items if isinstance(node, Listing) else ()
        outputs = zip(self._signature.outputs, items, strict=False)
        return tuple(output.name for output, item in outputs if _is_reason(item))

    def requires(self) -> tuple[Requirement, ...]:
        """The conditions on every call, each read after those before it."""
        optional = {param.name for param in self._signature.params if param.type.is_optional}
        known, found = Known(), []
        for condition, reason in self._conditions(self._mapping.get("requires")):
            formula = read_formula("requires", condition, self._report, self._signature)
            if formula is None:
                continue
            if formula.block.expression is None:
                help = "write it as one expression; several stand in a list"
                self._report.error("GS060", condition.span, "a block is no condition", help)
                continue
            test, known = defined(formula.block.expression, optional, known)
            found.append(Requirement(formula, test, reason))
        return tuple(found)

    def _conditions(self, node: Located | None) -> Iterator[tuple[Scalar, str]]:
        """Each condition with the reason given for it, which may be empty."""
        if isinstance(node, Scalar):
            yield node, ""
        elif isinstance(node, Mapping):
            for condition, value in node.items:
                reason = read_text("requires", value, self._report)
                yield condition, "" if reason is None else " ".join(reason.value.split())
        elif isinstance(node, Listing):
            for item in node.items:
                if isinstance(item, Listing):
                    help = "a condition, or `{condition: reason}`; with brackets it needs quotes"
                    self._report.error("GS010", item.span, "a list in the list `requires`", help)
                else:
                    yield from self._conditions(item)

    def domain(self) -> tuple[tuple[str, str], ...]:
        node = self._mapping.get("domain")
        mapping = None if node is None else read_mapping("domain", node, self._report)
        if mapping is None:
            return ()
        texts = (
            (key.value, read_text("domain", value, self._report)) for key, value in mapping.items
        )
        return tuple((key, text.value.strip()) for key, text in texts if text is not None)

    def kinks(self) -> tuple[tuple[str, int | float | str], ...]:
        node = self._mapping.get("kinks")
        mapping = None if node is None else read_mapping("kinks", node, self._report)
        if mapping is None:
            return ()
        found: list[tuple[str, int | float | str]] = []
        for key, value in mapping.items:
            factor = value.literal if isinstance(value, Scalar) else None
            if isinstance(factor, bool) or not isinstance(factor, int | float | str):
                help = "the factor of `grad` at the breakpoint"
                self._report.error("GS058", value.span, "a kink is a number or a formula", help)
            else:
                found.append((key.value, factor))
        return tuple(found)

    def reasoned_conditions(self, name: str) -> tuple[tuple[Formula, str], ...]:
        """The conditions under a key, each with the reason given for it."""
        node = self._mapping.get(name)
        mapping = None if node is None else read_mapping(name, node, self._report)
        found = []
        for key, value in () if mapping is None else mapping.items:
            condition = read_formula(name, key, self._report, self._signature)
            reason = read_text(name, value, self._report)
            if condition is not None and reason is not None:
                found.append((condition, " ".join(reason.value.split())))
        return tuple(found)

    def custom_op(self) -> bool:
        """Return whether PyTorch is told of the op as a whole."""
        value = dict(self._of_target("torch")).get("custom_op")
        return value is not None and bool(read_flag("custom_op", value, self._report))

    def target_kernels(self) -> tuple[TargetKernel, ...]:
        """The function that computes the op, by framework."""
        found = []
        for framework in ("torch", "jax"):
            value = dict(self._of_target(framework)).get("kernel")
            text = None if value is None else read_text("kernel", value, self._report)
            if text is None:
                continue
            if not all(map(str.isidentifier, words := text.value.split("."))) or len(words) < 2:
                message = f"`{text.value}` is no function of a module"
                self._report.error("GS010", text.span, message, "`kernel: my_kernels.softcap`")
            found.append(TargetKernel(framework, text.value, text.span))
        return tuple(found)

    def _of_target(self, framework: str) -> list[tuple[str, Located]]:
        """Settings of an entry for one framework."""
        node = self._mapping.get(framework)
        told = None if node is None else read_mapping(framework, node, self._report)
        known = ["custom_op", "kernel"] if framework == "torch" else ["kernel"]
        items = [] if told is None else told.items
        for key, _ in items:
            if key.value not in known and framework not in self._told:
                help = did_you_mean(key.value, known)
                self._report.error("GS051", key.span, f"`{framework}` has no `{key.value}`", help)
        self._told.add(framework)
        return [(key.value, value) for key, value in items]

    def proof(self) -> tuple[str, str]:
        """`symbolic`; `certified` or `numeric`, and the reason for it."""
        node = self._mapping.get("proof")
        if node is None or (isinstance(node, Scalar) and node.value.strip() == "symbolic"):
            return "symbolic", ""
        word, reason = "", ""
        if isinstance(node, Scalar):
            word, _, reason = node.value.partition(":")
        elif isinstance(node, Mapping) and len(node.items) == 1:
            word = node.items[0][0].value
            text = read_text(word, node.items[0][1], self._report)
            reason = "" if text is None else text.value
        if word.strip() not in REASONED_PROOFS or not reason.strip():
            help = "`symbolic`, `{certified: why}` or `{numeric: why it cannot be proved}`"
            self._report.error("GS010", node.span, "`proof` must say why", help)
        return word.strip(), reason.strip()
