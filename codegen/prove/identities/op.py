"""Proves one op: every example, every chamber, every identity."""

from __future__ import annotations

import operator
import random
import time
from contextlib import suppress
from functools import partial
from itertools import chain

from sympy import S

from ...render.to_sympy import NotSymbolic
from ...spec.model import Example, OpSpec
from ..deadline import PROOF_SECONDS, TimeUp, time_limit
from ..inputs.chambers import Chambers
from ..inputs.corners import check_by_differences, check_corners
from ..inputs.draw import build, examples_of
from ..inputs.isolated import isolated_identities
from ..inputs.kinks import is_elementwise, kink_identities, single_elements, undeclared
from ..inputs.larger_matrices import check_larger_matrices
from ..inputs.layouts import check_layouts
from ..inputs.unseen_calls import suspicious_calls
from ..numeric.sampling import check_numerically
from ..numeric.sweep import is_usual, suspicious_points
from ..report.counterexample import counterexample, show_call
from ..report.verdict import Counterexample, OpVerdict, Status, worst
from ..symbolic.complex_numbers import complex_examples, complex_numbers_given
from ..symbolic.decisions import ProofError
from ..symbolic.special_values import special_examples
from ..zero.is_zero import Region, compare
from .agreement import check_agreement, check_definition
from .identity import (
    Derivatives,
    Identity,
    Mismatch,
    WrongShape,
    duality,
    identities,
    kernel_at_tie,
)
from .run import Run, execute

EXTRA_SECONDS = 8.0
"""A call that no example makes is then left to differences: symbols may be too many for it."""


def prove_op(spec: OpSpec, seconds: float = PROOF_SECONDS) -> OpVerdict:
    """The verdict on one op of the generated package; never raises for what the op does.

    It is given up after so many seconds of computing.
    """
    started, started_computing = time.perf_counter(), time.process_time()
    proof = _Proof(spec)
    try:
        with time_limit(seconds):
            proof.prove()
    except TimeUp:
        proof.give_up(time.process_time() - started_computing)
    except Exception as error:
        proof.fail(f"{type(error).__name__}: {error}")
    return proof.verdict(time.perf_counter() - started)


class _Refuted(Exception):
    def __init__(self, found: Counterexample) -> None:
        super().__init__(found.label)
        self.found = found


_Proved = set[tuple[object, object]]
"""Pairs of expressions that are known to be equal."""


