"""The module of batching rules of a package: found by the proof, remembered in the lock."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .diagnostics import SpecError
from .differentiate.arrays import as_op
from .emit.batching import BatchFunction, as_composite
from .emit.package import GeneratedPackage, PackageBuilder
from .ir.nodes import Attribute, Call, Const, Node
from .ir.walk import with_parts
from .prove.report import lock
from .spec.model import Formula
from .spec.vocabulary import FORMULA


class BatchingRules:
    """The module of batching rules: as it is staged, to be tried, and as it is written."""

    def __init__(
        self,
        builder: PackageBuilder,
        built: GeneratedPackage,
        recorded: Mapping[str, lock.Entry],
        digests: Mapping[str, str],
    ) -> None:
        self._builder = builder
        self._composites = {
            op.name: built.ops[op.name].calls
            for op in builder.table.ops
            if op.composite is not None
        }
        self._known = {
            name: entry.batching.rules
            for name, entry in recorded.items()
            if entry.digest == digests.get(name) and entry.batching is not None
        }
        self._functions = dict(self._batch_functions())

    def _batch_functions(self) -> Iterator[tuple[str, BatchFunction]]:
        """The rules that call other ops: those that are known, and those to be tried."""
        for op in self._builder.table.ops:
            if op.composite is not None or FORMULA not in self._known.get(op.name, (FORMULA,)):
                continue
            if op.batch is not None:
                yield op.name, self._builder.batch_function(as_composite(op, op.batch))
            elif op.forward is not None:
                with suppress(SpecError):  # some definitions call what is no op
                    made = as_composite(op, self._with_ops(op.forward))
                    function = self._builder.batch_function(made)
                    if op.name not in function.calls:
                        yield op.name, function

    def _with_ops(self, formula: Formula) -> Formula:
        """A definition with ops in the place of primitives that the table has as ops."""

        def with_ops(part: Any) -> Any:
            if isinstance(part, Call):
                part = _by_two_ops(part) or as_op(part, self._builder.resolver)
            return with_parts(part, with_ops) if isinstance(part, Node | tuple) else part

        return dataclasses.replace(formula, block=with_ops(formula.block))

    def staged(self) -> str:
        """The known rules, and the formulas that may be rules."""
        declared = {op.name: (FORMULA,) for op in self._builder.table.ops if op.batch}
        rules = declared | self._known
        return self._builder.batching_module(self._functions, rules)

    def module(self, entries: Mapping[str, lock.Entry]) -> str:
        """The rules that are written."""
        kept = self.kept(entries)
        used = {n: self._functions[n] for n, words in kept.items() if FORMULA in words}
        return self._builder.batching_module(used, {n: words for n, words in kept.items() if words})

    def kept(self, entries: Mapping[str, lock.Entry]) -> dict[str, tuple[str, ...]]:
        """The rules of the lock, but for formulas that call ops which have none, or come back."""
        known = {name: entry.batching.rules for name, entry in entries.items() if entry.batching}
        with_formula = [
            n for n, words in known.items() if FORMULA in words and n in self._functions
        ]
        calls = {name: self._functions[name].calls for name in with_formula} | self._composites
        useless = {name for name in calls if name in _reached(name, calls)}
        useless |= known.keys() - self._functions.keys()
        rules = {name: _without(words, name in useless) for name, words in known.items()}
        looping = {name for name, words in rules.items() if not words}
        while (
            more := {n for n in calls if calls[n] & looping and not _arranged(n, rules)} - looping
        ):
            looping |= more
        return {
            n: _without(words, calls.get(n, frozenset()) & looping) for n, words in rules.items()
        }


def _without(words: tuple[str, ...], is_useless: object) -> tuple[str, ...]:
    """The rules without the formula, if that is of no use."""
    return tuple(word for word in words if word != FORMULA or not is_useless)


def _arranged(name: str, rules: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether an op has a rule beside a formula."""
    return bool(set(rules.get(name, ())) - {FORMULA})


def _by_two_ops(call: Call) -> Call | None:
    """A primitive that is no single op of its arguments in their order; None for any other."""
    if call.function in ("np.full_like", "np.ones_like", "np.zeros_like"):
        like, *rest = call.args
        number = rest[0] if rest else Const(int(call.function == "np.ones_like"))
        shape = dict(call.kwargs).get("shape", Attribute(like, "shape"))
        return Call("expand", (Call("_number_like", (like, number)), shape), span=call.span)
    if call.function == "np.take" and len(call.args) == 3:
        tensor, index, dim = call.args
        return Call("index_select", (tensor, dim, index), span=call.span)
    return None


def _reached(name: str, calls: Mapping[str, frozenset[str]]) -> set[str]:
    """The ops that the formula of an op comes to, by formulas."""
    found: set[str] = set()
    stack = [name]
    while stack:
        called = calls[stack.pop()] - found
        found |= called
        stack += called & calls.keys()
    return found
