"""Proves one op: every example, every chamber, every identity."""

from __future__ import annotations

import operator
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from sympy import S

from ...render.to_sympy import NotSymbolic
from ...spec.elementwise import is_elementwise
from ...spec.model import AutoElementwise, Example, OpSpec
from ...spec.structure import shape_only, unmet
from ..batching.find import find_batching
from ..calls.first_calls import NoExamples, smaller_example, with_examples
from ..calls.search import UnreachedCondition, WrongCall, search_calls
from ..deadline import PROOF_SECONDS, TimeUp, time_limit
from ..inputs.chambers import Chambers
from ..inputs.draw import build, examples_of
from ..inputs.isolated import isolated_identities
from ..inputs.kinks import (
    is_derived,
    kink_identities,
    single_elements,
    undeclared,
)
from ..inputs.layouts import check_layouts
from ..inputs.special_points import check_special_points
from ..numeric.sampling import check_numerically
from ..numeric.sweep import is_usual, sweep
from ..report.counterexample import counterexample, show_call
from ..report.recorder import Silence
from ..report.verdict import LOST, Batching, Counterexample, OpVerdict, Status, worst
from ..symbolic.complex_numbers import complex_examples, complex_numbers_given
from ..symbolic.decisions import ProofError
from ..symbolic.derivatives import Derivatives
from ..symbolic.special_values import special_examples
from ..zero.is_zero import Region, compare
from ..zero.number_fields import numeric_values
from .agreement import NumbersDiffer, check_agreement, check_definition
from .definition import evaluate_definition
from .higher_orders import HigherOrders
from .identity import (
    Identity,
    Mismatch,
    duality,
    identities,
    kernel_at_tie,
)
from .run import Run, execute

EXAMPLE_SECONDS = 10.0
"""Time for an example of which there is a smaller one."""

FOUND_SECONDS = 4.0
"""Time if the author gave none: another will do."""

EXTRA_SECONDS = 8.0
"""A call that no example makes is then left to differences: symbols may be too many for it."""


def prove_op(
    spec: OpSpec, seconds: float = PROOF_SECONDS, recorder: Silence | None = None
) -> OpVerdict:
    """The verdict on one op of the generated package; never raises for what the op does.

    It is given up after `seconds` of computing. `recorder` hears what was proved.
    """
    started, started_computing = time.perf_counter(), time.process_time()
    proof = _Proof(spec, recorder or Silence())
    try:
        with time_limit(seconds):
            proof.prove()
    except NoExamples as none:
        proof.fail(str(none))
    except TimeUp:
        proof.give_up(time.process_time() - started_computing)
    except Exception as error:
        proof.fail(_call_of_nan(spec) or f"{type(error).__name__}: {error}{proof.where}")
    return proof.verdict(time.perf_counter() - started)


def _call_of_nan(spec: OpSpec) -> str:
    """Say at which example nothing that `forward` gives is a number; nothing if there is none."""
    with suppress(Exception), np.errstate(all="ignore"):
        for example in examples_of(spec):
            inputs = build(spec, example)
            values = numeric_values(inputs, inputs.draw(random.Random(spec.name)))
            results = evaluate_definition(spec, values).values()
            if all(array.size and np.isnan(array).all() for array in results):
                return (
                    f"`forward` gives no number at {show_call(spec, inputs)}: give `examples` at "
                    "which it does; `requires` and `domain` say which calls are meant"
                )
    return ""


class _Refuted(Exception):
    def __init__(self, found: Counterexample) -> None:
        super().__init__(found.label)
        self.found = found


_Proved = set[tuple[object, object]]
"""Pairs of expressions that are known to be equal."""


