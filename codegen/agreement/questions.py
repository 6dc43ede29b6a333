"""The calls that emitted code is asked about: at witnesses of the proof, with exact answers.

The proof runs an op on symbols and shows that the expressions are its derivatives. Here they are
evaluated with 50 digits, at the floats that the framework is given.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sympy

from ..prove.identities.run import Leaf, Run
from ..prove.inputs.chambers import Chambers
from ..prove.inputs.draw import build, examples_of
from ..prove.inputs.kinks import kink_identities
from ..prove.numeric.evaluate import Point
from ..prove.symbolic.complex_numbers import complex_examples
from ..prove.symbolic.symbols import expressions
from ..prove.zero.number_fields import floats, numeric_values
from ..render.to_sympy import NotSymbolic
from ..spec.model import Example, OpSpec

Array: TypeAlias = np.ndarray[Any, Any]

CHAMBERS = 16
"""The most runs of one example: each combination of branches is one."""


FAR = 1000.0
"""Witnesses with larger arguments are left out: what differs there is how floats round.

A chamber may lie that far out: products of such numbers cancel, and take the digits with them.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """One call in floats, and everything that is known about it."""

    call: str
    arguments: dict[str, Any]
    """Values of the parameters: float64 arrays, lists of them, or plain values."""
    leaves: list[Leaf]
    """The arguments that are differentiated by."""
    outputs: list[int]
    """The positions of the outputs that have a gradient."""
    cotangents: list[Array]
    weights: list[Array]
    """The tangents of the leaves, and the cotangents of their gradients."""
    expected: dict[str, Array] = field(default_factory=dict)
    """The exact value of each thing that is asked, by its label."""


def values_of(output: int) -> str:
    return f"output {output}"


def gradient_by(leaf: Leaf) -> str:
    return f"VJP of {leaf[0]}[{leaf[1]}]"


def tangent_of(output: int) -> str:
    return f"JVP of output {output}"


def second_by(leaf: Leaf) -> str:
    return f"second derivative by {leaf[0]}[{leaf[1]}]"


def second_by_cotangent(output: int) -> str:
    return f"second derivative by the cotangent of output {output}"


def questions(spec: OpSpec) -> Iterator[Question]:
    """Every call of the proof's examples, in each chamber, and on declared kinks."""
    examples = examples_of(spec)
    for example in (*examples, *complex_examples(spec, examples)):
        chambers = Chambers(spec, build(spec, example), random.Random(spec.name))
        asked = [_question(spec, run, "") for run in itertools.islice(chambers.runs(), CHAMBERS)]
        near = [each for each in asked if _size(each) <= FAR]
        yield from near or asked[:1]
    with suppress(NotSymbolic):  # nothing breaks there, as the proof has noted
        yield from _on_kinks(spec, examples)


def _on_kinks(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Question]:
    for run, identity in kink_identities(spec, examples):
        if "create_graph" in identity.label:
            continue
        asked = _question(spec, run, f", the {identity.label}")
        expected = {k: value for k, value in asked.expected.items() if k.startswith("output")}
        exact = np.array(identity.expected, dtype=object)
        expected[gradient_by((identity.key, 0))] = floats(exact, _rounded(run))
        yield dataclasses.replace(asked, expected=expected)


def _rounded(run: Run) -> Point:
    """The witness in floats, with cotangents and tangents of the order of one.

    Answers are linear in these, so nothing is lost but the digits that large ones would cost.
    """
    rng = random.Random(len(run.point.values))
    free: set[sympy.Symbol] = set()
    for array in (*run.cotangents.values(), *run.weights.values()):
        free |= set().union(*(expr.free_symbols for expr in expressions(array).flat))
    own = set().union(*(e.free_symbols for leaf in run.leaves for e in run.array(leaf).flat))
    ones = {
        symbol: sympy.Rational(rng.randint(50, 150), 100) for symbol in sorted(free - own, key=str)
    }
    return run.point.moved(ones).rounded_to_floats()


def _question(spec: OpSpec, run: Run, place: str) -> Question:
    """The call of a run; `place` says more of where that is."""
    point = _rounded(run)
    arguments = numeric_values(run.inputs, point)
    outputs = [output.name for output in spec.signature.outputs]
    positions = {name: _position(name, outputs) for name in run.outputs}
    names = sorted(run.outputs, key=positions.__getitem__)
    results = {name: floats(run.outputs[name], point) for name in names}
    expected = {values_of(positions[name]): results[name] for name in names}

    def known(label: str, exact: Array | None, like: Array) -> None:
        """Note an exact value; of what is real the real part, as dtypes make it of floats."""
        value = np.zeros(like.shape) if exact is None else floats(exact, point)
        expected[label] = value if like.dtype.kind == "c" else value.real

    for leaf in run.leaves if run.outputs else ():
        array = floats(run.array(leaf), point)
        known(gradient_by(leaf), run.gradients.get(leaf), array)
        if run.second:
            known(second_by(leaf), run.second.get(leaf), array)
    for name in names if run.leaves else ():
        like = results[name]
        if run.tangents:
            known(tangent_of(positions[name]), run.tangents.get(name), like)
        if run.second:
            known(second_by_cotangent(positions[name]), run.second.get(name), like)
    return Question(
        shown(spec, arguments) + place,
        arguments,
        run.leaves,
        [positions[name] for name in names],
        [floats(expressions(run.cotangents[name]), point) for name in names],
        [floats(expressions(run.weights[leaf]), point) for leaf in run.leaves],
        expected,
    )


def _size(question: Question) -> float:
    """The largest argument that is differentiated by."""
    largest = 0.0
    for name, number in question.leaves:
        value = question.arguments[name]
        array = value[number] if isinstance(value, list) else value
        largest = max(largest, float(np.max(np.abs(array), initial=0.0)))
    return largest


def shown(spec: OpSpec, arguments: dict[str, Any]) -> str:
    """Write a call."""

    def text(value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(text, value))}]"
        return str(value.tolist()) if isinstance(value, np.ndarray) else repr(value)

    words = (f"{name}={text(value)}" for name, value in arguments.items())
    return f"{spec.signature.name}({', '.join(words)})"


def _position(name: str, outputs: list[str]) -> int:
    """The place of an output among the results; those of a list are numbered."""
    base, bracket, number = name.partition("[")
    return int(number.rstrip("]")) if bracket else outputs.index(base)
