"""Rules beside others in which what they cut off from the graph, as by `detach_copy`, is moved.

The lemma of orders needs every array that a rule reads to reach it with its derivative. One that
is cut off does not: `3 * (2 * x * d - d * d)`, with a detached copy `d` of `x`, has the value of
`3 * x * x` and its first derivative, and not its second. A rule that is right to every order has
the same value for any `d`, as long as conditions come out the same way. So it is computed with
others. A batching formula, which is differentiated where `vmap` calls it, is held to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ir import nodes as ir
from ...ir.walk import calls, free_names
from ...spec.model import Formula, OpSpec
from ...spec.vocabulary import CONSTANTS, HELPERS
from ..identities.definition import CALL, DefinitionRenderer, call_by_name, compile_formula
from ..identities.identity import Mismatch

Array = np.ndarray[Any, Any]

_MOVED = "moved__"
"""A name that no formula can have."""

STEPS = (2.0**-5, 2.0**-6, 2.0**-7)
"""Moves of the arguments of what is cut off, relative to their size. A comparison may come out
another way by chance at one of these moves, and hardly at all of them."""

NEAR = 2.0**-30
"""A move that changes no stairs, as those of `floor`: these have no gradient to lose."""

TOLERANCE = 1e-11
"""Relative to the largest element of a derivative."""


class CutOff:
    """The rules of an op, computed with other values for what they cut off."""

    def __init__(self, spec: OpSpec) -> None:
        self._step = 0.0
        self._is_any = False
        self._rng = np.random.default_rng(0)
        self._places: dict[str, set[int]] = {}
        """The outputs of functions that change and have no gradient, by number."""
        self._rules = list(self._compiled(spec))

    def check(self, known: dict[str, Any]) -> None:
        """Raise Mismatch for a rule whose value depends on what it cuts off.

        `known` has what formulas read, by name.
        """
        for key, names, function in self._rules:
            if not all(name in known for name in names):
                continue
            given = [known[name] for name in names]
            self._is_any = False
            try:
                wanted = self._value(function, given, 0.0)
                steps = STEPS if self._is_any else ()
                found = [self._value(function, given, step) for step in steps]
            except Exception:
                continue  # no call of this formula
            if found and all(_differ(each, wanted) for each in found):
                raise Mismatch(
                    "the batching rule" if key == "batch" else f"the rule of {key}",
                    key.partition(",")[0],
                    "changes with what it cuts off from the graph, as `detach_copy` does: its own "
                    "derivatives lack a term",
                )

    def _compiled(self, spec: OpSpec) -> Iterator[tuple[str, tuple[str, ...], Callable[..., Any]]]:
        vjps = ((", ".join(names), rule) for names, rule in spec.vjps)
        for key, rule in (*vjps, *spec.jvps, ("batch", spec.batch)):
            if isinstance(rule, Formula) and any(_is_op(c.function) for c in calls(rule.block)):
                names = tuple(sorted(free_names(rule.block) - set(CONSTANTS)))
                notes = {_MOVED: self._moved}
                yield key, names, compile_formula(_MovingRenderer(), rule.block, names, notes)

    def _value(self, function: Callable[..., Any], given: list[Any], step: float) -> list[Array]:
        self._step = step
        with np.errstate(all="ignore"):
            value = function(*given)
        return [np.asarray(each) for each in _listed(value)]

    def _moved(self, function: str, /, *args: Any, **options: Any) -> Any:
        """The value of a call, of which outputs without a gradient are those of other arguments."""
        value = call_by_name(function, *args, **options)
        if not any(map(_is_float, args)):
            return value
        if function not in self._places:
            near = call_by_name(function, *(self._beside(a, NEAR) for a in args), **options)
            without = _outputs_without_gradient(function, args, options)
            pairs = enumerate(zip(_listed(value), _listed(near), strict=True))
            changed = {n for n, (one, other) in pairs if not np.array_equal(one, other)}
            self._places[function] = without & changed
        places = self._places[function]
        self._is_any |= bool(places)
        if not (places and self._step):
            return value
        beside = call_by_name(function, *(self._beside(a, self._step) for a in args), **options)
        if not isinstance(value, tuple):
            return beside
        pairs = enumerate(zip(value, beside, strict=True))
        return tuple(moved if n in places else kept for n, (kept, moved) in pairs)

    def _beside(self, value: Any, step: float) -> Any:
        if not _is_float(value):
            return value
        moves = self._rng.uniform(0.5, 1, value.shape) * self._rng.choice((-1.0, 1.0), value.shape)
        return np.asarray(value + step * (1 + np.abs(value)) * moves, value.dtype)


class _MovingRenderer(DefinitionRenderer):
    """A formula whose calls of ops pass through a function."""

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        text, strength = super().render_call(node)
        return (text.replace(CALL, _MOVED, 1) if _is_op(node.function) else text), strength


def _is_op(function: str) -> bool:
    return function not in HELPERS and "." not in function


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"


def _outputs_without_gradient(
    function: str, args: tuple[Any, ...], options: dict[str, Any]
) -> set[int]:
    """The float outputs of an op that do not require grad where its arguments do, by number."""
    from gradspec.core.tensor import wrap
    from gradspec.dispatch.overloads import public_function
    from gradspec.dispatch.registry import table_op

    tensors = [wrap(np.array(a)).requires_grad_() if _is_float(a) else a for a in args]
    outputs = _listed(public_function(table_op(function))(*tensors, **options))
    return {n for n, t in enumerate(outputs) if _is_float(t.array) and not t.requires_grad}


def _listed(value: Any) -> Any:
    return value if isinstance(value, tuple | list) else [value]


def _differ(found: list[Array], wanted: list[Array]) -> bool:
    """Return whether values that are finite are not the same."""
    for one, other in zip(found, wanted, strict=True):
        if one.shape != other.shape or other.dtype.kind not in "fc":
            continue
        finite = np.isfinite(one) & np.isfinite(other)
        slack = TOLERANCE * np.abs(other[finite]).max(initial=1e-3)
        if (np.abs(one[finite] - other[finite]) > slack).any():
            return True
    return False
