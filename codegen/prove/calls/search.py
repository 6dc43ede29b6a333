"""Go through the calls of an op with numbers; the first that shows a wrong rule is reported."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...spec.model import Example, OpSpec
from ...spec.structure import unmet
from ...spec.vocabulary import FACTORIZATIONS
from ..identities.higher_orders import reads_what_it_made
from ..identities.identity import Mismatch
from ..identities.run import argument
from ..inputs.divisors import POINTS, Divisors
from ..inputs.domain import is_at_gap, is_inside
from ..inputs.smallest_call import smallest_call
from ..inputs.unproved import is_unproved
from ..numeric.limits import Place, check_third_order
from .allowed import allowed_calls
from .branches import Branches, Path
from .budget import (
    FARTHER_FOR_HELPERS,
    FEWEST_SPECIAL,
    MOST_CALLS,
    MOST_EXCLUDED,
    MOST_FARTHER,
    MOST_OF_OTHERS,
    MOST_OF_THIRD_ORDER,
    MOST_ON_PATHS,
    MOST_PATHS,
    MOST_SPECIAL,
    MOST_SPECIAL_OF_ELEMENTS,
    MOST_STRUCTURES,
    MOST_TOGETHER,
    MOST_TURNED,
    MOST_USUAL,
    most_calls,
)
from .call import STEP, NoCall, NoSlope, float_leaves
from .cut_off import CutOff
from .every_size import calls_of_every_size, long_calls
from .judge import SINGLE_TOLERANCE, SINGLE_TOLERANCE_BY_DTYPE, Judge
from .kernel import compare_kernel
from .meant import suggestion
from .measures import is_finite, show
from .mentioned import special_numbers, tells_dtypes_apart
from .other_data import check_other_data
from .own_kernels import has_own_kernels
from .points import (
    SYMMETRIC,
    arguments,
    infinite_points,
    reads_one_half,
    special_points,
    usual_points,
)
from .points import NoCall as NoArguments
from .required_shapes import with_required_shapes
from .structures import (
    attributes,
    farther,
    has_factors,
    structures,
    unlike_extents,
    with_complex,
    with_mirrored_extents,
    with_other_shapes,
    with_unlike_extents,
)
from .together import Together


class WrongCall(Exception):
    """A call at which a rule is wrong."""

    def __init__(self, call: str, mismatch: Mismatch, suggestion: str) -> None:
        super().__init__(str(mismatch))
        self.call = call
        self.mismatch = mismatch
        self.suggestion = suggestion


class UnreachedCondition(Mismatch):
    """A condition of a formula that every call takes the same way."""


@dataclass(frozen=True, slots=True)
class Covered:
    """Counts of what a search went through."""

    calls: int = 0
    comparisons: int = 0
    conditions: int = 0


def search_calls(spec: OpSpec, examples: tuple[Example, ...]) -> Covered:
    """Judge calls near the examples, and those that take conditions of the formulas another way.

    Raises WrongCall, and UnreachedCondition.
    """
    if spec.composite is not None:
        return Covered()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _search(_Search(spec, examples))


def _search(search: _Search) -> Covered:
    spec = search.spec
    search.near()
    search.together()
    if search.farther():
        search.together()
    search.every_size()
    if has_own_kernels(spec):
        search.long_ones()
    if spec.differentiable_params and not search.compared:
        raise UnreachedCondition(
            "the derivative", spec.differentiable_params[0], "could be compared at no call"
        )
    for condition in search.branches.missing():
        if condition.is_of_helper or not condition.unreached:
            continue
        side = " and ".join(map(str, condition.unreached)).lower()
        label = f"the condition `{condition.text}` of `{condition.key}`"
        message = f"is {side} at no call that was found: what is computed then is not proved"
        raise UnreachedCondition(label, condition.key, message)
    return Covered(search.calls, search.compared, len(search.branches.conditions))


class _Search:
    """The calls judged so far, and the conditions they took."""

    def __init__(self, spec: OpSpec, examples: tuple[Example, ...]) -> None:
        self.spec = spec
        self.examples = examples
        factored = [
            (n, next(iter(v))) for e in examples for n, v in e.args if isinstance(v, Mapping)
        ]
        self.has_factors = any(kind in FACTORIZATIONS for _, kind in factored)
        symmetric = {name for name, kind in factored if kind in SYMMETRIC}
        halves = {name for name in symmetric if reads_one_half(spec, examples, name)}
        self.symmetric = frozenset(halves)
        """The arguments of which one half is read: they move in symmetric directions."""
        self.tilted = symmetric - halves
        """Those that examples give as symmetric matrices, though the op reads all of them."""
        self.rng = np.random.default_rng(zlib.crc32(spec.name.encode()))
        tensors = spec.signature.tensor_params
        plain = [p for p in spec.signature.params if p not in tensors or p.type.is_optional]
        self.has_several_attributes = len(plain) > 1
        self.most = most_calls(spec)
        self.numbers = special_numbers(spec)
        self.single_tolerance = (
            SINGLE_TOLERANCE_BY_DTYPE if tells_dtypes_apart(spec) else SINGLE_TOLERANCE
        )
        self.branches = Branches(spec)
        self.cut_off = CutOff(spec)
        self.divisors = Divisors(spec, self.branches.names)
        self.seen: set[Path] = set()
        """Ways through the conditions of which a call was looked at closer."""
        self.calls = self.compared = 0
        self.path: Path = frozenset()
        """Outcomes of the conditions at the last call."""
        self.paths: dict[Path, dict[str, Any]] = {}
        """The first call that took them in each way."""
        self.known = Together(spec, examples, self.branches.conditions)
        self.excluded: list[dict[str, Any]] = []
        """Calls that `requires` excludes, each the first to answer a condition in its way."""
        self.meant = [arguments(spec, dict(example.args), self.rng) for example in examples]

    def near(self) -> None:
        """Judge every near call at a usual point, and the first ones where points are special."""
        few: list[tuple[dict[str, Any], int | None]] = []
        accepted: list[dict[str, Any]] = []
        known = [_shapes(self.spec, dict(example.args)) for example in self.examples]
        found = self._as_required(structures(self.spec, self.examples, MOST_STRUCTURES))
        for number, args in enumerate(found):
            is_call = self._usual(args, 2 if number < 3 else 1)
            if self.calls >= self.most:
                return
            if not is_call or has_factors(args):
                continue
            accepted.append(args)
            if self._is_new_path(args):
                continue
            if number < (MOST_SPECIAL_OF_ELEMENTS if self.spec.is_pointwise else MOST_SPECIAL):
                few.append((args, None))
            elif _shapes(self.spec, args) in known:  # another flag or number
                few.append((args, MOST_OF_OTHERS))
        if accepted:
            self._attributes_of_unlike(max(accepted, key=unlike_extents))
        if self.has_several_attributes:
            most = min(int(MOST_USUAL * self.most), self.calls + MOST_ON_PATHS)
            for args in list(self.paths.values()):
                self._attributes(args, most)
        each = max(FEWEST_SPECIAL, MOST_ON_PATHS // max(len(self.paths), 1))
        for args in self.paths.values():
            self._look_everywhere(args, each)
        for args, bound in few:
            self._look_at_special(args, bound)
        for args in self.paths.values():
            for larger in self._as_required(with_other_shapes(self.spec, args)):
                self._usual(larger, 1)
        self._third_order(accepted)

    def _is_new_path(self, args: dict[str, Any]) -> bool:
        """Keep a call that was judged if it is the first to take the conditions in its way."""
        if self.path in self.paths or len(self.paths) >= MOST_PATHS:
            return False
        self.paths[self.path] = args
        return True

    def _as_required(self, several: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Calls, and those made of them that have the shapes which `requires` asks for."""
        seen: set[str] = set()
        for args in several:
            yield args
            changed = with_required_shapes(self.spec, args) if self.spec.requires else args
            if changed != args and (key := repr(changed)) not in seen:
                seen.add(key)
                yield changed

    def _attributes_of_unlike(self, args: dict[str, Any]) -> None:
        """Judge the call whose extents are most unlike with every flag, then it turned round.

        The second half comes on top of all other calls: special points need theirs.
        """
        self._attributes(args, int(MOST_USUAL * self.most))
        turned = with_mirrored_extents(self.spec, args)
        before = self.calls
        if turned != args and self._usual(turned, 1):
            self._attributes(turned, self.calls + MOST_TURNED)
        self.most += self.calls - before

    def _attributes(self, args: dict[str, Any], most: int) -> None:
        """Judge a call with every flag and number, until `most` calls are judged."""
        for changed in self._as_required(attributes(self.spec, self.examples, args)):
            if self.calls >= most:
                return
            if self._usual(changed, 1):
                self._is_new_path(changed)

    def _look_everywhere(self, args: dict[str, Any], most: int) -> None:
        """Judge a call with complex numbers, and at special points, up to `most` calls.

        A factorization may jump where an element is zero: it has no slope there.
        """
        for changed in with_complex(self.spec, args):
            self._usual(changed, 1)
        self._look_at_special(args, most)
        if not self.has_factors:
            self._look_at_infinity(args)
            self._look_at_zero_divisors(args)

    def _look_at_special(self, args: dict[str, Any], most: int | None) -> None:
        for values in islice(special_points(self.spec, args, self.rng, self.numbers), most):
            if self.calls >= self.most:
                return
            self.look_at(values, False)

    def _look_at_infinity(self, args: dict[str, Any]) -> None:
        """Judge a call where an element is infinite, or nan: nan is an answer there."""
        values = arguments(self.spec, args, np.random.default_rng(0))
        if not is_unproved(self.spec, values):
            for changed in infinite_points(values):
                self.look_at(changed, False)

    def _look_at_zero_divisors(self, args: dict[str, Any]) -> None:
        """Judge calls at which what a rule divides by is zero."""
        if self.divisors.count:
            points = self._drawn(args, POINTS, np.random.default_rng(0))
            for values in self.divisors.vanishing(points):
                self.look_at(values, False)

    def _third_order(self, several: list[dict[str, Any]]) -> None:
        """Compare third derivatives at calls that differ from the first in more than shapes.

        By the lemma of orders they are right if those of the private ops are that rules call; and
        of these only calls are judged that their own examples lead to.
        """
        if not reads_what_it_made(self.spec):
            return
        unlike: dict[str, dict[str, Any]] = {}
        for args in several:
            unlike.setdefault(_attributes(self.spec, args), args)
        for args in list(unlike.values())[1 : MOST_OF_THIRD_ORDER + 1]:
            for values in usual_points(self.spec, args, self.rng, 1):
                floats = float_leaves(self.spec, values)
                leaves = [leaf for leaf in floats if leaf[0] in self.spec.differentiable_params]
                is_real = all(argument(values, leaf).dtype.kind == "f" for leaf in leaves)
                if not is_real or is_unproved(self.spec, values):
                    continue
                try:
                    self.compared += check_third_order(Place(self.spec, values, leaves, "here"))
                except Mismatch as mismatch:
                    raise self._wrong(values, mismatch) from None

    def _usual(self, args: dict[str, Any], count: int) -> bool:
        """Judge calls at usual points; return whether the op takes such calls."""
        is_call = False
        for values in self._drawn(args, count):
            before = self.branches.count_excluded()
            is_call |= self.look_at(values, True)
            if self.branches.count_excluded() > before:
                self.excluded.append(args)
            if self.tilted:
                self.look_at(values | {n: _tilt(values[n]) for n in self.tilted}, True)
        if is_call:
            self.known.add(args, self.path)
        return is_call

    def _drawn(
        self, args: dict[str, Any], count: int, rng: np.random.Generator | None = None
    ) -> list[dict[str, Any]]:
        """Arguments at usual points; none if there are none of these shapes."""
        try:
            return list(usual_points(self.spec, args, rng or self.rng, count))
        except (NoArguments, ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            return []

    def together(self) -> None:
        """Judge calls that take several conditions together as none before, and larger ones."""
        found = list(self._together(self.calls + MOST_TOGETHER))
        for args in found[:MOST_PATHS]:
            for larger in self._as_required(with_other_shapes(self.spec, args)):
                self._usual(larger, 1)

    def _together(self, most: int) -> Iterator[dict[str, Any]]:
        for args in self._as_required(self.known.calls(self.most / MOST_CALLS)):
            for values in self._drawn(args, 1):
                if self._takes_together(values) and self.look_at(values, True):
                    self.known.add(args, self.path)
                    self._usual(with_unlike_extents(self.spec, args), 1)
                    yield args
            if self.calls >= most:
                return

    def farther(self) -> bool:
        """Judge calls that take a condition another way than those before; return whether any."""
        is_any = False
        if not self.branches.missing():
            return is_any
        self._special_on_paths()
        found = self._as_required(farther(self.spec, self.examples, MOST_FARTHER))
        for number, args in enumerate(found):
            for values in self._drawn(args, 1):
                if self._takes_another_way(values):
                    if self.look_at(values, True):
                        is_any = True
                        self.known.add(args, self.path)
                    self._look_everywhere(args, FEWEST_SPECIAL)
            if not (missing := self.branches.missing()):
                return is_any
            if number > FARTHER_FOR_HELPERS and all(each.is_of_helper for each in missing):
                break
        return self._allowed() or is_any

    def _allowed(self) -> bool:
        """Judge calls made of excluded ones that take a condition as these do; whether any."""
        is_any = False
        for args in self.excluded[:MOST_EXCLUDED]:
            if not self.branches.answered_when_excluded():
                break
            for changed in allowed_calls(self.spec, self.examples[0], args):
                for values in self._drawn(changed, 1):
                    if self._answers(values)[0] and self.look_at(values, True):
                        is_any = True
                        self.known.add(changed, self.path)
                if not self.branches.answered_when_excluded():
                    break
        return is_any

    def _special_on_paths(self) -> None:
        """Judge the special points that were left out for their number, if they answer anew."""
        for args in list(self.paths.values()):
            for values in special_points(self.spec, args, self.rng, self.numbers):
                if not self.branches.missing():
                    return
                if self._takes_another_way(values):
                    self.look_at(values, False)

    def every_size(self) -> None:
        """Compare a kernel with the definition at every small extent and whole number."""
        for args in calls_of_every_size(self.spec, self.examples):
            for values in self._drawn(args, 1):
                if unmet(self.spec, values) is None and not is_unproved(self.spec, values):
                    try:
                        with np.errstate(all="ignore"):
                            compare_kernel(self.spec, values)
                    except Mismatch as mismatch:
                        raise self._wrong(values, mismatch) from None

    def long_ones(self) -> None:
        """Compare a kernel of one's own, and the rules beside it, at long arrays."""
        for args in long_calls(self.spec, self.examples, self._along_lines):
            self._along_lines(args)

    def _along_lines(self, args: dict[str, Any]) -> None:
        """Compare a call with its definition, and first derivatives along lines."""
        for values in self._drawn(args, 1):
            if unmet(self.spec, values) is not None or is_unproved(self.spec, values):
                return
            judge = Judge(self.spec, values, np.random.default_rng(self.calls), True)
            try:
                with np.errstate(all="ignore"):
                    judge.start()
                    judge.compare_along_lines()
            except Mismatch as mismatch:
                raise self._wrong(values, mismatch) from None
            except (NoSlope, NoCall):
                return
            except Exception:
                if judge.outputs:
                    raise  # a fault of the judge

    def _wrong(self, values: dict[str, Any], mismatch: Mismatch) -> WrongCall:
        return WrongCall(
            show(self.spec, values), mismatch, suggestion(self.spec, self.meant, values)
        )

    def _takes_another_way(self, values: dict[str, Any]) -> bool:
        """Return whether a call takes a condition another way; one that is not meant may."""
        return unmet(self.spec, values) is not None or self._answers(values)[0]

    def _takes_together(self, values: dict[str, Any]) -> bool:
        """Return whether a call that is meant takes conditions together as none before."""
        return unmet(self.spec, values) is None and self.known.is_new(self._answers(values)[1])

    def _answers(self, values: dict[str, Any]) -> tuple[bool, Path]:
        """Return whether a call answers a condition in a new way, with its answers; forget them."""
        conditions = self.branches.conditions
        before = [(set(c.answers), set(c.of_nothing)) for c in conditions]
        found, path = False, Path()
        try:
            with np.errstate(all="ignore"):
                judge = Judge(self.spec, values, self.rng, True)
                with suppress(NoSlope):
                    judge.start()
                found = self._note(judge)
                path = self.branches.path
        except Exception:
            pass  # no call of the op
        for condition, (answers, of_nothing) in zip(conditions, before, strict=True):
            condition.answers, condition.of_nothing = answers, of_nothing
        return found, path

    def _note(self, judge: Judge, is_excused: bool = False) -> bool:
        if not judge.outputs:
            return self.branches.note_refused(judge.values)
        if not self.branches.conditions:
            return False
        tangents = {leaf: judge.line(leaf) for leaf in judge.leaves}
        known = judge.values, judge.outputs, judge.weights
        return self.branches.note(*known, tangents, is_excused)

    def look_at(self, values: dict[str, Any], is_usual: bool) -> bool:
        """Judge a call, if its rules claim to be derivatives there; return whether it is one."""
        if unmet(self.spec, values) is not None:
            with np.errstate(all="ignore"):
                self.branches.note_excluded(values)
            return False
        if is_unproved(self.spec, values):
            with suppress(Exception), np.errstate(all="ignore"):
                judge = Judge(self.spec, values, self.rng, True)
                judge.start()
                self._note(judge)
            return True
        try:
            return self._judge(values, is_usual, STEP)
        except Mismatch:
            try:
                return self._judge(values, is_usual, STEP / 16)
            except Mismatch as mismatch:
                wrong, found = smallest_call(values, mismatch, partial(self._mismatch_at, is_usual))
                raise self._wrong(wrong, found) from None

    def _mismatch_at(self, is_usual: bool, values: dict[str, Any]) -> Mismatch | None:
        """Return what is wrong at another call than the one that was refused; None for no call."""
        if unmet(self.spec, values) is not None or is_unproved(self.spec, values):
            return None
        found = None
        with suppress(Exception):
            for step in (STEP, STEP / 16):
                try:
                    self._judge(values, is_usual, step)
                except Mismatch as mismatch:
                    found = mismatch
                else:
                    return None
        return found

    def _judge(self, values: dict[str, Any], is_usual: bool, step: float) -> bool:
        rng = np.random.default_rng(self.calls)
        inside = is_usual or (is_inside(self.spec.domain, values) and not _has_infinities(values))
        gap = not is_usual and is_at_gap(self.spec.domain, values)
        judge = Judge(self.spec, values, rng, is_usual, inside, gap, step)
        judge.has_factors, judge.symmetric = self.has_factors, self.symmetric
        judge.single_tolerance = self.single_tolerance
        is_excused = False
        try:
            with np.errstate(all="ignore"):
                try:
                    compared = judge.run()
                except NoCall:
                    is_excused = True
                    raise
                finally:
                    self._note(judge, is_excused)
                    self.path = self.branches.path
                    for each in judge.others:
                        self._note(each)
        except Mismatch:
            raise
        except NoSlope:
            return True
        except NoCall:
            return False
        except Exception:
            if judge.outputs:
                raise  # a fault of the judge: what the op accepts is not left out for it
            return False  # no call of the op
        self.compared += compared
        self.calls += 1
        if is_usual and self.path not in self.seen and len(self.seen) < MOST_PATHS:
            self._look_closer(judge)
            self.seen.add(self.path)
        return True

    def _look_closer(self, judge: Judge) -> None:
        """Compare what need not be at every call, but on each way through the conditions."""
        tangents = {leaf: judge.line(leaf) for leaf in judge.leaves}
        known = judge.values, judge.outputs, judge.weights, tangents
        with np.errstate(all="ignore"):
            self.cut_off.check(self.branches.names(*known))
            check_other_data(judge)


def _attributes(spec: OpSpec, args: dict[str, Any]) -> str:
    """Describe the arguments that are no tensors, and the tensors that are left out."""
    tensors = {param.name for param in spec.signature.tensor_params}
    return repr(
        [
            args.get(p.name) is None if p.name in tensors else args.get(p.name, p.default)
            for p in spec.signature.params
        ]
    )


def _shapes(spec: OpSpec, args: dict[str, Any]) -> list[Any]:
    return [args.get(param.name) for param in spec.signature.tensor_params]


def _has_infinities(values: dict[str, Any]) -> bool:
    arrays = (value for value in values.values() if isinstance(value, np.ndarray))
    return not all(map(is_finite, arrays))


def _tilt(matrix: Any) -> Any:
    return matrix + np.triu(np.full_like(matrix, 0.25), 1) if np.ndim(matrix) > 1 else matrix
