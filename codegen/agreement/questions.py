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


@dataclass(frozen=True, slots=True)
class Question:
    """One call in floats, and everything that is known about it."""

    call: str
    arguments: dict[str, Any]
    """What each parameter is given: float64 arrays, lists of them, or plain values."""
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
        for run in itertools.islice(chambers.runs(), CHAMBERS):
            yield _question(spec, run, f"{spec.name} at {dict(example.args)}")
    with suppress(NotSymbolic):  # nothing breaks there, as the proof has noted
        yield from _on_kinks(spec, examples)


def _on_kinks(spec: OpSpec, examples: tuple[Example, ...]) -> Iterator[Question]:
    for run, identity in kink_identities(spec, examples):
        if "create_graph" in identity.label:
            continue
        asked = _question(spec, run, f"{spec.name}: {identity.label}")
        expected = {k: value for k, value in asked.expected.items() if k.startswith("output")}
        exact = np.array(identity.expected, dtype=object)
        expected[gradient_by((identity.key, 0))] = floats(exact, _rounded(run))
        yield dataclasses.replace(asked, expected=expected)


def _rounded(run: Run) -> Point:
    return run.point.rounded_to_floats()


def _question(spec: OpSpec, run: Run, call: str) -> Question:
    point = _rounded(run)
    outputs = [output.name for output in spec.signature.outputs]
    positions = {name: _position(name, outputs) for name in run.outputs}
    names = sorted(run.outputs, key=positions.__getitem__)
    expected = {values_of(positions[name]): floats(run.outputs[name], point) for name in names}

    def known(label: str, exact: Array | None, like: Array) -> None:
        zeros = np.zeros(like.shape)
        expected[label] = zeros if exact is None else floats(exact, point)

    for leaf in run.leaves if run.outputs else ():
        array = run.array(leaf)
        known(gradient_by(leaf), run.gradients.get(leaf), array)
        if run.second:
            known(second_by(leaf), run.second.get(leaf), array)
    for name in names if run.leaves else ():
        if run.tangents:
            known(tangent_of(positions[name]), run.tangents.get(name), run.outputs[name])
        if run.second:
            of_cotangent = run.second.get(name)
            known(second_by_cotangent(positions[name]), of_cotangent, run.outputs[name])
    return Question(
        call,
        numeric_values(run.inputs, point),
        run.leaves,
        [positions[name] for name in names],
        [floats(expressions(run.cotangents[name]), point) for name in names],
        [floats(expressions(run.weights[leaf]), point) for leaf in run.leaves],
        expected,
    )


def _position(name: str, outputs: list[str]) -> int:
    """The place of an output among the results; those of a list are numbered."""
    base, bracket, number = name.partition("[")
    return int(number.rstrip("]")) if bracket else outputs.index(base)
