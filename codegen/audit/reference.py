"""Exact derivatives along a line, by the proved rules on exact numbers.

Runs in the workers of a proof. Floats are rational numbers; matrices that an op factorises are
given by their factors, as in a proof. Where no symbols can pass, the rules run on floats.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy

from ..prove.deadline import TimeUp, time_limit
from ..prove.identities.compositions import Composition, Directions
from ..prove.identities.run import Call, Leaf, differentiable_leaves
from ..prove.inputs.draw import Inputs, build, examples_of
from ..prove.numeric.evaluate import Point
from ..prove.symbolic.decisions import tracing
from ..prove.symbolic.symbols import SymArray, expressions, sym_array
from ..prove.zero.number_fields import numeric
from ..spec.model import Example, NotImplementedYet, OpSpec
from ..spec.vocabulary import FACTORIZATIONS
from .meant import as_meant, calls_of, is_meant
from .questions import EXTREME, GENERIC, TRIANGLE, Array, Question, order_of
from .variations import variations

MOST_EXAMPLES = 4
SECONDS_FOR_QUESTION = 4.0
_DIGITS = (60, 110)
_AGREEMENT = 1e-20
_BIGGEST = 40
"""The elements of the largest argument that programs can show."""


class Disagreement(str):
    """Says where modes of gradspec differ from each other."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One call: numbers for programs, and the same exactly."""

    floats: dict[str, Any]
    exact: dict[str, Any]
    point: Point
    leaves: tuple[Leaf, ...]
    symmetric: frozenset[str]
    kind: str
    where: str


def questions_of(op: OpSpec, *, complex_only: bool = False) -> Iterator[Question | str]:
    """The questions about one op, or why one cannot be asked.

    Of an op that is swept only those of complex numbers are left.
    """
    examples = [e for e in _chosen(op) if has_complex(e) or not complex_only]
    for number, example in enumerate([*examples, *calls_of(op)]):
        try:
            settings = list(settings_of(op, example, number))
        except Exception as error:
            yield f"example {number}: {type(error).__name__}: {error}"
            continue
        for setting in settings:
            yield from _asked(op, setting)


def _chosen(op: OpSpec) -> Sequence[Example]:
    """Examples that are small, complex ones among them."""
    examples = examples_of(op)
    if len(examples) <= MOST_EXAMPLES:
        return examples
    complex_ones = [example for example in examples if has_complex(example)]
    return [*examples[: MOST_EXAMPLES - 1], *(complex_ones[:1] or examples[-1:])]


def has_complex(example: Example) -> bool:
    """Return whether an example has an argument of complex numbers."""
    return any(_kind(given) == "complex" for _, given in example.args)


def _kind(given: Any) -> str:
    return next(iter(given)) if isinstance(given, Mapping) else ""


def settings_of(op: OpSpec, example: Example, number: int) -> Iterator[Setting]:
    """Two witnesses of an example, and variations of the first; none without a gradient."""
    inputs = build(op, example)
    factored = _factored(example)
    for turn in range(2):
        setting = _witness(op, example, inputs, f"{number} {turn}")
        if setting.leaves and is_small(setting):
            yield setting
            if turn == 0:
                yield from _varied(op, inputs, setting, factored)
                if setting.symmetric:
                    yield replace(
                        setting,
                        symmetric=frozenset(),
                        kind=TRIANGLE,
                        where="one half of a symmetric matrix moves",
                    )


def setting_of(op: OpSpec, example: Example, number: int) -> Setting:
    """The first witness of an example, also of one without a gradient."""
    return _witness(op, example, build(op, example), f"{number} 0")


def is_small(setting: Setting) -> bool:
    """Return whether programs can show the arguments of a call."""
    return max(map(np.size, _arrays(setting.floats)), default=0) <= _BIGGEST


def _factored(example: Example) -> set[str]:
    """The arguments that are given by their factors."""
    return {name for name, given in example.args if _kind(given) in FACTORIZATIONS}


def _witness(op: OpSpec, example: Example, inputs: Inputs, seed: str) -> Setting:
    leaves = tuple(leaf for leaf in differentiable_leaves(op, inputs) if not _is_refused(op, leaf))
    factored = _factored(example)
    symmetric = frozenset(n for n, given in example.args if _kind(given) in ("cholesky", "eigh"))
    point = inputs.draw(random.Random(f"{op.name} {seed}"))
    floats = {k: _short(numeric(v, point), k not in factored) for k, v in inputs.values.items()}
    floats = as_meant(op, floats)
    return Setting(
        floats,
        {k: _exact(v, floats[k], k in factored) for k, v in inputs.values.items()},
        point,
        leaves,
        symmetric,
        GENERIC,
        "",
    )


def _is_refused(op: OpSpec, leaf: Leaf) -> bool:
    return op.composite is None and isinstance(op.rule(leaf[0]), NotImplementedYet)