class _Proof:
    """The proof of one op so far."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self._statuses: set[Status] = set()
        self._identities = 0
        self._chambers = 0
        self._found: Counterexample | None = None
        self._notes: list[str] = []
        self._is_piecewise = False
        self._call = spec.name
        """The example at hand."""
        self._spent: dict[str, float] = {}
        """The time each example took so far."""
        self._since = time.process_time()

    def prove(self) -> None:
        """Go through the examples, up to the first counterexample."""
        try:
            if self._spec.proof == "numeric":
                self._notes.append(f"tested with numbers only: {self._spec.proof_reason}")
                for example in examples_of(self._spec):
                    inputs = build(self._spec, example)
                    point = inputs.draw(random.Random(self._spec.name))
                    self._identities += check_layouts(self._spec, inputs, point)
                self._identities += check_numerically(self._spec)
                self._statuses.add(Status.TESTED)
                return
            examples = examples_of(self._spec)
            with_complex = complex_examples(self._spec, examples)
            for example in (*examples, *with_complex):
                self._example(example)
            for example in chain(
                special_examples(self._spec, examples), complex_numbers_given(self._spec, examples)
            ):
                self._extra_example(example)
            for example in suspicious_calls(self._spec, examples):
                self._unseen_call(example)
            self._identities += check_corners(self._spec, (*examples, *with_complex))
            self._identities += check_larger_matrices(self._spec, examples)
            if is_elementwise(self._spec):
                self._sweep(examples)
                if self._spec.kinks or self._is_piecewise:
                    self._breakpoints(examples)
        except _Refuted as refuted:
            self._statuses.add(Status.REFUTED)
            self._found = refuted.found
        except Mismatch as mismatch:
            self._statuses.add(Status.REFUTED)
            self._found = Counterexample(
                mismatch.label, mismatch.key, self._call, message=str(mismatch)
            )

    def fail(self, reason: str) -> None:
        """The proof could not be carried out."""
        self._statuses.add(Status.ERROR)
        self._notes.append(reason)

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
        )

    def _extra_example(self, example: Example) -> None:
        """One that the spec does not give: it may refute, but need not be possible."""
        try:
            with time_limit(EXTRA_SECONDS):
                self._example(example)
        except _Refuted:
            raise
        except Mismatch as mismatch:
            if mismatch.key != "forward":  # no symbols stand for such a call
                raise
        except (Exception, TimeUp) as error:
            how = "tried with differences only" if self._by_differences(example) else "not tried"
            why = f"{type(error).__name__}: {error}" if str(error) else "symbols took too long"
            self._notes.append(f"{self._call} was {how}: {why}")

    def _unseen_call(self, example: Example) -> None:
        """A gradient of a wrong shape never reaches users, and the sizes may not be meant."""
        try:
            self._extra_example(example)
        except WrongShape as mismatch:
            if mismatch.is_mistake:
                raise
            self._notes.append(f"{self._call} was not tried: {mismatch}")

    def _by_differences(self, example: Example) -> bool:
        """Compare what can be of an example that symbols cannot go through; False for nothing."""
        try:
            compared = check_by_differences(self._spec, example)
        except Mismatch:
            raise
        except Exception:
            return False
        self._identities += compared
        return compared > 0

    def _example(self, example: Example) -> None:
        inputs = build(self._spec, example)
        self._at(show_call(self._spec, inputs))
        # Symbols are called the same in every chamber, so most of these come up again.
        known, proved = Derivatives(), _Proved()
        chambers = Chambers(self._spec, inputs, random.Random(self._spec.name))
        runs = chambers.runs()
        first = next(runs)
        self._identities += check_layouts(self._spec, inputs, first.point)
        for run in chain([first], runs):
            self._chambers += 1
            self._is_piecewise |= any(decision.branches for decision in run.decisions)
            self._run(run, known, proved)
        unvisited = chambers.unvisited()
        self._ties(chambers)
        for run, identity in isolated_identities(self._spec, first):
            self._check(identity, run, Region(run.point, ()))
        if unvisited:
            shown = ", ".join(unvisited[:3]) + (" ..." if len(unvisited) > 3 else "")
            self._notes.append(f"{self._call}: never saw {shown}")

    def _ties(self, chambers: Chambers) -> None:
        """Check ties; skipped where the op or its gradient is not defined."""
        for place, run in chambers.ties():
            for identity in kernel_at_tie(run, place):
                if S.NaN in (identity.got, identity.expected):  # floats may know a limit
                    self._identities += check_definition(self._spec, run, by_value=True)
                else:
                    self._check(identity, run, Region(run.point, ()))
            if run.tangents:
                with suppress(ProofError):
                    self._check(duality(run, place), run, Region(run.point, ()))

    def _sweep(self, examples: tuple[Example, ...]) -> None:
        """Decide with symbols at points where numbers are suspicious."""
        for example in examples:
            inputs, points = suspicious_points(self._spec, example)
            self._at(show_call(self._spec, inputs))
            for point in points:
                complete = partial(inputs.complete, point, random.Random(self._spec.name))
                run = execute(self._spec, inputs, point, complete)
                self._identities_of(run, Derivatives(), _Proved())
                if is_usual(point):
                    self._identities += check_agreement(self._spec, run)

    def _breakpoints(self, examples: tuple[Example, ...]) -> None:
        """The declared ones behave as declared, and there are no others."""
        try:
            for run, identity in kink_identities(self._spec, examples):
                self._check(identity, run, Region(run.point, ()))
            missing = next(filter(None, map(self._undeclared, examples)), None)
        except NotSymbolic as error:
            self._notes.append(f"breakpoints unchecked: {error}")
            return
        if missing is not None:
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

    def _undeclared(self, example: Example) -> tuple[str, str] | None:
        inputs = build(self._spec, single_elements(self._spec, example))
        runs = list(Chambers(self._spec, inputs, random.Random(self._spec.name)).runs())
        condition = undeclared(self._spec, runs)
        return None if condition is None else (show_call(self._spec, inputs), condition)

    def _run(self, run: Run, known: Derivatives, proved: _Proved) -> None:
        self._identities_of(run, known, proved)
        self._identities += check_agreement(self._spec, run)

    def _identities_of(self, run: Run, known: Derivatives, proved: _Proved) -> None:
        region = Region(run.point, (*run.decisions, *run.inputs.conditions))
        for identity in identities(run, known):
            key = (identity.got, identity.expected)
            if key in proved:
                self._identities += 1
            elif self._check(identity, run, region) is Status.PROVED:
                proved.add(key)

    def _check(self, identity: Identity, run: Run, region: Region) -> Status:
        self._identities += 1
        answer = compare(identity.got, identity.expected, region)
        self._statuses.add(answer.status)
        if answer.point is not None:
            raise _Refuted(counterexample(self._spec, run.inputs, identity, answer.point, region))
        return answer.status
