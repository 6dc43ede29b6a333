"""Find calls at which the forward of an op takes a root of zero.

A norm is one: `sqrt(sum(x * x))` has a kink at zero, where the chain rule gives 0 / 0. There nan
says that no slope was chosen, as it does in PyTorch; at other kinks, such as those of `abs`, a rule
has to choose one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import nodes as ir
from ...render.base import ATOM
from ...spec.model import OpSpec
from ..identities.definition import CALL, DefinitionRenderer, call_by_name, compile_formula, given

_POWER, _NOTES = "power__", "notes__"
"""Names that no formula can have."""

_ROOTS = frozenset({"sqrt", "norm", "linalg_vector_norm", "hypot"})


def takes_root_of_zero(spec: OpSpec, values: dict[str, Any]) -> bool:
    """Return whether the forward computes a root, or a power, of an element that is zero."""
    if spec.forward is None:
        return False
    params = spec.signature.params
    function = _compiled(spec.forward.block, tuple(param.name for param in params))
    notes: list[bool] = []
    try:
        function(notes, *(given(param, values[param.name]) for param in params))
    except Exception:
        return False
    return any(notes)


class _RootRenderer(DefinitionRenderer):
    """A formula that notes of what it takes roots and powers."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        source, precedence = super().render_call(node)
        return source.replace(f"{CALL}(", f"{CALL}({_NOTES}, ", 1), precedence

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        if node.op != "**":
            return super().render_binary(node)
        return f"{_POWER}({_NOTES}, {self.render(node.left)}, {self.render(node.right)})", ATOM


@functools.cache
def _compiled(block: ir.Block, params: tuple[str, ...]) -> Callable[..., Any]:
    names = {CALL: _call, _POWER: _power}
    return compile_formula(_RootRenderer(), block, (_NOTES, *params), names)


def _call(notes: list[bool], function: str, /, *args: Any, **options: Any) -> Any:
    result = call_by_name(function, *args, **options)
    if function.rpartition(".")[2] in _ROOTS:
        notes.append(bool(np.any(np.asarray(result) == 0)))
    return result


def _power(notes: list[bool], base: Any, exponent: Any) -> Any:
    notes.append(bool(np.any((np.asarray(base) == 0) & (np.asarray(exponent) < 1))))
    return base**exponent
