"""One call with numbers: its derivatives in every mode beside the slopes of its values.

A slope is that of the values along a line, from both sides. Where the sides agree, the derivatives
must be the slope, at single points too. Where they differ, as at a kink or a tie, the VJP must lie
between them, and the JVP must be its transpose.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...spec.model import Formula
from ..identities.identity import Mismatch
from ..identities.run import Call, Leaf
from ..inputs.roots import takes_root_of_zero
from .call import Lines, NoCall, float_leaves
from .constants import check_unchanging
from .measures import (
    HUGE,
    SMOOTH,
    bends,
    extrapolated,
    is_smooth,
    is_steep,
    magnitude,
    pairing,
    to_single,
)
from .own_kernels import check_own_kernels, check_own_kernels_at_nan
from .parts import check_parts
from .second_derivatives import CallWithSecondDerivatives

Array = np.ndarray[Any, Any]

TOLERANCE = 2e-4
"""Error of a slope, relative to the largest one."""

FINE_TOLERANCE = 1e-7
"""Error of a slope from six points, relative to the largest products that it is the sum of."""

FINE_STEP = 2.0**-10

SINGLE_TOLERANCE = 5e-3
"""Error of a gradient in single precision, relative to the largest one."""

SINGLE_TOLERANCE_BY_DTYPE = 1e-4
"""The same, where a formula tells dtypes apart: what is done in one alone is seen in it alone."""

SMALL = 8
"""Elements of a call at which an argument is given as flags, too."""

ROUNDED = 2.0**-22
"""Distance that arguments are moved to see the effect of rounding."""

ROUNDINGS = 3
"""Number of such moves: numbers may be rounded to what hides it."""

SINGULAR = 1e12
"""Products of gradients and directions that are larger come of matrices that are singular but for
rounding: nothing is left of their digits. Nor is anything compared where they are nan."""

LARGE_BYTE = 200.0
"""Twice as much is no byte."""

LARGE = 500.0
"""From this size on an exponential may overflow where the derivative does not."""

ROUNDING = 16 * 2.0**-52
"""Error of a value, relative to its size."""

_REFUSED = ("same dtype", "same scalar type")
"""Errors of ops that take tensors of one dtype only, as products of matrices do."""

NEARBY = 1500
"""Largest number of points around a kink that tell which slopes may be chosen there."""


@dataclass
class Judge(CallWithSecondDerivatives):
    """Compare the derivatives of one call, in every mode, with slopes of its values."""

    single_tolerance: float = SINGLE_TOLERANCE
    others: list[Judge] = field(default_factory=list)
    """The same call with other dtypes."""

    def run(self) -> int:
        """Return the number of comparisons. Raises Mismatch; NoCall where none can be made."""
        middle = self.start()
        check_unchanging(self, middle)
        if self.is_usual:
            check_own_kernels(self, middle)
        else:
            check_own_kernels_at_nan(self, middle)
        if not (self.leaves and self.names):
            return self.checked
        self.gradients = self._vjp(self.leaves, self.weights)
        if any(middle[n].dtype in (np.float32, np.complex64) for n in self.names):
            # Too coarse for slopes; those of the same call in double precision are looked at.
            self._pushed_and_pulled()
            return self.checked
        try:
            if not self._look_along(self._directions(), middle):
                self._look_along(self._apart(), middle)
        except Mismatch:
            self._look_along(self._apart(), middle)  # which tells the argument
            raise
        if self.is_usual:
            self._finely()
            self._parts()
        self._subsets()
        if (self.is_usual or self._tells_dtypes_apart) and not (
            self.has_factors or self.spec.is_private
        ):
            try:
                self._other_dtypes()
            except Mismatch:
                if not self._loses_digits():
                    raise
        self._second_order()
        return self.checked

    def compare_along_lines(self) -> None:
        """Compare first derivatives of a call that was made. Raises Mismatch and NoCall."""
        if self.leaves and self.names:
            self.gradients = self._vjp(self.leaves, self.weights)
            self._look_along(self._directions(), self.outputs)

    def _look_along(self, directions: Iterator[Lines], middle: dict[str, Array]) -> bool:
        """Compare along some lines; return whether the values are smooth along all of them."""
        self.lines = [
            (line, slopes) for line in directions for slopes in self._slopes(line, middle)
        ]
        overflows = self._may_overflow()
        for _, slopes in self.lines:
            for name, pair in slopes.items():
                self.rough[name] = self.rough.get(name, overflows) | is_steep(*pair)
                if (kinks := bends(*pair)).any() and self._may_be_nan_at_kinks:
                    self.rough[name] = self.rough[name] | kinks
        smooth = all(is_smooth(*pair) for _, slopes in self.lines for pair in slopes.values())
        for direction, slopes in self.lines:
            self._along(direction, slopes, middle)
        return smooth

    @functools.cached_property
    def _may_be_nan_at_kinks(self) -> bool:
        return self.is_at_gap or takes_root_of_zero(self.spec, self.values)

    def _may_overflow(self) -> bool:
        """Return whether numbers are so large that rounding explains nan; or there are none."""
        numbers = (value for value in self.values.values() if isinstance(value, float))
        if any(np.isinf(number) for number in numbers):
            return True
        sizes = [np.abs(self.at(leaf)) for leaf in self.leaves if self.at(leaf).size]
        return not sizes or any(size.max() >= LARGE for size in sizes)

    def _along(
        self, direction: Lines, slopes: dict[str, tuple[Array, Array]], middle: dict[str, Array]
    ) -> None:
        """Compare the VJP and the JVP with the slope along one line."""
        differentiable = {n: middle[n] for n in self.names}
        tangents = self._jvp(direction)
        pulled = sum(pairing(self.gradients[leaf], d) for leaf, d in direction.items())
        key = next(iter(direction))[0]
        if tangents is not None:
            for n in self.names:
                self._tangent(n, tangents[n], *slopes[n], direction)
            pushed = sum(pairing(self.weights[n], tangents[n]) for n in self.names)
            size = sum(magnitude(self.weights[n], tangents[n]) for n in self.names)
            size += sum(magnitude(self.gradients[leaf], d) for leaf, d in direction.items())
            steepest = max(np.abs(each).max(initial=0) for each in self.gradients.values())
            if size < SINGULAR and not steepest >= SINGULAR:
                self._same(
                    pulled,
                    pushed,
                    1e-6 * size + 1e-7,
                    f"VJP of {key}",
                    key,
                    f"the JVP gives {pushed:.6g}",
                )
        ahead, behind = (
            sum(pairing(self.weights[n], pair[side]) for n, pair in slopes.items())
            for side in (0, 1)
        )
        size = sum(magnitude(self.weights[n], a) for n, (a, _) in slopes.items())
        size += sum(magnitude(self.weights[n], v) for n, v in differentiable.items()) * 1e-6
        if pulled != 0 or not all(self._flat(n, direction).all() for n in self.names):
            try:
                self._slope(pulled, ahead, behind, size, f"VJP of {key}", key)
            except Mismatch:
                is_nan = not np.isfinite(pulled)
                if tangents is None or self.is_usual or not self._has_kinks or is_nan:
                    raise  # at a kink the JVP was looked at, element by element

    def _finely(self) -> None:
        """Look for a small error of the VJP: two slopes of many digits have to show it."""
        direction, slopes = self.lines[0]
        if not all(is_smooth(*pair) for pair in slopes.values()):
            return
        if not any(self.gradients[leaf].any() for leaf in direction):
            return  # stairs are looked at elsewhere
        ahead, behind = (
            sum(pairing(self.weights[n], pair[side]) for n, pair in slopes.items())
            for side in (0, 1)
        )
        pulled = sum(pairing(self.gradients[leaf], d) for leaf, d in direction.items())
        size = sum(magnitude(self.gradients[leaf], d) for leaf, d in direction.items())
        rounding = ROUNDING * sum(magnitude(self.weights[n], self.outputs[n]) for n in self.names)
        slack = FINE_TOLERANCE * max(size, 1e-3) + 2 * abs(ahead - behind) + rounding / self.step
        close = (ahead + behind) / 2
        self.checked += 1
        if abs(pulled - close) <= slack:
            return
        slope, error = self._extrapolated(direction)
        if max(error, abs(slope - close)) < 0.1 * abs(pulled - slope):
            key = next(iter(direction))[0]
            self._same(pulled, slope, slack, f"VJP of {key}", key, f"the slope is {slope:.10g}")

    def _parts(self) -> None:
        """Compare with cotangents and tangents of which some elements are zero."""
        self.checked += check_parts(
            lambda weights: self._vjp(self.leaves, weights),
            self.weights,
            self.gradients,
            "VJP of {}",
            "it must be linear in the gradient, also where that is zero",
        )
        direction = self._together()
        tangents = self._jvp(direction)
        if tangents is not None:
            self.checked += check_parts(
                self._jvp,
                direction,
                tangents,
                "JVP of {}",
                "it must be linear in the tangents, also where these are zero",
            )

    def _extrapolated(self, direction: Lines) -> tuple[float, float]:
        """A slope from six points farther away, and how far it may be off."""
        values_at = self._values_at(self.names)
        quotients = []
        for step in (FINE_STEP, 2 * FINE_STEP, 4 * FINE_STEP):
            try:
                ahead, behind = (
                    values_at({leaf: self.at(leaf) + s * d for leaf, d in direction.items()})
                    for s in (step, -step)
                )
            except Exception:
                return np.nan, np.inf
            moved = (pairing(self.weights[n], ahead[n] - behind[n]) for n in self.names)
            quotients.append(sum(moved) / (2 * step))
        return extrapolated(quotients)

    def _slope(
        self, got: float, ahead: float, behind: float, size: float, label: str, key: str
    ) -> None:
        """Compare a gradient with the slopes of both sides, if these agree, or there is one."""
        sides = [side for side in (ahead, behind) if not np.isnan(side)]  # nan: beyond a border
        if not sides or max(map(abs, sides)) > HUGE or self._may_refuse(got):
            return
        size = max(size if np.isfinite(size) else 0.0, *map(abs, sides), 1e-3)
        wanted = sum(sides) / len(sides)
        if len(sides) == 1:
            slack = 0.02 * size
        elif abs(ahead - behind) <= SMOOTH * size:
            slack = TOLERANCE * size + 2 * abs(ahead - behind)
        else:
            return
        self._same(got, wanted, slack, label, key, f"the slope is {wanted:.6g}")

    def _may_refuse(self, got: float) -> bool:
        """Return whether nan or an infinity is an answer: at a kink, or outside the domain."""
        is_rough = self._may_overflow() or any(np.any(rough) for rough in self.rough.values())
        return not np.isfinite(got) and (is_rough or not self.is_inside)

    def _same(
        self, got: float, wanted: float, slack: float, label: str, key: str, what: str
    ) -> None:
        self.checked += 1
        if not abs(got - wanted) <= slack:
            raise Mismatch(label, key, f"is {got:.10g} along a line: {what}")

    def _tangent(
        self, name: str, tangent: Array, ahead: Array, behind: Array, direction: Lines
    ) -> None:
        """Compare a tangent with the slopes of both sides: at a kink it is between them."""
        both = np.isfinite(ahead) & np.isfinite(behind)
        size = max(np.abs(ahead[both]).max(initial=1e-3), np.abs(behind[both]).max(initial=0))
        if size > HUGE:
            return
        gap, wanted = np.abs(ahead - behind), (ahead + behind) / 2
        off = np.abs(tangent - wanted)
        if (off[tangent == 0] > 0).any():
            off = np.where(self._flat(name, direction) & (tangent == 0), 0, off)
        smooth, kink = both & (gap <= SMOOTH * size), both & (gap > 0.01 * size)
        is_nan = ~np.isfinite(tangent)
        rounding = ROUNDING * np.abs(self.outputs[name]) / self.step
        wrong = smooth & ~(off <= TOLERANCE * size + 2 * gap + rounding)
        wrong |= kink & ~(off <= 0.52 * gap + 0.01 * size)
        wrong &= ~(is_nan & (self.rough[name] | (not self.is_inside)))
        self.checked += 1
        if wrong.any() and not self.is_usual and self._has_kinks:
            wrong &= ~self._is_choice(name, tangent, direction, size)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            text = f"{list(place)} " if place else ""
            raise Mismatch(
                f"JVP of {name}",
                name.partition("[")[0],
                f"{text}is {tangent[place]:.6g}: the slopes of both sides are {behind[place]:.6g} "
                f"and {ahead[place]:.6g}",
            )

    def _is_choice(self, name: str, tangent: Array, direction: Lines, size: float) -> Array:
        """Return where a tangent at a kink is between those of points around it."""
        low, high, slack = (
            np.full_like(tangent, np.inf),
            np.full_like(tangent, -np.inf),
            0.05 * size,
        )
        for _ in range(NEARBY):
            moved = {
                leaf: self.at(leaf) + 1e-2 * self.random(self.at(leaf)) for leaf in self.leaves
            }
            around = replace(self, values=self._moved(moved))
            middle = around._values_at([name])({})
            found = around._lines(direction, around._values_at([name]), middle)[name][0]
            low, high = np.fmin(low, found), np.fmax(high, found)
            if (is_between := (low - slack <= tangent) & (tangent <= high + slack)).all():
                break
        return np.asarray(is_between)

    def _subsets(self) -> None:
        """Each argument alone, and each output alone: the others absent, and zero."""
        if len(self.leaves) > 1:
            for leaf in self.leaves:
                (alone,) = self._vjp([leaf], self.weights).values()
                self._equal(
                    alone, self.gradients[leaf], f"VJP of {leaf[0]}, asked for alone", leaf[0]
                )
        if len(self.names) > 1:
            for name in self.names:
                one = self._vjp(self.leaves, {name: self.weights[name]})
                zeros = {n: w if n == name else np.zeros_like(w) for n, w in self.weights.items()}
                with_zeros = self._vjp(self.leaves, zeros)
                for leaf in self.leaves:
                    label = f"VJP of {leaf[0]} for {name} alone"
                    self._equal(one[leaf], with_zeros[leaf], label, leaf[0])

    def _other_dtypes(self) -> None:
        """The same numbers in single precision, all of them and one by one, and as whole numbers.

        The gradients are the same, roughly, and each is of the dtype of its argument.
        """
        every = float_leaves(self.spec, self.values)  # complex ones stay as they are
        floats = [leaf for leaf in every if self.at(leaf).dtype.kind == "f"]
        for chosen in [floats, *([leaf] for leaf in floats if len(floats) > 1)]:
            values = self._moved({leaf: to_single(self.at(leaf)) for leaf in chosen})
            is_meant = chosen == every or {name for name, _ in floats} <= set(self.spec.promotes)
            self._in_other_dtypes(values, self.gradients, "in single precision", is_meant)
        if not self.is_usual:
            return
        may_mix = {name for name, _ in floats} <= set(self.spec.promotes)
        for chosen, is_alone in self._beside_others(floats):
            self._with_integers(chosen, may_mix, is_alone)

    @property
    def _tells_dtypes_apart(self) -> bool:
        """Return whether a special point may be one in a single dtype, of numbers that it holds."""
        return self.single_tolerance < SINGLE_TOLERANCE and not self._may_overflow()

    def _beside_others(self, floats: list[Leaf]) -> Iterator[tuple[list[Leaf], bool]]:
        """Each argument alone, those of one dtype together; and all but these."""
        groups: dict[str, list[Leaf]] = {}
        for leaf in floats:
            alone = f"{leaf[0]} {leaf[1]}"
            groups.setdefault("" if leaf[0] in self.spec.same_dtype else alone, []).append(leaf)
        if len(groups) > 1:
            yield from ((group, True) for group in groups.values())
        if len(groups) > 2:
            for group in groups.values():
                yield [leaf for leaf in floats if leaf not in group], False

    def _with_integers(self, chosen: list[Leaf], may_mix: bool, is_alone: bool) -> None:
        """Some arguments as whole numbers, beside others that are none; in small calls as flags,
        and, where an entry promotes, as bytes, which wrap around in formulas of these alone."""
        at = {leaf: self.at(leaf) for leaf in chosen}
        kinds: list[tuple[str, Any, Lines]] = []
        if is_alone:
            whole = {leaf: np.round(array) + 0.0 for leaf, array in at.items()}
            kinds.append(("whole numbers", np.int64, whole))
        if sum(self.at(each).size for each in self.leaves) <= SMALL:
            if is_alone:
                flags = {leaf: (array > 0) * 1.0 for leaf, array in at.items()}
                kinds.append(("flags", np.bool_, flags))
            if may_mix:
                small = {leaf: np.abs(np.round(array)) for leaf, array in at.items()}
                large = {leaf: np.full_like(array, LARGE_BYTE) for leaf, array in at.items()}
                kinds += [("bytes", np.uint8, small), ("large bytes", np.uint8, large)]
        for word, dtype, numbers in kinds:
            rounded = Judge(self.spec, self._moved(numbers), self.rng, True)
            values = self._moved({leaf: array.astype(dtype) for leaf, array in numbers.items()})
            try:
                rounded.start()
                gradients = rounded._vjp(rounded.leaves, self.weights)
                outputs = Call(self.spec, values, [])()
            except Exception:
                continue
            if all(np.array_equal(outputs[n].array, rounded.outputs[n]) for n in self.names):
                how = f"with {word} for {' and '.join(dict.fromkeys(name for name, _ in chosen))}"
                is_whole = dtype is np.int64
                is_meant = may_mix and is_whole
                self._in_other_dtypes(values, gradients, how, is_meant, may_raise=not is_whole)

    @property
    def _real_leaves(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if self.at(leaf).dtype.kind == "f"]

    def _loses_digits(self) -> bool:
        """Return whether values or gradients are noise, or far off where numbers are rounded."""
        return any(self._is_off_where_rounded() for _ in range(ROUNDINGS))

    def _is_off_where_rounded(self) -> bool:
        moved = {f: self.at(f) * (1 + ROUNDED * self.random(self.at(f))) for f in self._real_leaves}
        near = Judge(self.spec, self._moved(moved), self.rng, True)
        near.start()
        found = near._vjp(self.leaves, self.weights)
        single, in_single = self._in_single(moved)
        _, beside = self._in_single({f: self.at(f) for f in self._real_leaves})
        pairs = [(single.outputs[n], self.outputs[n]) for n in self.names]
        pairs += [(found[leaf], gradient) for leaf, gradient in self.gradients.items()]
        # What is zero but for rounding is so at every point: there single precision gives noise.
        pairs += [(beside[leaf], gradient) for leaf, gradient in in_single.items()]
        most = self.single_tolerance / 10
        return any(
            np.abs(a - b).max(initial=0) > most * np.abs(b).max(initial=1e-3) for a, b in pairs
        )

    def _in_single(self, at: Lines) -> tuple[Judge, Lines]:
        """The call in single precision, and its gradients."""
        singles = {leaf: to_single(array) for leaf, array in at.items()}
        single = Judge(self.spec, self._moved(singles), self.rng, True)
        single.start()
        weights = {n: w.astype(single.outputs[n].dtype) for n, w in self.weights.items()}
        return single, single._vjp(self.leaves, weights)

    def _in_other_dtypes(
        self,
        values: dict[str, Any],
        gradients: Lines,
        how: str,
        is_meant: bool,
        *,
        may_raise: bool = True,
    ) -> None:
        """Compare gradients; rules of ops that do not promote may refuse two precisions."""
        again = Judge(self.spec, values, self.rng, True)
        try:
            again.start()
        except Exception:
            return
        self.others.append(again)
        if again.names != self.names or not again.leaves:
            return
        again.may_be_cast = not is_meant
        weights = {n: w.astype(again.outputs[n].dtype) for n, w in self.weights.items()}
        try:
            found = again._vjp(again.leaves, weights)
            direction = {leaf: self.line(leaf).astype(again.at(leaf).dtype) for leaf in found}
            tangents = again._jvp(direction)
        except NoCall:
            return
        except Mismatch as mismatch:
            is_refused = any(words in str(mismatch) for words in _REFUSED)
            if is_meant or not (may_raise or is_refused):
                label = f"{mismatch.label} {how}"
                raise Mismatch(label, mismatch.key, str(mismatch)) from None
            return
        if tangents is not None:
            self._transposed(again, found, weights, (direction, tangents), how)
        # What cancels leaves the rounding of terms that are as large as other gradients.
        most = HUGE if self.single_tolerance == SINGLE_TOLERANCE else SINGULAR
        sizes = [np.abs(gradient).max(initial=0) for gradient in gradients.values()]
        floor = 1e-3 * max([1.0, *(size for size in sizes if size <= most)])
        for leaf, gradient in found.items():
            if leaf in gradients and np.abs(gradients[leaf]).max(initial=0) <= most:
                label, slack = f"VJP of {leaf[0]} {how}", self.single_tolerance
                self._equal(gradient, gradients[leaf], label, leaf[0], slack, floor)

    def _pushed_and_pulled(self) -> None:
        """Compare the JVP with the VJP where results are too coarse for slopes."""
        direction = {leaf: self.line(leaf).astype(self.at(leaf).dtype) for leaf in self.leaves}
        tangents = self._jvp(direction)
        if tangents is None:
            return
        forward = direction, tangents
        try:
            self._transposed(self, self.gradients, self.weights, forward, "in single precision")
        except Mismatch:
            doubles = {leaf: self.at(leaf).astype(np.float64) for leaf in self._real_leaves}
            exact = replace(self, values=self._moved(doubles), is_usual=True)
            exact.start()
            exact.gradients = exact._vjp(exact.leaves, exact.weights)
            if not exact._loses_digits():
                raise

    def _transposed(
        self,
        again: Judge,
        gradients: Lines,
        weights: dict[str, Array],
        forward: tuple[Lines, dict[str, Array]],
        how: str,
    ) -> None:
        """Compare a JVP, by its direction and tangents, with the VJP that is its transpose."""
        direction, tangents = forward
        pulled = sum(pairing(gradients[leaf], d) for leaf, d in direction.items())
        pushed = sum(pairing(weights[n], tangents[n]) for n in again.names)
        size = sum(magnitude(gradients[leaf], d) for leaf, d in direction.items())
        if np.isfinite(size + pushed) and size < HUGE:
            name = again.names[0]
            slack, what = self.single_tolerance * (size + 0.2), f"the VJP gives {pulled:.6g}"
            self._same(pushed, pulled, slack, f"JVP of {name} {how}", name.partition("[")[0], what)

    # ---- second order

    def _second_order(self) -> None:
        """Differentiate the VJP: backwards, and forwards; and the JVP, backwards."""
        lines, mixed = self._together(), self._together()
        twice = self._double_backward(mixed)
        if twice is None:
            return
        if not self._second_along(lines, mixed, twice) and not self.is_usual:
            for direction in self._units(2):  # an element at a kink hides the others
                self._second_along(direction, mixed, twice)
        if self.is_usual and any(isinstance(rule, Formula) for _, rule in self.spec.jvps):
            self._jvp_backwards(mixed, twice)
            self._jvp_forwards(mixed, lines, twice)

    def _second_along(self, direction: Lines, mixed: Lines, twice: Lines) -> bool:
        """Compare the derivative of the VJP with its slope along one line, if that has one.

        Returns whether it was compared. Raises Mismatch.
        """
        got = sum(pairing(twice[leaf], d) for leaf, d in direction.items())
        size = sum(magnitude(twice[leaf], d) for leaf, d in direction.items())
        size += 1e-4 * sum(magnitude(mixed[leaf], self.gradients[leaf]) for leaf in self.leaves)
        between = self._slope_between(direction, mixed)
        if between is not None and abs(got - between) <= 10 * TOLERANCE * max(size, 1e-2):
            self.checked += 1
            return True
        slopes = self._slopes_of_gradient(direction, mixed)
        if slopes is None:
            return False
        ahead, behind = slopes
        size = max(size, abs(ahead), abs(behind), 1e-2)
        key, wanted = next(iter(direction))[0], (ahead + behind) / 2
        slack = 10 * TOLERANCE * size + 2 * abs(ahead - behind)
        if abs(ahead - behind) > 10 * SMOOTH * size:
            return False
        try:
            label, what = f"double backward by {key}", f"the slope of the VJP is {wanted:.6g}"
            self._same(got, wanted, slack, label, key, what)
        except Mismatch:
            if self._may_refuse(got) or (np.isnan(got) and self._leaves_range(mixed)):
                return False
            if self.is_usual or not self._gradient_bends(mixed, slack):
                raise
            return False
        return True