class _Proof:
    """The proof of one op so far."""

    def __init__(self, spec: OpSpec, recorder: Silence) -> None:
        self._spec = spec
        self._recorder = recorder
        self._statuses: set[Status] = set()
        self._identities = 0
        self._chambers = 0
        self._calls = 0
        self._conditions = 0
        self._found: Counterexample | None = None
        self._notes: list[str] = []
        self._batching: Batching | None = None
        self._is_piecewise = False
        self._higher_orders = HigherOrders(spec)
        self._call = spec.name
        """The example at hand."""
        self._spent: dict[str, float] = {}
        """The time each example took so far."""
        self._since = time.process_time()

    def prove(self) -> None:
        """Go through the examples, up to the first counterexample.

        Raises NoExamples.
        """
        patience = EXAMPLE_SECONDS if self._spec.examples else FOUND_SECONDS
        self._spec = with_examples(self._spec)
        try:
            if self._spec.proof == "numeric":
                self._notes.append(f"tested with numbers only: {self._spec.proof_reason}")
                for example in examples_of(self._spec):
                    inputs = build(self._spec, example)
                    point = inputs.draw(random.Random(self._spec.name))
                    self._identities += check_layouts(self._spec, inputs, point)
                self._identities += check_numerically(self._spec)
                self._search(examples_of(self._spec))
                self._statuses.add(Status.TESTED)
                self._batching = find_batching(self._spec)
                return
            examples = examples_of(self._spec)
            with_complex = complex_examples(self._spec, examples)
            for example in (*examples, *with_complex):
                self._example_or_smaller(example, patience)
            for example in chain(
                special_examples(self._spec, examples), complex_numbers_given(self._spec, examples)
            ):
                self._extra_example(example)
            self._at(self._spec.name)
            self._special_points(examples)
            self._identities += self._higher_orders.decide_with_numbers()
            self._notes += self._higher_orders.notes()
            self._search(examples)
            if is_elementwise(self._spec) and self._may_be_single(examples):
                self._sweep(examples)
                if self._spec.kinks or self._is_piecewise:
                    self._breakpoints(examples)
            self._batching = find_batching(self._spec)
            if Status.CERTIFIED in self._statuses and self._spec.proof == "symbolic":
                self.fail(
                    "some identities were not decided, and hold at random points only; "
                    "`proof: {certified: why}` accepts that"
                )
        except _Refuted as refuted:
            self._statuses.add(Status.REFUTED)
            nan = _call_of_nan(self._spec)
            self._found = replace(refuted.found, suggestion=nan) if nan else refuted.found
        except Mismatch as mismatch:
            self._statuses.add(Status.REFUTED)
            self._found = Counterexample(
                mismatch.label, mismatch.key, self._call, message=str(mismatch)
            )

    def fail(self, reason: str) -> None:
        """The proof could not be carried out."""
        self._statuses.add(Status.ERROR)
        self._notes.append(reason)

    @property
    def where(self) -> str:
        """The example at hand, for a message; nothing before the first one."""
        return "" if self._call == self._spec.name else f", in {self._call}"

    def give_up(self, seconds: float) -> None:
        """The time is over: say what took most of it."""
        self._at(self._call)
        call, longest = max(self._spent.items(), key=operator.itemgetter(1))
        self.fail(
            f"given up after {seconds:.0f} s, {longest:.0f} s of them on `{call}`; less to prove "
            "are smaller examples, and private ops (`_name`) for parts of a long formula"
        )

    def _at(self, call: str) -> None:
        """Go on to another example."""
        now = time.process_time()
        self._spent[self._call] = self._spent.get(self._call, 0.0) + now - self._since
        self._call, self._since = call, now

    def verdict(self, seconds: float) -> OpVerdict:
        """All of it."""
        return OpVerdict(
            self._spec.name,
            worst(list(self._statuses)),
            self._identities,
            self._chambers,
            seconds,
            self._found,
            tuple(self._notes),
            self._calls,
            self._conditions,
            self._batching,
        )

    def _example_or_smaller(self, example: Example, patience: float) -> None:
        """One to begin with; where its symbols take too long, one with an extent of one instead.

        Calls of other extents are judged with numbers, the example among them.
        """
        smaller = smaller_example(self._spec, example)
        if smaller is None:
            return self._example(example)
        before = set(self._statuses)
        try:
            with time_limit(patience):
                return self._example(example)
        except TimeUp:
            self._statuses = before
            why = "symbols took too long, so that a smaller call is proved on them"
            self._notes.append(f"{self._call} was tried with numbers only: {why}")
            self._recorder.left(example, why)
        return self._example(smaller)

    def _extra_example(self, example: Example) -> None:
        """One that the spec does not give: it may refute, but need not be possible."""
        if unmet(self._spec, shape_only(self._spec, example)) is not None:
            return
        try:
            with time_limit(EXTRA_SECONDS):
                self._example(example)
        except _Refuted:
            raise
        except Mismatch as mismatch:
            if mismatch.key != "forward":  # no symbols stand for such a call
                raise
            self._recorder.left(example, str(mismatch))
        except (Exception, TimeUp) as error:
            why = f"{type(error).__name__}: {error}" if str(error) else "symbols took too long"
            self._notes.append(f"{self._call} was tried with numbers only: {why}")
            self._recorder.left(example, why)

    def _special_points(self, examples: tuple[Example, ...]) -> None:
        """Compare derivatives at points set apart with those around them."""
        try:
            self._identities += check_special_points(self._spec, examples)
        except Mismatch as found:
            suggestion = "`unproved: {condition: why}` says that no derivative is meant there"
            raise _Refuted(
                Counterexample(
                    found.label, found.key, self._call, message=str(found), suggestion=suggestion
                )
            ) from None

    def _search(self, examples: tuple[Example, ...]) -> None:
        """Go through calls that no example makes, with numbers."""
        try:
            covered = search_calls(self._spec, examples)
        except WrongCall as wrong:
            label, key = wrong.mismatch.label, wrong.mismatch.key
            raise _Refuted(
                Counterexample(
                    label, key, wrong.call, message=str(wrong), suggestion=wrong.suggestion
                )
            ) from None
        except UnreachedCondition as unreached:
            raise _Refuted(
                Counterexample(
                    unreached.label,
                    unreached.key,
                    "",
                    message=str(unreached),
                    suggestion="give an example that reaches it, or leave out what is computed "
                    "then; `requires:` says which calls are meant",
                )
            ) from None
        self._calls, self._conditions = covered.calls, covered.conditions

    def _example(self, example: Example) -> None:
        inputs = build(self._spec, example)
        self._at(show_call(self._spec, inputs))
        self._recorder.call(example, self._call)
        # Symbols are called the same in every chamber, so most of these come up again.
        known, proved = Derivatives(), _Proved()
        chambers = Chambers(self._spec, inputs, random.Random(self._spec.name))
        runs = chambers.runs()
        first = next(runs)
        for run in chain([first], runs):
            self._chambers += 1
            self._is_piecewise |= any(decision.branches for decision in run.decisions)
            self._run(run, known, proved)
        self._identities += check_layouts(self._spec, inputs, first.point)
        unvisited = chambers.unvisited()
        self._ties(chambers)
        for run, identity in isolated_identities(self._spec, first):
            self._recorder.run("isolated", run)
            self._check(identity, run, Region(run.point, ()))
        if unvisited:
            shown = ", ".join(unvisited[:3]) + (" ..." if len(unvisited) > 3 else "")
            self._notes.append(f"{self._call}: never saw {shown}")

    def _ties(self, chambers: Chambers) -> None:
        """Check ties; skipped where the op or its gradient is not defined."""
        for place, run in chambers.ties():
            self._recorder.run("tie", run, place)
            for identity in kernel_at_tie(run, place):
                if S.NaN in (identity.got, identity.expected):  # floats may know a limit
                    self._identities += check_definition(self._spec, run, by_value=True)
                else:
                    self._check(identity, run, Region(run.point, ()))
            if run.tangents:
                with suppress(ProofError):
                    self._check(duality(run, place), run, Region(run.point, ()))

    def _may_be_single(self, examples: tuple[Example, ...]) -> bool:
        """Return whether the op is meant for single elements, on which elementwise ones are proved.

        Raises ProofError for an op that says it is elementwise and is not.
        """
        singles = (single_elements(self._spec, example) for example in examples)
        required = [unmet(self._spec, shape_only(self._spec, single)) for single in singles]
        refusing = next(filter(None, required), None)
        if refusing is not None and any(
            isinstance(rule, AutoElementwise) for _, rule in self._spec.jvps
        ):
            raise ProofError(
                "what is elementwise is proved on single elements, which `requires` refuses: "
                f"leave out `{refusing.formula.text.strip()}`"
            )
        if refusing is not None and (self._spec.kinks or self._is_piecewise):
            self._notes.append("breakpoints unchecked: `requires` refuses single elements")
        return refusing is None

    def _sweep(self, examples: tuple[Example, ...]) -> None:
        """Decide with symbols at points where numbers are suspicious."""
        for example in examples:
            swept = sweep(self._spec, example)
            inputs = swept.inputs
            self._at(show_call(self._spec, inputs))
            if swept.suspicious:
                self._recorder.call(example, self._call, "sweep")
            for point in swept.suspicious:
                complete = partial(inputs.complete, point, random.Random(self._spec.name))
                run = execute(self._spec, inputs, point, complete)
                self._identities_of(run, Derivatives(), _Proved())
                if is_usual(point):
                    self._agree(run)
            if swept.lost and not any(note.startswith(LOST) for note in self._notes):
                self._notes.append(f"{LOST} at {swept.lost}, where they exist")

    def _agree(self, run: Run) -> None:
        """Compare floats; where an exponential of large numbers overflows, they say nothing."""
        try:
            self._identities += check_agreement(self._spec, run)
        except NumbersDiffer:
            if not run.point.is_beyond_floats():
                raise

    def _breakpoints(self, examples: tuple[Example, ...]) -> None:
        """The declared ones behave as declared, and there are no others."""
        self._recorder.call(None, "", "kinks")
        try:
            for run, identity in kink_identities(self._spec, examples):
                self._recorder.run("kink", run)
                self._check(identity, run, Region(run.point, ()))
            missing = next(chain.from_iterable(map(self._undeclared, examples)), None)
        except NotSymbolic as error:
            self._notes.append(f"breakpoints unchecked: {error}")
            return
        if missing is not None and is_derived(self._spec):
            self._notes.append(
                f"its derivative jumps where {missing[1]}: the derived rules take what one side "
                "has, or something between"
            )
        elif missing is not None:
            call, condition = missing
            message = f"its derivative jumps where {condition}, and no kink says what it is there"
            raise _Refuted(
                Counterexample(
                    "the forward",
                    "forward",
                    call,
                    message=message,
                    suggestion="declare the factor of `grad` at the breakpoint, as in "
                    '`kinks: {"self == 0": 0}`',
                )
            )

    def _undeclared(self, example: Example) -> Iterator[tuple[str, str]]:
        inputs = build(self._spec, single_elements(self._spec, example))
        runs = list(Chambers(self._spec, inputs, random.Random(self._spec.name)).runs())
        for condition in undeclared(self._spec, runs):
            yield show_call(self._spec, inputs), condition

    def _run(self, run: Run, known: Derivatives, proved: _Proved) -> None:
        self._identities_of(run, known, proved)
        self._agree(run)

    def _identities_of(self, run: Run, known: Derivatives, proved: _Proved) -> None:
        region = Region(run.point, (*run.decisions, *run.inputs.conditions))
        self._recorder.run("chamber", run)
        for identity in identities(run, known):
            self._identity_of(identity, run, region, proved)
        with self._unrecorded():
            for identity in self._higher_orders.identities(run, known):
                self._identity_of(identity, run, region, proved)

    @contextmanager
    def _unrecorded(self) -> Iterator[None]:
        """Leave compositions out of the certificate: its check has none to compare them with."""
        recorder, self._recorder = self._recorder, Silence()
        try:
            yield
        finally:
            self._recorder = recorder

    def _identity_of(self, identity: Identity, run: Run, region: Region, proved: _Proved) -> None:
        key = (identity.got, identity.expected)
        if key in proved:
            self._identities += 1
            self._recorder.identity(identity)
        elif self._check(identity, run, region) is Status.PROVED:
            proved.add(key)

    def _check(self, identity: Identity, run: Run, region: Region) -> Status:
        self._identities += 1
        answer = compare(identity.got, identity.expected, region)
        self._statuses.add(answer.status)
        self._recorder.identity(identity, answer.how)
        if answer.point is not None:
            raise _Refuted(counterexample(self._spec, run.inputs, identity, answer.point, region))
        return answer.status
