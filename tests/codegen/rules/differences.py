"""Derivatives of a generated op beside differences of its values, without the prover.

A difference is taken along a line, on both sides. Where the sides agree the derivative must be
the slope, also at a single point; where they differ it must lie between them. Derivatives of
derivatives are compared with differences of what is differentiated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradspec.autograd import grad
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.core.tensor import Tensor, wrap
from gradspec.func import vmap
from gradspec_codegen.spec.model import OpSpec

Array = np.ndarray[Any, Any]
Leaf = tuple[str, int]
Lines = dict[Leaf, Array]
Outputs = dict[str, Tensor]

STEP = 2.0**-13
TOLERANCE = 2e-4
MOST_LINES = 60
STEEP = 1e5
"""A larger slope of one side alone is a pole."""


@dataclass
class Differences:
    """One mode of differentiation of an op at one point."""

    spec: OpSpec
    op: Callable[..., Any]
    values: dict[str, Any]
    mode: str
    dtype: str = "float64"
    output: str | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    fixed: dict[str, Array] = field(default_factory=dict)
    """The cotangents and tangents of the inner derivatives."""

    def find(self) -> str | None:
        """Say what is wrong, if anything is."""
        if self.mode == "memory":
            return self._memory()
        if self.mode == "batch":
            return self._batch()
        outer, _, inner = self.mode.partition(" of ")
        leaves = self.leaves()
        arrays = {leaf: np.asarray(self._item(leaf)) for leaf in leaves}
        middle = self._numbers(inner, arrays)
        weights = {
            n: self._random(v) if self.output in (None, n) else np.zeros_like(v)
            for n, v in middle.items()
        }
        lines = [(line, self._slopes(inner, arrays, line, middle)) for line in self._lines(arrays)]
        try:
            if outer == "VJP":
                return self._compare_vjp(inner, arrays, weights, lines)
            return self._compare_jvp(inner, arrays, lines)
        except _Wrong as wrong:
            return str(wrong)

    # ---- the op

    def leaves(self) -> list[Leaf]:
        """The arguments that can move; those that are declared constant do too."""
        return [
            (param.name, place)
            for param in self.spec.signature.tensor_params
            for place, item in enumerate(_items(self.values.get(param.name)))
            if isinstance(item, np.ndarray) and item.dtype.kind in "fc"
        ]

    def _item(self, leaf: Leaf) -> Array:
        found: Array = list(_items(self.values[leaf[0]]))[leaf[1]]
        return found

    def _call(self, tensors: Mapping[Leaf, Tensor]) -> Outputs:
        given = {}
        for name, value in self.values.items():
            if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
                given[name] = [tensors.get((name, n), v) for n, v in enumerate(value)]
                given[name] = [v if isinstance(v, Tensor) else wrap(v) for v in given[name]]
            elif isinstance(value, np.ndarray):
                given[name] = tensors.get((name, 0), wrap(value))
            else:
                given[name] = value
        params = {param.name: param.public for param in self.spec.signature.params}
        found = self.op(**{params[name]: value for name, value in given.items()})
        names = [output.name for output in self.spec.signature.outputs]
        if not isinstance(found, tuple | list):
            return {names[0]: found}
        if len(names) == 1:
            return {f"{names[0]}[{n}]": t for n, t in enumerate(found)}
        return dict(zip(names, found, strict=True))

    def _memory(self) -> str | None:
        arrays = [
            v for value in self.values.values() for v in _items(value) if isinstance(v, np.ndarray)
        ]
        outputs = {name: output.array for name, output in self._call({}).items()}
        viewed = self.spec.signature.view_of
        for name, output in outputs.items():
            if any(np.shares_memory(output, array) for array in arrays) != (viewed is not None):
                return f"{name} shares the memory of an argument, or is no view of it"
        for (one, first), (other, second) in itertools.combinations(outputs.items(), 2):
            if viewed is None and np.shares_memory(first, second):
                return f"{one} shares the memory of {other}"
        return None

    def _batch(self) -> str | None:
        """Compare what `vmap` computes of an example and its double with the op's own results."""
        names = [n for n, v in self.values.items() if isinstance(v, np.ndarray)]
        rows = [[wrap(k * self.values[n]) for n in names] for k in (1, 2)]

        def of_one(*tensors: Tensor) -> Any:
            return self._call({(n, 0): t for n, t in zip(names, tensors, strict=True)})

        stacked = [wrap(np.stack([one.array, two.array])) for one, two in zip(*rows, strict=True)]
        together = vmap(of_one)(*stacked)
        for place, row in enumerate(rows):
            for name, wanted in of_one(*row).items():
                found = together[name].array[place]
                if not np.allclose(found, wanted.array):
                    return f"{name} of a batch is {found}, and {wanted.array} one by one"
        return None

    # ---- what is differentiated: the op, or a derivative of it

    def _derived(self, mode: str, tensors: Mapping[Leaf, Tensor]) -> Outputs:
        """The outputs of the op, or of a derivative of it, as differentiable tensors."""
        if not mode:
            outputs = self._call(tensors)
            return {n: t for n, t in outputs.items() if t.array.dtype.kind in "fc"}
        outer, _, inner = mode.partition(" of ")
        if outer == "VJP":
            return self._pulled(inner, tensors)
        return self._pushed(inner, tensors)

    def _pulled(self, inner: str, tensors: Mapping[Leaf, Tensor]) -> Outputs:
        leaves = {
            leaf: t if t.requires_grad else t.detach().requires_grad_()
            for leaf, t in tensors.items()
        }
        outputs = self._derived(inner, leaves)
        named = [n for n, t in outputs.items() if t.requires_grad]
        if not named:
            return {f"grad {leaf}": wrap(np.zeros_like(t.array)) for leaf, t in leaves.items()}
        found = grad(
            [outputs[n] for n in named],
            list(leaves.values()),
            [wrap(self._constant(f"{inner} cotangent {n}", outputs[n].array)) for n in named],
            create_graph=True,
            allow_unused=True,
        )
        return {
            f"grad {leaf}": wrap(np.zeros_like(t.array)) if g is None else g
            for (leaf, t), g in zip(leaves.items(), found, strict=True)
        }

    def _pushed(self, inner: str, tensors: Mapping[Leaf, Tensor]) -> Outputs:
        with dual_level():
            duals = {
                leaf: make_dual(t, wrap(self._constant(f"{inner} tangent {leaf}", t.array)))
                for leaf, t in tensors.items()
            }
            found = {n: unpack_dual(t) for n, t in self._derived(inner, duals).items()}
        return {
            n: wrap(np.zeros_like(d.primal.array)) if d.tangent is None else d.tangent
            for n, d in found.items()
        }

    def _constant(self, name: str, like: Array) -> Array:
        if name not in self.fixed:
            self.fixed[name] = self._random(like)
        return self.fixed[name].astype(like.dtype)

    def _numbers(self, mode: str, arrays: Lines) -> dict[str, Array]:
        tensors = {leaf: wrap(np.array(a)) for leaf, a in arrays.items()}
        return {n: np.array(t.array) for n, t in self._derived(mode, tensors).items()}

    # ---- comparisons

    def _compare_vjp(
        self, inner: str, arrays: Lines, weights: dict[str, Array], lines: list[Any]
    ) -> str | None:
        gradients = self._gradients(inner, arrays, weights)
        for line, slopes in lines:
            got = sum(_pairing(gradients[leaf], d) for leaf, d in line.items())
            sides = [sum(_pairing(weights[n], slopes[n][side]) for n in weights) for side in (0, 1)]
            terms = [_pairing(weights[n], s[k]) for n, s in slopes.items() for k in (0, 1)]
            size = max([1e-2, *map(abs, terms)])
            low = sum(min(_terms(weights[n], a, b)) for n, (a, b) in slopes.items())
            high = sum(max(_terms(weights[n], a, b)) for n, (a, b) in slopes.items())
            if _is_off(got, sides, low, high, self._slack() * size):
                shown = f"{sides[0]:.6g}, {sides[1]:.6g}"
                return f"{got:.6g} along {_text(line)}: the slopes are {shown}"
        return None

    def _gradients(self, inner: str, arrays: Lines, weights: dict[str, Array]) -> Lines:
        leaves = {leaf: wrap(_like(a, self.dtype)).requires_grad_() for leaf, a in arrays.items()}
        try:
            outputs = self._derived(inner, leaves)
            named = [n for n in weights if outputs[n].requires_grad]
            if self.output is not None:
                named = [n for n in named if n == self.output]
            found: Any = [None] * len(leaves)
            if named:
                found = grad(
                    [outputs[n] for n in named],
                    list(leaves.values()),
                    [wrap(weights[n].astype(outputs[n].array.dtype)) for n in named],
                    allow_unused=True,
                )
        except Exception as error:
            raise _Wrong(f"the VJP raises {type(error).__name__}: {error}") from None
        gradients: Lines = {}
        for (leaf, tensor), gradient in zip(leaves.items(), found, strict=True):
            at = tensor.array
            if gradient is None:
                gradients[leaf] = np.zeros_like(arrays[leaf])
            elif gradient.array.shape != at.shape or gradient.array.dtype != at.dtype:
                kind = f"{gradient.array.dtype}{list(gradient.array.shape)}"
                raise _Wrong(f"the VJP of {leaf[0]} is {kind} for {at.dtype}{list(at.shape)}")
            else:
                gradients[leaf] = gradient.array
        return gradients

    def _compare_jvp(self, inner: str, arrays: Lines, lines: list[Any]) -> str | None:
        for line, slopes in lines:
            try:
                with dual_level():
                    duals = {
                        leaf: make_dual(
                            wrap(_like(a, self.dtype)).requires_grad_(bool(inner)),
                            wrap(_like(line[leaf], self.dtype)),
                        )
                        for leaf, a in arrays.items()
                    }
                    found = {n: unpack_dual(t) for n, t in self._derived(inner, duals).items()}
            except Exception as error:
                return f"the JVP raises {type(error).__name__}: {error}"
            for n, dual in found.items():
                zeros = np.zeros_like(dual.primal.array)
                tangent = zeros if dual.tangent is None else dual.tangent.array
                if tangent.shape != zeros.shape or tangent.dtype != zeros.dtype:
                    return f"the JVP of {n} is {tangent.dtype}{list(tangent.shape)}"
                ahead, behind = slopes[n]
                both = np.concatenate([np.ravel(ahead), np.ravel(behind)])
                size = np.abs(both[np.isfinite(both)]).max(initial=1e-2)
                for got, a, b in zip(*map(np.ravel, (tangent, ahead, behind)), strict=True):
                    for part in (np.real, np.imag):
                        pair = [float(part(a)), float(part(b))]
                        if _is_off(
                            float(part(got)), pair, min(pair), max(pair), self._slack() * size
                        ):
                            return f"{got:.6g} along {_text(line)}: the slopes are {a:.6g}, {b:.6g}"
        return None

    def _slack(self) -> float:
        return TOLERANCE if self.dtype == "float64" else 5e-3

    # ---- slopes

    def _lines(self, arrays: Lines) -> Iterator[Lines]:
        """Single elements, pairs of neighbours, all together, and random ones."""
        zeros = {leaf: np.zeros_like(a) for leaf, a in arrays.items()}
        places = [(leaf, n) for leaf, a in arrays.items() for n in range(a.size)]
        yield {leaf: np.ones_like(a) for leaf, a in arrays.items()}
        for _ in range(3):
            yield {leaf: self._random(a) for leaf, a in arrays.items()}
        alone = [[place] for place in places]
        pairs = [list(pair) for pair in itertools.combinations(places[:8], 2)]
        for moving in [*alone, *pairs][:MOST_LINES]:
            line = {leaf: z.copy() for leaf, z in zeros.items()}
            for leaf, n in moving:
                line[leaf].flat[n] = 1.0
            yield line

    def _slopes(
        self, inner: str, arrays: Lines, line: Lines, middle: dict[str, Array]
    ) -> dict[str, tuple[Array, Array]]:
        sides = []
        for step in (STEP, -STEP):
            try:
                near, far = (
                    self._numbers(inner, {k: a + s * line[k] for k, a in arrays.items()})
                    for s in (step, 2 * step)
                )
            except Exception:
                sides.append({n: np.full(np.shape(v), np.nan) for n, v in middle.items()})
                continue
            with np.errstate(all="ignore"):
                sides.append(
                    {
                        n: (4 * near[n] - 3 * v - far[n]) / (2 * step)
                        if near[n].shape == v.shape == far[n].shape
                        else np.full(np.shape(v), np.nan)
                        for n, v in middle.items()
                    }
                )
        return {n: (sides[0][n], sides[1][n]) for n in middle}

    def _random(self, like: Array) -> Array:
        shape = np.shape(like)
        real = self.rng.uniform(0.5, 2, shape) * self.rng.choice((-1.0, 1.0), shape)
        if like.dtype.kind == "c":
            return np.asarray(real + 1j * self.rng.uniform(0.5, 2, shape))
        return np.asarray(real)


