"""One call of a certificate, gone through again: the recorded runs, and no search for others."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import groupby, zip_longest
from typing import Any

import sympy
from sympy import Expr

from ...spec.model import Example, OpSpec
from ..identities.identity import Identity, identities_with
from ..identities.run import Run, execute
from ..inputs.draw import build
from ..inputs.isolated import isolated_identities
from ..inputs.kinks import single_elements
from ..numeric.evaluate import Point
from ..report.certificate import decoded
from ..report.counterexample import show_call, symbols_of
from ..report.recorder import decision_texts, fixed_field, side_text
from ..symbolic.decisions import ProofError
from ..symbolic.derivatives import Derivatives
from ..zero.is_zero import Region
from .jacobian import FieldJacobian
from .rejected import Rejected
from .sides import Sides
from .ties import check_tie

_RATIONAL = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")

_LONGEST = 2000
"""Digits of a witness; those that proofs write have few."""


class CallCheck:
    """The runs of one call."""

    def __init__(
        self, spec: OpSpec, call: Mapping[str, Any], sides: Sides, rng: random.Random
    ) -> None:
        self._spec = spec
        self._call = call
        self._sides = sides
        self._rng = rng
        self._field = fixed_field()
        self._texts: dict[Expr, str] = {}
        self._outcomes: dict[Expr, set[bool]] = {}
        """Outcomes of each comparison, in the chambers so far."""

    def check(self) -> None:
        """Go through the runs. Raises Rejected at the first that is not as recorded."""
        example = Example(decoded(self._call["args"] or {}), self._spec.span)
        if self._call["of"] == "sweep":
            example = single_elements(self._spec, example)
        self._inputs = build(self._spec, example)
        shown = show_call(self._spec, self._inputs)
        if shown != self._call["call"]:
            raise Rejected(f"its arguments are those of `{shown}`")
        self._symbols = {symbol.name: symbol for symbol in symbols_of(self._inputs)}
        first: Run | None = None
        for number, given in enumerate(self._call["runs"], 1):
            try:
                if given["at"] == "chamber":
                    run = self._chamber(given)
                    first = first or run
                elif given["at"] == "tie":
                    self._tie(given)
                elif given["at"] != "isolated" or self._call["of"] != "call":
                    raise Rejected(f"no run of this call is at `{given['at']}`")
            except Rejected as rejected:
                raise Rejected(f"run {number}: {rejected}") from None
        isolated = [given for given in self._call["runs"] if given["at"] == "isolated"]
        if first is None:
            raise Rejected("no chamber of it was gone through")
        if self._call["of"] == "call":
            compare_runs(isolated_identities(self._spec, first), isolated, self._sides)

    def seen_once(self) -> bool:
        """Return whether some comparison came out one way only."""
        return any(len(outcomes) == 1 for outcomes in self._outcomes.values())

    def _chamber(self, given: Mapping[str, Any]) -> Run:
        run = self._execute(self._point(given["witness"]))
        self._check_decisions(run, given.get("decisions", []))
        for decision in run.decisions:
            if decision.branches:
                self._outcomes.setdefault(decision.difference, set()).add(decision.positive)
        region = Region(run.point, (*run.decisions, *self._inputs.conditions))
        found = identities_with(run, FieldJacobian(run, Derivatives()))
        compare(found, given["identities"], region, self._sides, self._residue)
        return run

    def _tie(self, given: Mapping[str, Any]) -> None:
        point = self._point(given["witness"])
        place = given.get("place", "")
        sites = (site for site, text in self._texts.items() if f"{text} == 0" == place)
        site = next(sites, None)
        if site is None or point.sign(site) != 0:
            raise Rejected(f"at its witness it is not so that `{place}`")
        run = self._execute(point, tie=True)
        self._check_decisions(run, given.get("decisions", []))
        self._sides.count_ties(check_tie(run, place, [row[0] for row in given["identities"]]))

    def _residue(self, side: Expr) -> str:
        return side_text(self._field, side)

    def _execute(self, point: Point, *, tie: bool = False) -> Run:
        complete = partial(self._inputs.complete, point, self._rng)
        try:
            return execute(self._spec, self._inputs, point, complete, tie=tie)
        except ProofError as error:
            raise Rejected(f"the op cannot be followed at its witness: {error}") from None

    def _point(self, witness: Mapping[str, str]) -> Point:
        """The witness of a run. Raises Rejected where it is none for this call."""
        if witness.keys() != self._symbols.keys():
            odd = min(witness.keys() ^ self._symbols.keys())
            raise Rejected(f"its witness and the call do not both have `{odd}`")
        for name, text in witness.items():
            if len(text) > _LONGEST or not _RATIONAL.fullmatch(text):
                raise Rejected(f"its witness for `{name}` is no rational number")
        point = Point({self._symbols[n]: sympy.Rational(text) for n, text in witness.items()})
        if not self._inputs.allows(point):
            raise Rejected("its witness is outside the domain")
        return point

    def _check_decisions(self, run: Run, given: list[str]) -> None:
        found = decision_texts(run, self._texts)
        for recorded, made in zip_longest(given, found):
            if recorded != made:
                at = f"`{made}` is decided" if made else "nothing more is decided"
                said = f"`{recorded}` is recorded" if recorded else "that is not recorded"
                raise Rejected(f"its witness is outside its region: {at} there, and {said}")


def compare(
    found: Iterable[Identity],
    rows: list[list[str]],
    region: Region,
    sides: Sides,
    residue: Callable[[Expr], str] | None = None,
) -> None:
    """Compare the identities of a run with those recorded. Raises Rejected where they differ."""
    left = iter(rows)
    for identity in found:
        row = next(left, None)
        if row is None or row[0] != identity.label:
            at = f"; `{row[0]}` is in its place" if row else ""
            raise Rejected(f"the identity `{identity.label}` is missing{at}")
        if not sides.agree(identity, region):
            raise Rejected(f"`{identity.label}` does not hold")
        if residue is not None and row[2] != residue(identity.got):
            raise Rejected(f"`{identity.label}` was proved of another expression")
    row = next(left, None)
    if row is not None:
        raise Rejected(f"there is no identity `{row[0]}`")


def compare_runs(
    found: Iterable[tuple[Run, Identity]], recorded: list[Mapping[str, Any]], sides: Sides
) -> None:
    """Compare runs at single points with those recorded, each with its identities in any order."""
    runs = [(run, [pair[1] for pair in pairs]) for run, pairs in groupby(found, lambda p: p[0])]
    for number, (pair, given) in enumerate(zip_longest(runs, recorded), 1):
        if pair is None or given is None:
            raise Rejected(f"{len(recorded)} runs at points are recorded, {len(runs)} are made")
        run, made = pair
        try:
            compare(
                sorted(made, key=lambda identity: identity.label),
                sorted(given["identities"]),
                Region(run.point, ()),
                sides,
            )
        except Rejected as rejected:
            raise Rejected(f"{given['at']} {number}: {rejected}") from None
