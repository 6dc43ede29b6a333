"""A kernel that does not compute what its symbols say is noticed; exact constants are exact."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import sympy

from gradspec.core import constants
from gradspec.dispatch.registry import table_op
from gradspec_codegen.prove.identities.agreement import _compare, check_agreement
from gradspec_codegen.prove.identities.identity import Mismatch
from gradspec_codegen.prove.identities.run import Run, execute
from gradspec_codegen.prove.inputs.chambers import Chambers
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.symbolic import exact_arrays
from gradspec_codegen.prove.symbolic import numpy_models as models
from gradspec_codegen.prove.symbolic.exact_constants import ExactConstant, exact_module
from gradspec_codegen.spec.model import Example, OpSpec
from tests.codegen.proving import own_table


def registered(name: str) -> OpSpec:
    """An op of the table; the family that registers it is imported."""
    table_op(name)
    return own_table().by_name(name)


def run_of(name: str) -> tuple[OpSpec, Run]:
    spec = registered(name)
    inputs = build(spec, examples_of(spec)[0])
    return spec, next(Chambers(spec, inputs, random.Random(0)).runs())


@pytest.fixture
def set_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, models.Model], None]]:
    """Lets something else stand for a function of NumPy while symbols are computed with."""

    def set_model(name: str, model: models.Model) -> None:
        monkeypatch.setitem(models.NUMBERS, name, model)
        exact_arrays._model_ufunc.cache_clear()

    yield set_model
    exact_arrays._model_ufunc.cache_clear()


def test_floats_agree() -> None:
    spec, run = run_of("exp")
    assert check_agreement(spec, run) == 3  # the result, its gradient, its tangent


def test_another_value_is_noticed(set_model: Callable[[str, models.Model], None]) -> None:
    set_model("exp", lambda a: sympy.exp(a) * sympy.Rational(1001, 1000))
    with pytest.raises(Mismatch, match="as a float, but exactly") as caught:
        check_agreement(*run_of("exp"))
    assert caught.value.label == "kernel of result"


def test_another_gradient_is_noticed(set_model: Callable[[str, models.Model], None]) -> None:
    set_model("cos", lambda a: sympy.cos(a) + 1)
    with pytest.raises(Mismatch) as caught:
        check_agreement(*run_of("sin"))
    assert caught.value.label == "numeric VJP of self"
    assert caught.value.key == "self"


def test_other_indices_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        exact_arrays.SymArray, "argmax", lambda self, *_, **__: self.argmin(*_, **__)
    )
    with pytest.raises(Mismatch, match="exactly"):
        check_agreement(*run_of("max.dim"))


def test_a_quotient_may_be_whole_where_that_of_its_floats_is_not() -> None:
    assert np.floor_divide(-1.37, 0.01) == -138
    spec = registered("div.Tensor_mode")
    arguments = (("self", []), ("other", []), ("rounding_mode", "floor"))
    inputs = build(spec, Example(arguments, spec.span))
    values = {"self": sympy.Rational(-137, 100), "other": sympy.Rational(1, 100)}
    point = Point({symbol: values[symbol.name] for symbol in inputs.symbols})
    run = execute(spec, inputs, point, lambda: inputs.complete(point, random.Random(0)))
    assert run.outputs["result"].item() == -137
    # The definition's dtype, the result, two gradients, a tangent.
    assert check_agreement(spec, run) == 5


def test_the_exact_module_has_the_same_names_and_values() -> None:
    exact = exact_module()
    assert sorted(exact.__all__) == sorted(constants.__all__)
    for name in constants.__all__:
        plain, model = getattr(constants, name), getattr(exact, name)
        if callable(plain):
            argument = 1.25 if name == "acosh" else 0.25
            plain, model = plain(argument), model(argument)
        assert float(model) == pytest.approx(plain, rel=1e-14, nan_ok=True)


def test_constants_stay_exact_through_arithmetic() -> None:
    exact = exact_module()
    value = -exact.sqrt(2 / exact.pi) * 3 + 1 - exact.e**2
    assert isinstance(value, ExactConstant)
    assert value.expr == 1 - 3 * sympy.sqrt(2) / sympy.sqrt(sympy.pi) - sympy.E**2
    assert value == pytest.approx(1 - 3 * math.sqrt(2 / math.pi) - math.e**2)
    assert (np.ones(2) * value).dtype == np.float64


def test_terms_that_cancel_leave_their_rounding() -> None:
    x, y = sympy.symbols("x y", real=True)
    point = Point({x: sympy.Rational(200000001, 10000), y: sympy.Rational(20000)})
    exact = np.empty(1, dtype=object)
    exact[0] = x - y  # of which floats of this size give the first eight digits
    _compare(np.array([1e-4 + 3e-12]), exact, point, "VJP", "self", 1e-9)
    with pytest.raises(Mismatch, match="as a float, but exactly"):
        _compare(np.array([1e-4 + 3e-10]), exact, point, "VJP", "self", 1e-9)
    exact = np.array([sympy.Rational(1, 10000)], dtype=object)  # no terms that could cancel
    with pytest.raises(Mismatch, match="as a float, but exactly"):
        _compare(np.array([1e-4 + 3e-12]), exact, point, "VJP", "self", 1e-9)


def test_exponentials_are_as_far_off_as_their_exponents_are_large() -> None:
    x = sympy.Symbol("x", real=True)
    point = Point({x: sympy.Integer(20000)})
    exact = np.empty(1, dtype=object)
    exact[0] = sympy.exp(x) / (1 + sympy.exp(x)) - 1 + sympy.Rational(1, 10**4)
    _compare(np.array([1e-4 + 3e-12]), exact, point, "VJP", "self", 1e-9)
    with pytest.raises(Mismatch, match="as a float, but exactly"):
        _compare(np.array([1e-4 + 3e-9]), exact, point, "VJP", "self", 1e-9)


def test_the_magnitude_is_of_terms_without_signs() -> None:
    x, y = sympy.symbols("x y", real=True)
    point = Point({x: sympy.Integer(3), y: sympy.Integer(2)})
    assert point.magnitude(x - y) == 5
    assert point.magnitude(sympy.Mul(x - y, (x - y) ** 2, evaluate=False)) == 125
    assert point.magnitude(sympy.sqrt(y - x + 2)) == 1
