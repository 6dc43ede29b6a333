"""Find the batching rules of an op, and hold them against the examples one by one.

A rule that holds at every call that it fits, with numbers, is kept; of several those that fit the
most calls. What is kept must hold on symbols, and its gradients and tangents must be those of the
examples one by one, at kinks and ties, too. Where no rule fits, the runtime loops.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ...spec.model import OpSpec
from ...spec.vocabulary import FORMULA
from ..identities.identity import Mismatch
from ..report.verdict import Batching
from ..symbolic.decisions import tracing
from ..symbolic.symbols import expressions
from ..zero.is_zero import How, Region, compare
from .candidates import SAME, candidates
from .cases import Case, cases_with_numbers, cases_with_symbols, further_cases, stack
from .derivatives import compare_derivatives
from .run import has_formula, run_batched

_FEWEST = 0.05
"""A rule that fits a smaller part of the calls is none."""

_ENOUGH = 0.9
"""Fraction of the calls that arrangements must fit for a formula to be unneeded."""

_FEWEST_SAME = 20
"""Number of calls after which a result counts as the same for all examples."""

_TOLERANCE = 1e-9

_LARGE = 1e8
"""Larger results may come of a singular matrix, of which rounding makes a regular one."""


def find_batching(spec: OpSpec) -> Batching | None:
    """The rules of an op; None if it only calls other ops, as these have theirs.

    Raises Mismatch where the rule that the spec declares is wrong.
    """
    if spec.composite is not None:
        return None
    cases, symbolic = list(cases_with_numbers(spec)), list(cases_with_symbols(spec))
    if spec.batch is not None:
        _check_declared(spec, cases, symbolic)
    chosen = _tried(spec, cases, symbolic)
    fitting = set().union(*chosen.values())
    exact = sum(any(_holds_on_symbols(text, case) for text in chosen) for case in symbolic)
    return Batching(tuple(chosen), len(fitting), len(cases), exact)


def _check_declared(spec: OpSpec, cases: list[Case], symbolic: list[Case]) -> None:
    from gradspec.batching.batched import NoFit

    for case in cases:
        if _holds(FORMULA, case) is False:
            raise _wrong(case, "is not that of the examples one by one")
        with suppress(NoFit):
            if not case.for_results_alone:
                compare_derivatives(FORMULA, case)
    for case in symbolic:
        _holds_on_symbols(FORMULA, case)


def _tried(spec: OpSpec, cases: list[Case], symbolic: list[Case]) -> dict[str, set[int]]:
    """The rules that fit most calls, and are wrong at no further one.

    A rule that fits few calls may do so by chance.
    """
    wrong: set[str] = set()
    known: dict[str, set[int]] = {}
    further = list(further_cases(spec))
    while True:
        chosen = _chosen(spec, cases, symbolic, wrong, known)
        refuted = {text for text in chosen if any(_is_wrong(text, case) for case in further)}
        if not refuted:
            return chosen
        wrong |= refuted


def _chosen(
    spec: OpSpec,
    cases: list[Case],
    symbolic: list[Case],
    wrong: set[str],
    known: dict[str, set[int]],
) -> dict[str, set[int]]:
    """The rules that fit most calls, with the numbers of these, but for those known as `wrong`.

    What each fits is `known` from the round before, if there was one.
    """
    found: dict[str, set[int]] = {}
    covered: set[int] = set()
    for text in candidates(spec):
        if text in wrong:
            continue
        if text not in known:
            if not _fits_another(text, cases, covered):
                continue
            known[text] = _fitting(text, cases, symbolic)
        if fits := known[text]:
            found[text] = fits
            covered |= fits
            if len(fits) == len(cases):
                return {text: fits}
    chosen = _best(found, set(range(len(cases))), 3)
    fitting = set().union(*chosen.values())
    if len(fitting) > _ENOUGH * len(cases) or not has_formula(spec) or FORMULA in wrong:
        return chosen
    if FORMULA not in known:
        known[FORMULA] = _fitting(FORMULA, cases, symbolic)
    fits = known[FORMULA]
    return _best(chosen, set(range(len(cases))), 2) | ({FORMULA: fits} if fits else {})


def _fits_another(text: str, cases: list[Case], covered: set[int]) -> bool:
    """Return whether a rule fits a call that none so far fits: else it adds nothing."""
    left = (case for number, case in enumerate(cases) if number not in covered)
    answers = (_holds(text, case) for case in left)
    return bool(next((holds for holds in answers if holds is not None), False))


def _best(found: dict[str, set[int]], left: set[int], most: int) -> dict[str, set[int]]:
    """Choose a number of rules that together fit most calls."""
    chosen: dict[str, set[int]] = {}
    while found and len(chosen) < most:
        text = max(found, key=lambda text: len(found[text] & left))
        if not found[text] & left:
            break
        chosen[text] = found[text]
        left = left - found[text]
    return chosen


def _fitting(text: str, cases: list[Case], symbolic: list[Case]) -> set[int]:
    """The numbers of the calls that a rule fits; none if it is wrong at any."""
    found = set()
    for number, case in enumerate(cases):
        holds = _holds(text, case)
        if holds is False:
            return set()
        if holds:
            found.add(number)
    if len(found) < _FEWEST * len(cases) or not _is_told(text, [cases[n] for n in found], cases):
        return set()
    try:
        for case in (cases[number] for number in sorted(found)):
            if not case.for_results_alone:
                compare_derivatives(text, case)
        for case in symbolic:
            _holds_on_symbols(text, case)
    except Exception:
        return set()  # as of ops that formulas call, which need not broadcast their gradients
    return found


def _is_told(text: str, fitting: list[Case], cases: list[Case]) -> bool:
    """Return whether the calls could tell the rule wrong.

    Where an op can tell the examples of some arguments from each other, a rule must fit a call that
    does; and where others have dimensions, one at which they have. The rule of results that are the
    same for all examples needs many calls, and none that tells.
    """
    chosen = {case.batched for case in fitting}
    others = [case for case in cases if case.batched in chosen]
    if _share_dimensions(others) and not _share_dimensions(fitting):
        return False
    telling = {case.batched for case in cases if case.tells()}
    if text == SAME:
        return len(fitting) >= _FEWEST_SAME and not telling
    told = {case.batched for case in fitting if case.tells()}
    return chosen & telling <= told


def _share_dimensions(cases: list[Case]) -> bool:
    return any(case.shares_dimensions() for case in cases)


def _holds(text: str, case: Case) -> bool | None:
    """Return whether a rule gives the results one by one.

    None where it does not fit, or the results are those of a singular matrix.
    """
    from gradspec.batching.batched import NoFit

    try:
        outputs = _results(text, case)
    except NoFit:
        return None
    except Exception:
        return False
    return _are_equal(outputs, case)


def _is_wrong(text: str, case: Case) -> bool:
    """Return whether a rule gives other results than the examples; where it raises, vmap loops."""
    try:
        outputs = _results(text, case)
    except Exception:
        return False
    return _are_equal(outputs, case) is False


def _results(text: str, case: Case) -> dict[str, Any]:
    from gradspec.core.modes import no_grad

    with no_grad(), np.errstate(all="ignore"):
        return run_batched(text, case)


def _are_equal(outputs: dict[str, Any], case: Case) -> bool | None:
    """Return whether results are those one by one; None if these are of a singular matrix."""
    if all(_equal(outputs[name], case, name) for name in case.results[0]):
        return True
    return None if _is_singular(case) else False


def _is_singular(case: Case) -> bool:
    """Return whether results are no numbers, or large, and the last digits decide on them.

    Such are those of a singular matrix.
    """
    arrays = [each.array for row in case.results for each in row.values() if hasattr(each, "array")]
    sizes = [np.abs(array).max(initial=0) for array in arrays]
    if case.for_results_alone or all(size <= _LARGE for size in sizes):
        return False
    rng = np.random.default_rng(0)
    rows = [{name: _rounded(value, rng) for name, value in row.items()} for row in case.rows]
    near = Case(case.spec, rows, case.batched)
    return not near.run() or not all(
        np.isfinite(one.array).all() and _are_close(again[name].array, one.array)
        for again, row in zip(near.results, case.results, strict=True)
        for name, one in row.items()
        if hasattr(one, "array")
    )


def _rounded(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, list):
        return [_rounded(item, rng) for item in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    digit = np.finfo(value.dtype).eps
    return (value * (1 + digit * rng.choice((-1.0, 1.0), value.shape))).astype(value.dtype)


def _equal(found: Any, case: Case, name: str) -> bool:
    wanted = [row[name] for row in case.results]
    if not hasattr(found, "array"):
        return all(found == each for each in wanted)
    return _are_close(found.array, stack([each.array for each in wanted]))


def _are_close(found: Any, wanted: Any) -> bool:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind not in "fc":
        return bool((found == wanted).all())
    exact = found.dtype.itemsize in (8, 16) and found.dtype != np.complex64
    tolerance = _TOLERANCE if exact else 1e-5
    size = np.abs(wanted[np.isfinite(wanted)]).max(initial=1.0)
    return bool(np.allclose(found, wanted, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _wrong(case: Case, message: str) -> Mismatch:
    shapes = ", ".join(f"{name} {_shown(value)}" for name, value in case.rows[0].items())
    which = ", ".join(case.batched)
    return Mismatch("batched result", "batch", f"{message}: examples of {which} for {shapes}")


def _shown(value: Any) -> str:
    return str(list(value.shape)) if isinstance(value, np.ndarray) else repr(value)


def _holds_on_symbols(text: str, case: Case) -> bool:
    """Return whether the results are those one by one as expressions; False where that is open.

    Raises Mismatch where they are not.
    """
    from gradspec.batching.batched import NoFit
    from gradspec.core.modes import no_grad

    assert case.point is not None
    try:
        with no_grad(), tracing(case.point):
            outputs = run_batched(text, case)
    except NoFit:
        return False
    except Exception:
        return False  # no symbols stand for the call
    for name, first in case.results[0].items():
        if not hasattr(first, "array") or first.array.dtype != object:
            continue
        wanted = np.stack([expressions(row[name].array) for row in case.results])
        found = expressions(outputs[name].array)
        if found.shape != wanted.shape:
            raise _wrong(case, f"{name} has shape {found.shape}, not {wanted.shape}")
        for got, expected in zip(found.flat, wanted.flat, strict=True):
            if got == expected:
                continue
            how = compare(got, expected, Region(case.point, ())).how
            if how is How.REFUTED:
                raise _wrong(case, f"{name} is {got}, and {expected} one by one")
            if how is How.NUMBERS:
                return False
    return True