def _varied(op: OpSpec, inputs: Inputs, setting: Setting, factored: set[str]) -> Iterator[Setting]:
    for leaf in setting.leaves:
        if leaf[0] in factored or isinstance(inputs.values[leaf[0]], list):
            continue
        for kind, where, array in variations(op, leaf[0], setting.floats[leaf[0]]):
            floats = as_meant(op, setting.floats | {leaf[0]: array})
            exact = setting.exact | {leaf[0]: _exact(None, floats[leaf[0]], False)}
            yield Setting(
                floats,
                exact,
                setting.point,
                setting.leaves,
                setting.symmetric,
                kind,
                f"{where} in {leaf[0]}",
            )


def _arrays(values: Mapping[str, Any]) -> Iterator[Array]:
    for value in values.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, np.ndarray):
                yield item


def _short(value: Any, may_round: bool) -> Any:
    """Round the elements of an array to short numbers, which programs show."""
    if isinstance(value, list):
        return [_short(item, may_round) for item in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not may_round:
        return value
    rounded = np.round(value * 64) / 64
    near = np.abs(value) < 0.25
    return np.where(near, np.round(value * 4096) / 4096, rounded)


def _exact(given: Any, floats: Any, is_factored: bool) -> Any:
    """The exact model of what a program is given."""
    if isinstance(floats, list):
        return [
            _exact(g, f, is_factored)
            for g, f in zip(given or [None] * len(floats), floats, strict=True)
        ]
    if is_factored:
        return given
    if isinstance(floats, np.ndarray) and floats.dtype.kind in "fc":
        return rational(floats)
    return given if given is not None else floats


def rational(array: Array) -> SymArray:
    """Floats as the rational numbers that they are."""
    return sym_array([_number(x) for x in array.flat], array.shape)


def _number(x: Any) -> sympy.Expr:
    if isinstance(x, complex):
        return sympy.Rational(x.real) + sympy.I * sympy.Rational(x.imag)
    return sympy.Rational(float(x))


def _asked(op: OpSpec, setting: Setting) -> Iterator[Question | str]:
    """Ask along all arguments together; at a usual point along each alone, too."""
    groups = [setting.leaves]
    if setting.kind == GENERIC and len(setting.leaves) > 1:
        groups += [(leaf,) for leaf in setting.leaves]
    for leaves in groups:
        try:
            with time_limit(SECONDS_FOR_QUESTION):
                question = _question(op, setting, leaves)
        except TimeUp:
            yield f"{setting.where or 'a usual point'}: no answer in {SECONDS_FOR_QUESTION:.0f} s"
        except Exception as error:
            yield f"{setting.where or 'a usual point'}: {type(error).__name__}: {error}"
        else:
            yield from question


def _question(op: OpSpec, setting: Setting, leaves: tuple[Leaf, ...]) -> Iterator[Question | str]:
    drawn = {leaf: _tangent(setting, leaf, n) for n, leaf in enumerate(leaves)}
    plain = {k: v for k, v in setting.floats.items() if not isinstance(v, np.ndarray | list)}
    tangents = {
        leaf: as_meant(op, plain | {leaf[0]: tangent})[leaf[0]] for leaf, tangent in drawn.items()
    }
    outputs = outputs_of(op, setting)
    cotangents = {name: weights_like(array) for name, array in outputs.items()}
    ends = [output.name for output in op.signature.outputs]
    places = tuple(
        (int(n.partition("[")[2][:-1]) if "[" in n else ends.index(n), n, w)
        for n, w in cotangents.items()
    )
    digits = 50
    try:
        found = _derivatives(op, setting.exact, setting.point, leaves, cotangents, tangents)
    except (Exception, TimeUp):
        found = None
    if found is None or any(x is not None and np.isnan(x) for x in found[1].values()):
        found = _derivatives(op, setting.floats, None, leaves, cotangents, tangents)
        digits = 16
    value, modes = found
    first = _same([modes["VJP"], modes["JVP"]])
    second = _same([modes[m] for m in ("VJP∘VJP", "JVP∘VJP", "VJP∘JVP", "JVP∘JVP")])
    if first is None or second is None:
        shown = ", ".join(f"{mode} {number}" for mode, number in modes.items())
        return iter([Disagreement(f"{setting.where or 'a usual point'}: {shown}")])
    if setting.kind == EXTREME:
        _, own = _derivatives(op, setting.floats, None, leaves, cotangents, tangents)
        first, second = _where_floats_hold(first, own, 1), _where_floats_hold(second, own, 2)
    return iter(
        [
            Question(
                op.name,
                setting.floats,
                tangents,
                places,
                setting.kind,
                setting.where,
                value,
                (first, second),
                digits,
            )
        ]
    )


def _where_floats_hold(exact: float, own: Mapping[str, float | None], order: int) -> float:
    """The exact derivative; nan where a mode of gradspec overflows, too, on floats."""
    answers = [found for mode, found in own.items() if order_of(mode) == order]
    near = [found is None or abs(found - exact) <= 1e-6 * max(1.0, abs(exact)) for found in answers]
    return exact if all(near) else float("nan")


def _same(answers: Sequence[float | None]) -> float | None:
    """The finite number that modes answer, or nan; None where they differ. One may have none."""
    given = [x for x in answers if x is not None]
    if not given or not np.isfinite(given).all():
        return float("nan")
    first = given[0]
    agree = all(abs(x - first) <= 1e-7 * max(1.0, abs(first)) for x in given)
    return first if agree else None


def _tangent(setting: Setting, leaf: Leaf, number: int) -> Array:
    value = setting.floats[leaf[0]]
    array = value[leaf[1]] if isinstance(value, list) else value
    made = _pattern(array, (1.0, -0.5, 2.0, 0.75, -1.25, 0.5, 1.5), number)
    if leaf[0] in setting.symmetric:
        return np.asarray((made + np.swapaxes(made.conj(), -1, -2)) / 2)
    return made


def weights_like(array: Array) -> Array:
    """Weights for the elements of an output, short numbers."""
    return _pattern(array, (1.0, 2.0, -1.0, 3.0, -2.0), 0)


def _pattern(like: Array, numbers: Sequence[float], start: int) -> Array:
    count = len(numbers)
    real = np.array([numbers[(i + start) % count] for i in range(like.size)]).reshape(like.shape)
    if like.dtype.kind != "c":
        return real
    turned = [numbers[(i + start + 2) % count] for i in range(like.size)]
    return np.asarray(real + 1j * np.reshape(turned, like.shape))


def outputs_of(op: OpSpec, setting: Setting) -> dict[str, Array]:
    """The outputs with a gradient, as floats."""
    outputs = Call(op, setting.floats, list(setting.leaves))()
    allowed = {o.name for o in op.differentiable_outputs if is_meant(op, o.name)}
    return {
        name: tensor.array
        for name, tensor in outputs.items()
        if name.partition("[")[0] in allowed
        and tensor.array.dtype.kind in "fc"
        and tensor.requires_grad
    }


def _derivatives(
    op: OpSpec,
    values: dict[str, Any],
    point: Point | None,
    leaves: tuple[Leaf, ...],
    cotangents: Mapping[str, Array],
    tangents: Mapping[Leaf, Array],
) -> tuple[float, dict[str, float | None]]:
    """The value and every mode's derivative along the line."""
    lift = rational if point is not None else np.asarray
    directions = Directions(
        {n: lift(a) for n, a in cotangents.items()},
        {n: lift(a) for n, a in tangents.items()},
        {n: lift(a) for n, a in tangents.items()},
    )

    def composition() -> Composition:
        copied = {k: list(v) if isinstance(v, list) else v for k, v in values.items()}
        return Composition(op, copied, list(leaves), directions)

    def total(found: Mapping[Any, Any], weights: Mapping[Any, Array]) -> float:
        return _total(found, weights, point)

    def both() -> tuple[float, dict[str, float | None]]:
        value = total(composition().values(), cotangents)
        modes: dict[str, Any] = {
            "VJP": lambda: total(composition().vjp(), tangents),
            "JVP": lambda: total(composition().jvp(), cotangents),
            "VJP∘VJP": lambda: total(composition().vjp_of_vjp(), tangents),
            "JVP∘VJP": lambda: total(composition().jvp_of_vjp(), tangents),
            "VJP∘JVP": lambda: total(composition().vjp_of_jvp()[0], tangents),
            "JVP∘JVP": lambda: total(composition().jvp_of_jvp(), cotangents),
        }
        return value, {mode: _answer(ask) for mode, ask in modes.items()}

    if point is None:
        with np.errstate(all="ignore"):
            return both()
    with tracing(point):
        return both()


def _answer(ask: Any) -> float | None:
    try:
        return float(ask())
    except NotImplementedError:
        return None


def _total(found: Mapping[Any, Any], weights: Mapping[Any, Array], point: Point | None) -> float:
    """The real part of a sum of products with conjugate weights."""
    if point is None:
        return float(
            sum(np.sum((np.conj(weights[k]) * a).real) for k, a in found.items() if a is not None)
        )
    terms = []
    for key, array in found.items():
        if array is not None:
            pairs = zip(weights[key].flat, expressions(array).flat, strict=True)
            terms += [
                _number(complex(w).conjugate() if isinstance(w, complex) else w) * e
                for w, e in pairs
            ]
    return _evaluate(sympy.Add(*terms), point)


def _evaluate(expr: sympy.Expr, point: Point) -> float:
    """The value of an expression, with digits added until two values agree."""
    previous = None
    for digits in _DIGITS:
        found = Point(point.values, digits).value(expr)
        real = found.real
        if previous is not None and abs(real - previous) <= _AGREEMENT * max(1, abs(previous)):
            return float(real)
        previous = real
    return float("nan")
