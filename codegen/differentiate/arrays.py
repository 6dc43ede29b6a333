"""Functions of NumPy in a definition, as the ops of the table that they are."""

from __future__ import annotations

import dataclasses

from ..ir.nodes import Call, Const, Name
from ..render.resolve import Resolver
from ..spec.primitives import derivation_facts


def as_op(call: Call, resolver: Resolver) -> Call:
    """A primitive as the op of the table that computes it."""
    root, _, word = call.function.partition(".")
    if not word or root == "kernels":
        return call
    if call.function in derivation_facts().arrays:
        function, *rest = derivation_facts().arrays[call.function]
        renames = {"axis": "dim", "keepdims": "keepdim"}
        named = [(renames.get(name, name), value) for name, value in call.kwargs]
        for name, value in zip(rest, call.args[1:], strict=False):
            if name:
                named.append((name, value))
        if "keepdim" in dict(named) and "dim" not in dict(named):
            named.append(("dim", Const(None)))
        args = call.args[: 1 + sum(not name for name in rest)]
        return Call(function, args, tuple(named), span=call.span)
    found = _elementwise(call.function, resolver)
    return call if found is None else dataclasses.replace(call, function=found)


def _elementwise(function: str, resolver: Resolver) -> str | None:
    """The op that is one primitive of its arguments: `exp` for `np.exp`."""
    for op in resolver.table.ops:
        params = tuple(Name(p.name) for p in op.signature.params)
        if op.forward is not None and op.forward.block.expression == Call(function, params):
            return op.signature.name
    return None
