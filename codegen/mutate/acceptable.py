"""Sieve out the mutants that no generator would accept: they need no proof to be refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import chain

from ..diagnostics import SpecError
from ..emit.functions import array_function
from ..emit.gradients import node_view
from ..emit.saves import plan_saves
from ..emit.tangents import jvp_view
from ..ir import nodes as ir
from ..ir.parse import parse
from ..ir.walk import calls
from ..prove.symbolic.exact_constants import exact_module
from ..render.context import ModuleContext
from ..render.resolve import Resolver
from ..render.to_sympy import NotSymbolic, SympyReader
from ..spec.model import OpSpec, Table
from ..spec.primitives import kernel, kernel_modules, primitives
from .mutants import Mutant


def those_generated(mutants: Sequence[Mutant], table: Table) -> list[Mutant]:
    """Without those that every generator would refuse: with these no author gets away."""
    allows = generator_check(table)
    return [mutant for mutant in mutants if allows(mutant.op)]


def generator_check(table: Table) -> Callable[[OpSpec], bool]:
    """Return a function that says whether a generator would accept an op beside a table."""
    return _Check(table).allows


class _Check:
    """Can an op be rendered, and the module it would stand in be imported?"""

    def __init__(self, table: Table) -> None:
        self._resolver = Resolver(table)
        self._reader = SympyReader(table)
        self._functions = frozenset(vars(exact_module()))
        self._home = dict.fromkeys((op.name for op in table.ops), "mutants")

    def allows(self, op: OpSpec) -> bool:
        """Return whether every call fits an overload, and every constant is a real number."""
        home = self._home | {op.name: "mutants"}
        context = ModuleContext(op.family, "mutants", home, self._resolver)
        try:
            node_view(op, "MutantBackward0", plan_saves(op), context)
            jvp_view(op, context)
            if op.kernel is not None:
                array_function(op, context)
                array_function(dataclasses.replace(op, kernel=None), context)
        except SpecError:
            return False
        values = [rule.block for rule in (op.forward, op.kernel) if op.kernel and rule]
        if any(map(_misfits, chain.from_iterable(map(calls, values)))):
            return False
        return all(map(self._is_real, context.constants.values()))

    def _is_real(self, constant: str) -> bool:
        """Constants are computed when the module is imported: one that fails stops them all."""
        block = parse(constant.replace("constants.", ""))
        if not all(call.function in self._functions for call in calls(block)):
            return False
        try:
            value = self._reader.block(block, {})
        except NotSymbolic:
            return False
        return bool(value.is_real and value.is_finite) or block.expression == ir.Name("inf")


def _misfits(call: ir.Call) -> bool:
    """Return whether a primitive or a kernel is called with other arguments than it has."""
    known = primitives().get(call.function)
    if known is None and call.function in kernel_modules():
        known = kernel(call.function)
    return known is not None and bool(known.misfit(call))
