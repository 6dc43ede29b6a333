"""Notes of a proof for its certificate: which calls, which chambers, which identities.

A proof tells a `Silence` what it does, which forgets it, or a `Recorder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Expr

from ...spec.model import Example
from ..inputs.draw import Inputs
from ..zero.residues import NoResidue, Residues
from .certificate import encoded
from .counterexample import symbols_of

if TYPE_CHECKING:
    from ..identities.identity import Identity
    from ..identities.run import Run

PRIME = 2**61 - 259
SALT = "gradspec certificate"
"""Sides are recorded by their residues in one field, at one point."""


def fixed_field() -> Residues:
    """The field in which sides are recorded."""
    return Residues(SALT, PRIME)


def side_text(field: Residues, side: Expr) -> str:
    """The residue of a side of an identity; a dash where it has none."""
    try:
        return f"{field.value(side):015x}"
    except NoResidue:
        return "-"


class Silence:
    """Forgets what a proof does."""

    def call(self, example: Example | None, text: str, of: str = "call") -> None:
        """Another call is gone through; or `of` a sweep, or the kinks."""

    def left(self, example: Example, why: str) -> None:
        """Symbols do not go through a call that the spec does not give."""

    def run(self, at: str, run: Run, place: str = "") -> None:
        """A run in a chamber, or at a point where something is equal, is compared from now on."""

    def identity(self, identity: Identity, how: str = "") -> None:
        """An identity of the run holds; without a word how, it was seen before."""


class Recorder(Silence):
    """Writes down what a proof does, as JSON can hold it."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._run: Run | None = None
        self._symbols: tuple[Inputs | None, list[Any]] = (None, [])
        self._field = fixed_field()
        self._decisions: dict[Expr, str] = {}
        self._decided: dict[tuple[Expr, Expr], list[str]] = {}

    def call(self, example: Example | None, text: str, of: str = "call") -> None:
        """Begin a list of runs."""
        args = None if example is None else encoded(example.args)
        self.calls.append({"of": of, "call": text, "args": args, "runs": []})
        self._run = None
        # Symbols of another call have other names, or other shapes.
        self._field = fixed_field()
        self._decisions, self._decided = {}, {}

    def left(self, example: Example, why: str) -> None:
        """Instead of runs, which may be incomplete, the reason is recorded."""
        args = encoded(example.args)
        text = ""
        if self.calls and self.calls[-1]["args"] == args:
            text = self.calls.pop()["call"]
        self.calls.append({"of": "call", "call": text, "args": args, "left": why, "runs": []})
        self._run = None

    def run(self, at: str, run: Run, place: str = "") -> None:
        """Begin a list of identities, unless it is that of this run."""
        if run is self._run:
            return
        self._run = run
        witness = {s.name: str(run.point.values[s]) for s in self._symbols_of(run.inputs)}
        made: dict[str, Any] = {"at": at, "witness": witness}
        if place:
            made["place"] = place
        if run.decisions:
            made["decisions"] = decision_texts(run, self._decisions)
        self.calls[-1]["runs"].append(made | {"identities": []})

    def identity(self, identity: Identity, how: str = "") -> None:
        """Note how it was decided, with the residues of both sides."""
        key = (identity.got, identity.expected)
        decided = self._decided.get(key)
        if decided is None:
            sides = dict.fromkeys(side_text(self._field, side) for side in key)
            decided = self._decided[key] = [how, *sides]
        self.calls[-1]["runs"][-1]["identities"].append([identity.label, *decided])

    def _symbols_of(self, inputs: Inputs) -> list[Any]:
        if self._symbols[0] is not inputs:
            self._symbols = inputs, sorted(symbols_of(inputs), key=str)
        return self._symbols[1]


def decision_texts(run: Run, known: dict[Expr, str]) -> list[str]:
    """Write the decisions of a run as conditions; `known` has the texts of those seen before."""
    found = []
    for decision in run.decisions:
        text = known.get(decision.difference)
        if text is None:
            text = known[decision.difference] = str(decision.difference)
        found.append(f"{text} {'>' if decision.positive else '<'} 0")
    return found
