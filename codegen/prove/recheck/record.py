"""Checks the record of one op again: its calls are complete, and its runs are as recorded."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from ...render.to_sympy import NotSymbolic
from ...spec.elementwise import is_elementwise
from ...spec.model import Example, OpSpec
from ..calls.first_calls import with_examples
from ..deadline import PROOF_SECONDS, TimeUp, time_limit
from ..identities.identity import Mismatch
from ..inputs.draw import examples_of
from ..inputs.kinks import kink_identities
from ..numeric.sampling import check_numerically
from ..report.certificate import encoded
from ..report.verdict import Status
from ..symbolic.complex_numbers import complex_examples, complex_numbers_given
from ..symbolic.special_values import special_examples
from ..zero.is_zero import How
from .call import CallCheck, compare_runs
from .outcome import Recheck
from .rejected import Rejected
from .sides import Sides


def recheck_op(spec: OpSpec, record: Mapping[str, Any], seed: str) -> Recheck:
    """The outcome for one op of the generated package; never raises for what the record says."""
    check = _OpCheck(spec, record, seed)
    problem = ""
    try:
        with time_limit(PROOF_SECONDS):
            check.check()
    except (Rejected, Mismatch) as rejected:
        problem = f"{check.place}{rejected}"
    except TimeUp:
        problem = f"{check.place}it takes longer than a proof may"
    except Exception as error:
        problem = f"{check.place}{type(error).__name__}: {error}"
    return Recheck.of(spec.name, problem, check.sides.counts)


class _OpCheck:
    """The check of one record so far."""

    def __init__(self, spec: OpSpec, record: Mapping[str, Any], seed: str) -> None:
        self._spec = spec
        self._record = record
        self._seed = seed
        self._rng = random.Random(f"{seed} {spec.name}")
        self.sides = Sides(self._rng)
        self.place = ""
        """The call at hand, as messages begin with it."""

    def check(self) -> None:
        """Go through the record. Raises Rejected for the first thing that is not so."""
        self._check_status()
        self._spec = with_examples(self._spec)
        if self._spec.proof == "numeric":
            self.sides.counts["tested"] = check_numerically(self._spec, points=1, seed=self._seed)
            return
        examples = examples_of(self._spec)
        self._check_coverage(examples)
        for number, call in enumerate(self._record["calls"], 1):
            self.place = f"call {number}, `{call['call']}`: " if call["call"] else ""
            self.sides.forget()
            if "left" in call:
                self.sides.counts["left"] += 1
            elif call["of"] == "kinks":
                found = kink_identities(self._spec, examples)
                compare_runs(self._unless_unreadable(found), call["runs"], self.sides)
            else:
                self._check_call(call)
        self.place = ""

    def _check_status(self) -> None:
        runs = [run for call in self._record["calls"] for run in call["runs"]]
        hows = {row[1] for run in runs for row in run["identities"]}
        if unknown := hows - set(How) | (hows & {How.REFUTED}):
            raise Rejected(f"no identity is decided as `{min(unknown)}`")
        status = Status.CERTIFIED if How.NUMBERS in hows else Status.PROVED
        if self._spec.proof == "numeric":
            status = Status.TESTED
        if self._record["status"] != status:
            raise Rejected(f"its identities make it {status}, and not {self._record['status']}")
        chambers = sum(
            run["at"] == "chamber"
            for call in self._record["calls"]
            if call["of"] == "call"
            for run in call["runs"]
        )
        has_left = any("left" in call for call in self._record["calls"])
        wanted = self._record["chambers"]
        if not (chambers == wanted or (has_left and chambers < wanted)):
            raise Rejected(f"{wanted} chambers are counted, and {chambers} recorded")

    def _check_coverage(self, examples: tuple[Example, ...]) -> None:
        """Every example of the spec was gone through, and what it asks for beside was tried."""
        calls = [call for call in self._record["calls"] if call["of"] == "call"]
        tried = {_key(call["args"]) for call in calls}
        gone_through = {_key(call["args"]) for call in calls if "left" not in call}
        given = (*examples, *complex_examples(self._spec, examples))
        beside = (
            *special_examples(self._spec, examples),
            *complex_numbers_given(self._spec, examples),
        )
        for known, wanted in ((gone_through, given), (tried, beside)):
            for example in wanted:
                if _key(encoded(example.args)) not in known:
                    shown = ", ".join(f"{name}={value}" for name, value in example.args)
                    raise Rejected(f"the call with {shown} is missing")
        kinks = sum(call["of"] == "kinks" for call in self._record["calls"])
        if kinks > 1 or (self._spec.kinks and is_elementwise(self._spec) and not kinks):
            raise Rejected(f"its kinks are recorded {kinks} times")

    def _check_call(self, call: Mapping[str, Any]) -> None:
        check = CallCheck(self._spec, call, self.sides, self._rng)
        check.check()
        self.sides.counts["runs"] += len(call["runs"])
        is_noted = any(
            note.startswith(f"{call['call']}: never saw") for note in self._record["notes"]
        )
        if call["of"] == "call" and check.seen_once() and not is_noted:
            raise Rejected("a chamber is missing: a comparison comes out one way only")

    def _unless_unreadable(self, found: Iterable[Any]) -> Iterable[Any]:
        """Yield what a kink's factor says; where it has no reading, a note must say so."""
        try:
            yield from found
        except NotSymbolic:
            if not any(note.startswith("breakpoints unchecked") for note in self._record["notes"]):
                raise


def _key(args: Mapping[str, Any] | None) -> str:
    return json.dumps(args, sort_keys=True)
