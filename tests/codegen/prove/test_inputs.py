"""Witnesses lie in the domain, cross thresholds, and are the same every time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
import sympy

from gradspec_codegen.prove.inputs.draw import Inputs, build, examples_of
from gradspec_codegen.prove.symbolic.symbols import SymArray, expressions
from gradspec_codegen.spec.model import OpSpec, Table

Load = Callable[..., Table]

ENTRY = """
- name: f(Tensor self, Tensor other, Scalar alpha=2) -> Tensor
  doc: Something.
  forward: self + other * alpha
  self: grad
  other: grad * alpha
  result: self_t + other_t * alpha
  promotes: self, other
"""


def op(load: Load, *lines: str) -> OpSpec:
    return load(ENTRY + "".join(f"  {line}\n" for line in lines)).ops[0]


def inputs_of(load: Load, *lines: str) -> Inputs:
    spec = op(load, *lines)
    return build(spec, examples_of(spec)[0])


def test_symbols_are_called_after_argument_and_index(load: Load) -> None:
    inputs = inputs_of(load, "examples: [{self: [2, 1], other: [], alpha: 3}]")
    assert [str(e) for e in expressions(inputs.values["self"]).flat] == ["self_00", "self_10"]
    assert str(expressions(inputs.values["other"])[()]) == "other"
    assert inputs.values["alpha"] == 3


def test_defaults_and_literals(load: Load) -> None:
    inputs = inputs_of(load, "examples: [{self: {float: [0.5, -1]}, other: {int: [[1], [2]]}}]")
    assert inputs.values["alpha"] == 2
    assert list(expressions(inputs.values["self"])) == [sympy.Rational(1, 2), -1]
    assert type(inputs.values["self"]) is SymArray
    assert inputs.values["other"].dtype == np.int64
    assert inputs.symbols == {}


def test_elementwise_ops_have_examples_that_broadcast(load: Load) -> None:
    shapes = [dict(example.args) for example in examples_of(op(load))]
    assert {"self": [2, 3], "other": [3]} in shapes
    assert {"self": [], "other": [2]} in shapes


def test_witnesses_are_reproducible_distinct_and_spread(load: Load) -> None:
    inputs = inputs_of(load, "examples: [{self: [5, 5], other: [5]}]")
    first, again = (list(inputs.draw(random.Random("f")).values.values()) for _ in range(2))
    assert first == again
    sizes = sorted(abs(value) for value in first)
    assert len(set(sizes)) == len(first) == 30
    assert sizes[0] < 0.1
    assert sizes[-1] > 20
    assert min(first) < 0 < max(first)


@pytest.mark.parametrize(
    ("domain", "holds"),
    [
        ("{self: positive}", lambda x, y: x > 0),
        ("{self: negative}", lambda x, y: x < 0),
        ("{self: unit}", lambda x, y: 0 < x < 1),
        ("{self: -1 < self < 1}", lambda x, y: -1 < x < 1),
        ("{self: self > 3}", lambda x, y: x > 3),
        ("{self: 2 >= self}", lambda x, y: x < 2),
        ("{other: other > self}", lambda x, y: y > x),
        ("{other: other < alpha}", lambda x, y: y < 2),
        ("{self: positive, other: 0 < other < self}", lambda x, y: 0 < y < x),
        ("{self: 0 < self < pi}", lambda x, y: 0 < x < math.pi),
    ],
)
def test_witnesses_lie_in_the_domain(
    load: Load, domain: str, holds: Callable[[float, float], bool]
) -> None:
    inputs = inputs_of(load, f"domain: {domain}", "examples: [{self: [2], other: []}]")
    rng = random.Random(0)
    for _ in range(20):
        values = {str(s): float(v) for s, v in inputs.draw(rng).values.items()}
        assert holds(values["self_0"], values["other"])
        assert holds(values["self_1"], values["other"])


def test_signs_of_the_domain_are_known_to_sympy(load: Load) -> None:
    inputs = inputs_of(load, "domain: {self: self > 0}", "examples: [{self: [1], other: [1]}]")
    x, y = inputs.symbols
    assert sympy.sqrt(x**2) == x
    assert sympy.sqrt(y**2) != y


def test_an_empty_domain_is_noticed(load: Load) -> None:
    lines = (
        "domain: {self: self > 1, other: other > self > other}",
        "examples: [{self: [1], other: [1]}]",
    )
    with pytest.raises(ValueError, match="it may be empty"):
        inputs_of(load, *lines).draw(random.Random(0))
