"""The second derivatives of a call with numbers: by the engine, and as slopes of the VJP."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..identities.compositions import Composition, Directions
from ..identities.identity import Mismatch
from ..identities.run import Call
from .call import Lines, NoCall
from .derivatives import CallWithDerivatives
from .measures import HUGE, is_finite, is_smooth, magnitude, pairing, short

Array = np.ndarray[Any, Any]

_TOLERANCE = 1e-5
"""Error of one second derivative beside another one, relative to the largest."""

_NUDGE = 1e-10
"""Distance that arguments are moved to see whether rounding explains a difference."""


class CallWithSecondDerivatives(CallWithDerivatives):
    """A call whose gradients, once computed, are differentiated again."""

    def _double_backward(self, mixed: Lines) -> Lines | None:
        """The gradients of the paired VJP by the arguments; None where there are none."""
        from gradspec.autograd import grad
        from gradspec.core.tensor import wrap

        try:
            call = Call(self.spec, self._fresh(), self.leaves)
            outputs = call()
            names = [n for n in self.names if outputs[n].requires_grad]
            if not names:
                return None
            first = grad(
                [outputs[n] for n in names],
                list(call.tensors.values()),
                [wrap(self.weights[n]) for n in names],
                create_graph=True,
                allow_unused=True,
            )
            for leaf, gradient in zip(self.leaves, first, strict=True):
                if gradient is not None:
                    self._equal(
                        gradient.array,
                        self.gradients[leaf],
                        f"VJP of {leaf[0]} with create_graph",
                        leaf[0],
                    )
            again = [
                (g, wrap(mixed[leaf]))
                for leaf, g in zip(self.leaves, first, strict=True)
                if g is not None and g.requires_grad
            ]
            if not again:
                return {leaf: np.zeros_like(self.at(leaf)) for leaf in self.leaves}
            found = grad(
                [g for g, _ in again],
                list(call.tensors.values()),
                [v for _, v in again],
                allow_unused=True,
            )
        except Mismatch:
            raise
        except Exception as error:
            try:
                self._refuse(error, self.leaves[0][0], "double backward by")
            except NoCall:
                return None
        return {
            leaf: np.zeros_like(self.at(leaf)) if g is None else g.array
            for leaf, g in zip(self.leaves, found, strict=True)
        }

    def _jvp_backwards(self, mixed: Lines, twice: Lines) -> None:
        """Compare the gradients of the JVP with those of the VJP: both pair the same derivative.

        A rule may hold on to what is cut off from the graph, under a flag.
        """
        given = Directions(dict(self.weights), dict(mixed), {})
        found = self._vjp_of_jvp(self.values, given)
        for leaf in self.leaves:
            label, name = f"VJP of the JVP by {leaf[0]}", self.names[0].partition("[")[0]
            got, wanted = (self._symmetric(leaf, by[leaf]) for by in (found, twice))
            try:
                self._equal(got, wanted, label, name, _TOLERANCE)
            except Mismatch:
                moved = {
                    f: self.at(f) * (1 + _NUDGE * self.random(self.at(f))) for f in self.leaves
                }
                beside = self._vjp_of_jvp(self._moved(moved), given)[leaf]
                size = np.abs(found[leaf]).max(initial=1e-3)
                if not (np.abs(beside - found[leaf]) > _TOLERANCE * size).any():
                    raise  # else digits are lost, as where a matrix is almost singular

    def _jvp_forwards(self, mixed: Lines, direction: Lines, twice: Lines) -> None:
        """Compare the change of the JVP along a line with the double backward along it."""
        given = Directions(dict(self.weights), dict(mixed), dict(direction))
        pushed, size = self._change_of_jvp(self.values, given)
        pulled = sum(pairing(twice[leaf], line) for leaf, line in direction.items())
        size += sum(magnitude(twice[leaf], line) for leaf, line in direction.items())
        slack = 10 * _TOLERANCE * max(size, 1e-2)
        self.checked += 1
        if not size < HUGE or abs(pushed - pulled) <= slack:
            return
        beside, _ = self._change_of_jvp(self._moved(self._nudged()), given)
        if abs(beside - pushed) <= slack:  # else digits are lost
            name = self.names[0].partition("[")[0]
            raise Mismatch(
                f"JVP of the JVP of {name}",
                name,
                f"is {pushed:.10g} along lines: the double backward gives {pulled:.10g}",
            )

    def _change_of_jvp(self, values: dict[str, Any], given: Directions) -> tuple[float, float]:
        """The paired JVP of the JVP, and how large its terms are."""
        try:
            found = Composition(self.spec, values, self.leaves, given).jvp_of_jvp()
        except Exception as error:
            self._refuse(error, self.names[0].partition("[")[0], "JVP of the JVP of")
        changes = {n: change for n, change in found.items() if change is not None}
        pushed = sum(pairing(self.weights[n], change) for n, change in changes.items())
        size = sum(magnitude(self.weights[n], change) for n, change in changes.items())
        return float(pushed), float(size)

    def _nudged(self) -> Lines:
        return {f: self.at(f) * (1 + _NUDGE * self.random(self.at(f))) for f in self.leaves}

    def _vjp_of_jvp(self, values: dict[str, Any], given: Directions) -> Lines:
        try:
            found, _ = Composition(self.spec, values, self.leaves, given).vjp_of_jvp()
        except Exception as error:
            self._refuse(error, self.names[0].partition("[")[0], "VJP of the JVP of")
        return {
            leaf: np.zeros_like(self.at(leaf)) if gradient is None else gradient
            for leaf, gradient in ((leaf, found.get(leaf)) for leaf in self.leaves)
        }

    def _paired(self, mixed: Lines, gradients: Lines) -> Array:
        """Gradients as one number, by weights for each of their elements."""
        return np.asarray(sum(pairing(mixed[leaf], gradients[leaf]) for leaf in self.leaves))

    def _paired_at(self, moved: Lines, mixed: Lines) -> Array:
        """The paired VJP where arguments are moved."""
        at = type(self)(self.spec, self._moved(moved), self.rng, self.is_usual)
        at.names = self.names
        return self._paired(mixed, at._vjp(self.leaves, self.weights))

    def _slope_between(self, direction: Lines, mixed: Lines) -> float | None:
        """The slope of the paired VJP from one side to the other; None where there is none.

        Half the work of one slope for each side, and where it fits the derivative, enough.
        """
        sums = []
        try:
            for step in (self.step, -self.step):
                moved = {leaf: self.at(leaf) + step * d for leaf, d in direction.items()}
                sums.append(float(self._paired_at(moved, mixed).real))
        except Exception:
            return None
        return (sums[0] - sums[1]) / (2 * self.step)

    def _slopes_of_gradient(self, direction: Lines, mixed: Lines) -> tuple[float, float] | None:
        """The slopes of the paired VJP ahead and behind; None where the values are not smooth."""

        def gradient_at(moved: Lines) -> dict[str, Array]:
            return {"sum": self._paired_at(moved, mixed)}

        middle = {"sum": self._paired(mixed, self.gradients)}
        if not np.isfinite(middle["sum"]):
            return None
        try:
            first = self._lines(
                direction,
                self._values_at(self.names),
                {n: t.array for n, t in self._call([]).items() if n in self.names},
            )
            slopes = self._lines(direction, gradient_at, middle)
        except Exception:
            return None
        ahead, behind = (float(side) for side in slopes["sum"])
        is_finite = np.isfinite(ahead) and np.isfinite(behind)
        if not (is_finite and all(is_smooth(a, b) for a, b in first.values())):
            return None
        return None if max(abs(ahead), abs(behind)) > HUGE else (ahead, behind)

    def _gradient_bends(self, mixed: Lines, slack: float) -> bool:
        """Return whether the slope of the VJP is not linear in the direction, as at a kink."""
        for _ in range(6):
            one, other = ({f: self.random(self.at(f)) for f in self.leaves} for _ in range(2))
            both = {leaf: one[leaf] + other[leaf] for leaf in self.leaves}
            found = [self._slopes_of_gradient(line, mixed) for line in (one, other, both)]
            sides = [side[0] for side in found if side is not None]
            if len(sides) == 3 and abs(sides[0] + sides[1] - sides[2]) > slack:
                return True
        return False

    def _leaves_range(self, mixed: Lines) -> bool:
        """Return whether a number on the way to the double backward overflows or underflows."""
        seen: list[str] = []
        with np.errstate(over="call", under="call", call=lambda kind, _: seen.append(kind)):
            self._double_backward(mixed)
        return bool(seen)

    def _equal(
        self,
        got: Array,
        wanted: Array,
        label: str,
        key: str,
        tolerance: float = 1e-7,
        floor: float = 1e-3,
    ) -> None:
        self.checked += 1
        if not is_finite(wanted):
            return
        size = np.abs(wanted).max(initial=floor)
        if not (np.abs(got - wanted) <= tolerance * size).all():
            raise Mismatch(
                label, key, f"is {short(got)}, and together with the others {short(wanted)}"
            )
