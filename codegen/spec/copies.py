"""Entries that a view's `copy_doc` asks for: `permute_copy` to `permute`, with the same rules."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

from ..ir.parse import parse
from .model import Formula, OpSpec, Signature


def has_copy(op: OpSpec) -> bool:
    """Return whether an op asks for one, and has a definition that can be copied."""
    implementation = op.implementation
    return (
        bool(op.copy_doc)
        and implementation is not None
        and implementation.block.expression is not None
    )


def with_copies(ops: Iterable[OpSpec]) -> Iterator[OpSpec]:
    """The ops of a table, and the copy of each view that has one behind it."""
    counts: Counter[str] = Counter()
    for op in ops:
        yield op
        stem = "".join(word.title() for word in op.signature.name.split("_"))
        if has_copy(op):
            yield _copy(op, f"{op.node or f'{stem}Backward{counts[stem]}'}_copy")
        counts[stem] += op.forward is not None and bool(op.recorded_params)


def _copy(op: OpSpec, node: str) -> OpSpec:
    """The entry of the copy: the same definition, by a kernel that copies what the view shows."""
    assert op.forward is not None
    implementation = op.kernel or op.forward
    is_defined = op.kernel is not None or "kernels." not in op.forward.text
    return dataclasses.replace(
        op,
        signature=_unaliased(op.signature),
        doc=op.copy_doc,
        copy_doc="",
        forward=op.forward if is_defined else _view(op),
        kernel=_copied(implementation),
        variants=("function",),
        aliases=(),
        operators=(),
        inplace=False,
        layout=(),
        node=node,
        takes_out=True,
    )


def _view(op: OpSpec) -> Formula:
    """The call of the view itself, as the definition of its copy."""
    assert op.forward is not None
    params = op.signature.params
    given = ", ".join(f"{p.name}={p.name}" if p.keyword_only else p.name for p in params)
    text = f"{op.signature.name}({given})"
    return Formula(text, parse(text), (op.forward.spans[0],) * (len(text) + 1))


def _copied(formula: Formula) -> Formula:
    before, after = "kernels.copied(", ")"
    text = f"{before}{formula.text.strip()}{after}"
    start = len(formula.text) - len(formula.text.lstrip())
    spans = (
        *[formula.spans[start]] * len(before),
        *formula.spans[start : start + len(formula.text.strip())],
        *[formula.spans[-1]] * (len(after) + 1),
    )
    return Formula(text, parse(text), spans)


def _unaliased(signature: Signature) -> Signature:
    params = tuple(
        dataclasses.replace(param, type=dataclasses.replace(param.type, alias=None))
        for param in signature.params
    )
    outputs = tuple(
        dataclasses.replace(output, type=dataclasses.replace(output.type, alias=None))
        for output in signature.outputs
    )
    return Signature(f"{signature.name}_copy", signature.overload, params, outputs)