class _Wrong(Exception):
    """Something other than a number is wrong."""


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _like(array: Array, dtype: str) -> Array:
    """The array in another precision and the same order in memory."""
    kind = {"float32": {"f": "float32", "c": "complex64"}}.get(dtype, {}).get(array.dtype.kind)
    return array.astype(kind) if kind else array


def _pairing(one: Array, other: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.sum(np.real(np.conj(one) * other)))


def _terms(weight: Array, ahead: Array, behind: Array) -> tuple[float, float]:
    with np.errstate(all="ignore"):
        one, other = (np.real(np.conj(weight) * side) for side in (ahead, behind))
    return float(np.sum(np.minimum(one, other))), float(np.sum(np.maximum(one, other)))


def _is_off(got: float, sides: list[float], low: float, high: float, slack: float) -> bool:
    """Return whether a derivative is neither the slope nor between the slopes of both sides."""
    there = [side for side in sides if np.isfinite(side)]
    if max(map(abs, there), default=0.0) > STEEP and not np.allclose(*sides, rtol=1e-3):
        return False
    if not there:
        return False
    if len(there) == 1:
        return bool(np.isfinite(sides).sum() == 1) and not abs(got - there[0]) <= slack
    if abs(there[0] - there[1]) <= slack:  # smooth: as exact as the differences are
        slack = min(slack, 0.15 * slack + 8 * abs(there[0] - there[1]))
    return not low - slack <= got <= high + slack


def _text(line: Lines) -> str:
    return ", ".join(f"{leaf[0]} {np.round(d, 3).tolist()}" for leaf, d in line.items())[:120]
