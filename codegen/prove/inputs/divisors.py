"""Calls at which what a rule divides by is zero.

`grad * result / (sum(x) - 2.5)` is right but where the sum is 2.5: there it is nan, however smooth
`forward` is. No condition says so, and no element is special. So what rules divide by, take the
logarithm of, or invert is followed between calls at which its sign differs, until it is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...ir import nodes as ir
from ...ir.walk import free_names
from ...render.base import ATOM
from ...spec.model import Formula, OpSpec
from ...spec.vocabulary import CONSTANTS
from ..identities.definition import CALL, DefinitionRenderer, compile_formula
from ..identities.run import Call

Array = np.ndarray[Any, Any]
Values = dict[str, Any]
Names = Callable[[Values, dict[str, Any], dict[str, Any], dict[Any, Any]], dict[str, Any]]
"""Everything that a formula may read, by name."""

_NOTED = "divisor__"
"""A name that no formula can have."""

_DIVISORS = {"div": 1, "true_divide": 1, "reciprocal": 0, "log": 0, "rsqrt": 0}
"""The argument of a function that may be no zero."""

_INVERTED = {"linalg_inv": 0, "inverse": 0, "linalg_solve": 0}
"""The matrix that a function inverts: its determinant may be no zero."""

POINTS = 8
"""Points between which signs are compared."""

HALVINGS = 12
"""Steps of a search on a line, before one element is moved."""

_FIRST_STEP = 2.0**-6
_SECANTS = 8
"""The move of an element, and how often it is moved to where a divisor seems to be zero."""

_ELEMENTS = 4
"""Elements that are moved."""

MOST = 6
"""Calls of which a divisor is zero, for each call that is gone out from."""


class Divisors:
    """The divisors in the rules of an op, as functions of everything that they read."""

    def __init__(self, spec: OpSpec, names: Names) -> None:
        self._spec = spec
        self._names = names
        self._seen: dict[int, float] = {}
        self.count = 0
        self._rules = list(self._compiled())

    def vanishing(self, points: list[Values]) -> Iterator[Values]:
        """Calls at which a divisor is zero, each between two points at which it has other signs."""
        signs = [(point, self._at(point)) for point in points]
        found = 0
        for number in range(self.count):
            known = [(seen[number], point) for point, seen in signs if number in seen]
            near = sorted(known, key=lambda each: abs(each[0]))
            below = next((point for value, point in near if value < 0), None)
            above = next((point for value, point in near if value > 0), None)
            if below is None or above is None or near[0][0] == 0:
                continue
            zero = self._zero(number, below, above)
            if zero is not None:
                yield zero
                found += 1
            if found == MOST:
                return

    def _zero(self, number: int, below: Values, above: Values) -> Values | None:
        """A point at which a divisor is zero; None if floats go past it."""
        for point in (below, above):
            if (zero := self._by_element(number, point)) is not None:
                return zero
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            value = self._at(_on_line(below, above, middle)).get(number)
            if value is None:
                return None
            low, high = (middle, high) if value < 0 else (low, middle)
        return self._by_element(number, _on_line(below, above, low))

    def _by_element(self, number: int, point: Values) -> Values | None:
        """A point at which a divisor is zero, that differs in one element; None for none."""
        for name, place in _elements(point):
            moved = {**point, name: point[name].copy()}
            element = moved[name].reshape(-1)
            last, value = float(element[place]), self._at(moved).get(number)
            element[place] += _FIRST_STEP
            for _ in range(_SECANTS):
                here, then = float(element[place]), self._at(moved).get(number)
                if then == 0:
                    return moved
                if value is None or then is None or then == value:
                    break
                element[place] = here - then * ((here - last) / (then - value))
                last, value = here, then
        return None

    def _at(self, values: Values) -> dict[int, float]:
        """The first element of each divisor."""
        from gradspec.core.modes import no_grad

        self._seen = {}
        try:
            with no_grad(), np.errstate(all="ignore"):
                outputs = {n: t.array for n, t in Call(self._spec, values, [])().items()}
        except Exception:
            return {}  # no call of the op
        ones = {n: np.ones_like(array) for n, array in outputs.items()}
        known = self._names(values, outputs, ones, {})
        for names, function in self._rules:
            if all(name in known for name in names):
                try:
                    with no_grad(), np.errstate(all="ignore"):
                        function(*(known[name] for name in names))
                except Exception:
                    continue  # no call of this formula
        return self._seen

    def _compiled(self) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
        vjps = (rule for _, rule in self._spec.vjps)
        for rule in (*vjps, *(rule for _, rule in self._spec.jvps)):
            if isinstance(rule, Formula):
                before = self.count
                names = tuple(sorted(free_names(rule.block) - set(CONSTANTS)))
                renderer = _NotingRenderer(self._number, self._spec)
                made = compile_formula(renderer, rule.block, names, {_NOTED: self._note})
                if self.count > before:
                    yield names, made

    def _number(self) -> int:
        self.count += 1
        return self.count - 1

    def _note(self, number: int, is_matrix: bool, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f" and value.size:
            measured = np.linalg.det(np.asarray(value)) if is_matrix else value
            self._seen[number] = float(np.ravel(measured)[0])
        return value


class _NotingRenderer(DefinitionRenderer):
    """A formula whose divisors note their values, but those that are an argument or a number."""

    def __init__(self, number: Callable[[], int], spec: OpSpec) -> None:
        self._next = number
        self._arguments = frozenset(param.name for param in spec.signature.params)
        self._helpers = frozenset(helper.signature.name for helper in spec.helpers)

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        left, right = node.left, node.right
        if node.op == "/" and self._may_vanish(right):
            return f"(({self.render(left)}) / {self._noted(right, False)})", ATOM
        if node.op == "**" and _is_negative(right) and self._may_vanish(left):
            return f"({self._noted(left, False)} ** ({self.render(right)}))", ATOM
        return super().render_binary(node)

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        known = _DIVISORS.get(node.function, _INVERTED.get(node.function))
        is_matrix = node.function in _INVERTED

        def render(place: int, value: ir.Expr) -> str:
            may_be_zero = node.function in self._helpers or place == known
            is_noted = may_be_zero and self._may_vanish(value)
            return self._noted(value, is_matrix) if is_noted else self.render(value)

        words = [repr(node.function), *(render(*each) for each in enumerate(node.args))]
        words += [f"{name}={self.render(value)}" for name, value in node.kwargs]
        return f"{CALL}({', '.join(words)})", ATOM

    def _may_vanish(self, node: ir.Expr) -> bool:
        is_argument = isinstance(node, ir.Name) and node.id in self._arguments
        return not is_argument and not isinstance(node, ir.Const | ir.Attribute)

    def _noted(self, node: ir.Expr, is_matrix: bool) -> str:
        return f"{_NOTED}({self._next()}, {is_matrix}, {self.render(node)})"


def _is_negative(exponent: ir.Expr) -> bool:
    return isinstance(exponent, ir.Unary) and exponent.op == "-"


def _elements(values: Values) -> Iterator[tuple[str, int]]:
    """The first elements of the arguments, each of another one, as far as there are several."""
    floats = [n for n, v in values.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"]
    pairs = ((name, place) for place in range(_ELEMENTS) for name in floats)
    return islice(((n, p) for n, p in pairs if p < values[n].size), _ELEMENTS)


def _on_line(below: Values, above: Values, share: float) -> Values:
    """A point between two: numbers that are no floats are those of the first."""
    return {name: _mixed(value, above[name], share) for name, value in below.items()}


def _mixed(below: Any, above: Any, share: float) -> Any:
    if isinstance(below, list) and isinstance(above, list):
        return [_mixed(one, other, share) for one, other in zip(below, above, strict=True)]
    if not isinstance(below, np.ndarray) or below.dtype.kind not in "fc":
        return below
    return np.asarray(below + share * (above - below), below.dtype)
