"""Choice of the derivatives of higher order of an op to compare, by symbols or by numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import numpy as np

from ...ir.walk import calls, free_names
from ...spec.model import Formula, OpSpec
from ...spec.shared_locals import shared_assignments
from ..inputs.parametrize import is_parametrized
from ..numeric.limits import Place, check_second_order, check_third_order
from ..report.counterexample import show_call
from ..report.verdict import Status
from ..symbolic.complex_numbers import is_complex
from ..symbolic.derivatives import Derivatives
from ..zero.is_zero import Region, compare
from ..zero.number_fields import numeric_values
from .identity import Identity
from .orders import count_parts, is_settled_by_first_order, nested_identities, third_identities
from .run import Array, Run

MOST_PARTS = 200
"""Number of different subexpressions of second derivatives that symbols differentiate."""

MOST_PARTS_OF_COMPLEX = 800
"""The same of complex numbers, which no differences speak for."""

_MOST_PARTS_OF_THIRD = 80
_MOST_PARAMETERS_OF_THIRD = 4


class HigherOrders:
    """The proof of second derivatives in all modes, and of third ones, of one op."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self._is_settled = is_settled_by_first_order(spec)
        self._needs_third = not self._is_settled and reads_what_it_made(spec)
        self._first_runs: list[Run] = []
        self._too_large: list[Run] = []
        self._without_third: list[Run] = []
        self._proved = 0
        """Number of third derivatives that were proved with symbols."""

    def identities(self, run: Run, known: Derivatives) -> Iterator[Identity]:
        """Yield what has to hold of a run with symbols; what is too large is left to numbers."""
        if self._is_settled or not (run.leaves and run.outputs and run.tangents):
            return
        is_first = all(run.inputs is not other.inputs for other in self._first_runs)
        complete = partial(run.inputs.complete, run.point, random.Random(self._spec.name))
        parts, is_real = count_parts(run), not _is_complex(run)
        if parts <= (MOST_PARTS if is_real else MOST_PARTS_OF_COMPLEX):
            yield from nested_identities(self._spec, run, known, complete)
        if not is_first:
            return
        self._first_runs.append(run)
        if parts > MOST_PARTS and is_real:
            self._too_large.append(run)
        if self._needs_third and is_real and _is_curved(run):
            self._without_third.append(run)
            is_small = parts <= _MOST_PARTS_OF_THIRD and _has_few_parameters(run)
            if is_small and self._prove_third(run):
                self._needs_third = False
                self._without_third.clear()

    def _prove_third(self, run: Run) -> bool:
        """Decide third derivatives with symbols; False if that cannot be done.

        Numbers of the third order are rounded on the way, so a difference only raises a suspicion.
        """
        complete = partial(run.inputs.complete, run.point, random.Random(self._spec.name))
        third = list(third_identities(self._spec, run, complete))
        region = Region(run.point, (*run.decisions, *run.inputs.conditions))
        if any(compare(i.got, i.expected, region).status is not Status.PROVED for i in third):
            return False
        self._proved += len(third)
        return True

    def decide_with_numbers(self) -> int:
        """Compare what symbols were too many for; answers how much was compared besides.

        Raises Mismatch where a derivative is wrong.
        """
        second = [check_second_order(_place(self._spec, run)) for run in self._too_large]
        third = [check_third_order(_place(self._spec, run)) for run in self._without_third]
        return self._proved + sum(second) + sum(third)

    def notes(self) -> list[str]:
        """Say what rests on numbers."""
        found = []
        for what, runs in (
            ("second derivatives in nested modes", self._too_large),
            ("third derivatives", self._without_third),
        ):
            if runs:
                calls = ", ".join(show_call(self._spec, run.inputs) for run in runs)
                found.append(f"{what} of {calls} were compared with differences at a point")
        return found


def reads_what_it_made(spec: OpSpec) -> bool:
    """Return whether a rule reads more than arguments.

    That is an output, something that the node keeps, or what a private op made for it.
    """
    outputs = {output.name for output in spec.signature.outputs}
    for rule in (rule for _, rule in (*spec.vjps, *spec.jvps)):
        if isinstance(rule, Formula) and (
            outputs & free_names(rule.block)
            or shared_assignments(rule.block, spec.implementation)
            or any(call.function.startswith("_") for call in calls(rule.block))
        ):
            return True
    return False


def _is_curved(run: Run) -> bool:
    """Return whether the second derivatives are not all zero."""
    return any(array is not None and array.any() for array in run.second.values())


def _has_few_parameters(run: Run) -> bool:
    arrays = [run.array(leaf) for leaf in run.leaves]
    few = sum(array.size for array in arrays) <= _MOST_PARAMETERS_OF_THIRD
    return few and not any(map(is_parametrized, arrays))


def _is_complex(run: Run) -> bool:
    arrays = [run.array(leaf) for leaf in run.leaves]
    return any(
        is_complex(expr) for array in (*arrays, *run.outputs.values()) for expr in array.flat
    )


def _place(spec: OpSpec, run: Run) -> Place:
    arrays = {leaf: run.array(leaf) for leaf in run.leaves}
    symmetric = frozenset(name for (name, _), array in arrays.items() if _is_symmetric(array))
    values = numeric_values(run.inputs, run.point)
    return Place(spec, values, run.leaves, "at a point", symmetric)


def _is_symmetric(array: Array) -> bool:
    """Return whether matrices of expressions are their own transposes."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] == 1:
        return False
    return bool(np.all(array == np.swapaxes(array, -1, -2)))
