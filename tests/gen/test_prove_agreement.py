"""A kernel that does not compute what its symbols say is noticed; exact constants are exact."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import sympy

import gradspec  # noqa: F401  (registers the ops)
from gradspec import constants
from gradspec_codegen.prove.agreement import check_agreement
from gradspec_codegen.prove.chambers import Chambers
from gradspec_codegen.prove.exact_constants import ExactConstant, exact_module
from gradspec_codegen.prove.identity import Mismatch
from gradspec_codegen.prove.inputs import build, examples_of
from gradspec_codegen.prove.run import Run
from gradspec_codegen.spec.model import OpSpec

from .proving import own_table


def run_of(name: str) -> tuple[OpSpec, Run]:
    (spec,) = (op for op in own_table().ops if op.name == name)
    inputs = build(spec, examples_of(spec)[0])
    return spec, next(Chambers(spec, inputs, random.Random(0)).runs())


def test_floats_agree() -> None:
    spec, run = run_of("exp")
    assert check_agreement(spec, run) == 3  # the result, its gradient, its tangent


def test_another_value_is_noticed() -> None:
    spec, run = run_of("exp")
    run.outputs["result"] = run.outputs["result"] + sympy.Rational(1, 10**8)
    with pytest.raises(Mismatch, match="as a float, but exactly"):
        check_agreement(spec, run)


def test_another_gradient_is_noticed() -> None:
    spec, run = run_of("exp")
    gradient = run.gradients["self", 0]
    assert gradient is not None
    run.gradients["self", 0] = gradient + 1
    with pytest.raises(Mismatch) as caught:
        check_agreement(spec, run)
    assert caught.value.label == "numeric VJP of self"
    assert caught.value.key == "self"


def test_other_indices_are_noticed() -> None:
    spec, run = run_of("max.dim")
    run.fixed["indices"] = run.fixed["indices"] + 1
    with pytest.raises(Mismatch, match="exactly"):
        check_agreement(spec, run)


def test_the_exact_module_has_the_same_names_and_values() -> None:
    exact = exact_module()
    assert sorted(exact.__all__) == sorted(constants.__all__)
    for name in constants.__all__:
        plain, twin = getattr(constants, name), getattr(exact, name)
        if callable(plain):
            argument = 1.25 if name == "acosh" else 0.25
            plain, twin = plain(argument), twin(argument)
        assert float(twin) == pytest.approx(plain, rel=1e-14, nan_ok=True)


def test_constants_stay_exact_through_arithmetic() -> None:
    exact = exact_module()
    value = -exact.sqrt(2 / exact.pi) * 3 + 1 - exact.e**2
    assert isinstance(value, ExactConstant)
    assert value.expr == 1 - 3 * sympy.sqrt(2) / sympy.sqrt(sympy.pi) - sympy.E**2
    assert value == pytest.approx(1 - 3 * math.sqrt(2 / math.pi) - math.e**2)
    assert (np.ones(2) * value).dtype == np.float64
