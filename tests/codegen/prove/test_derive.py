"""Derived formulas: right by differences, and as an author would write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.ir.parse import parse
from gradspec_codegen.prove.report.derive import derive_vjp
from gradspec_codegen.spec.model import Table
from tests.codegen.proving import own_table

Load = Callable[..., Table]


def derive(load: Load, forward: str, param: str = "self", domain: str = "") -> str:
    text = (
        "- name: f(Tensor self, Tensor other, Scalar beta=2) -> Tensor\n"
        "  doc: Something.\n"
        f"  forward: {forward}\n"
        "  self: auto\n"
        "  other: auto\n"
        "  result: auto_element_wise\n"
        "  promotes: self, other\n"
    )
    if domain:
        text += f"  domain: {domain}\n"
    (op,) = load(text, base=own_table()).ops
    return derive_vjp(op, own_table(), param)


EXPECTED = [
    ("self * 3 + other", "3 * grad"),
    ("self / (1 + abs(self))", "grad / (abs(self) + 1) ** 2"),
    ("np.tanh(self)", "grad * (1 - result ** 2)"),
    ("sp.expit(self)", "grad * result * (1 - result)"),
    ("np.sqrt(self)", "grad / (2 * result)"),
    ("np.exp(self * beta)", "beta * grad * result"),
    ("np.log(self)", "grad / self"),
    ("abs(self)", "grad * sign(self)"),
    ("self if beta == 1 else self * beta", "grad if beta == 1 else beta * grad"),
    (
        "where(self * beta > 20, self, log1p(exp(self * beta)) / beta)",
        "where(beta * self > 20, grad, grad * sigmoid(beta * self))",
    ),
    ("np.logaddexp(self, other)", "grad * exp(self - result)"),
    ("sp.erf(self)", "2 * grad * exp(-self ** 2) / sqrt(pi)"),
]


@pytest.mark.parametrize(("forward", "expected"), EXPECTED)
def test_text_of_a_derivation(load: Load, forward: str, expected: str) -> None:
    assert derive(load, forward) == expected


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


IN_MATH = "exp log log1p expm1 sin cos tan tanh cosh sinh sqrt erf atan asin pi"

NAMES: dict[str, Any] = {name: getattr(math, name) for name in IN_MATH.split()} | {
    "abs": abs,
    "sign": lambda x: math.copysign(1, x),
    "where": lambda condition, then, otherwise: then if condition else otherwise,
    "sigmoid": sigmoid,
    "rsqrt": lambda x: x**-0.5,
}

FORWARDS: dict[str, Callable[[float, float], float]] = {
    "self * tanh(log1p(exp(self)))": lambda x, y: x * math.tanh(math.log1p(math.exp(x))),
    "self * sigmoid(self * beta)": lambda x, y: x * sigmoid(2 * x),
    "np.sin(self) * np.exp(-self * other)": lambda x, y: math.sin(x) * math.exp(-x * y),
    "(self - other) ** 3 / (self * self + 1)": lambda x, y: (x - y) ** 3 / (x * x + 1),
    "np.arctan(self / other)": lambda x, y: math.atan(x / y),
    "where(self > other, self * self, other * self)": lambda x, y: x * x if x > y else x * y,
    "np.sqrt(self * self + other * other + 1)": lambda x, y: math.sqrt(x * x + y * y + 1),
    "np.log10(1 + self * self)": lambda x, y: math.log10(1 + x * x),
    "abs(self - other) / (1 + abs(self - other))": lambda x, y: abs(x - y) / (1 + abs(x - y)),
}


@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize(("x", "y"), [(0.7, 0.4), (-1.3, 2.1), (3.5, -0.2)])
def test_a_derivation_is_the_slope(load: Load, forward: str, x: float, y: float) -> None:
    text = derive(load, forward)
    parse(text)
    function = FORWARDS[forward]
    names = NAMES | {"self": x, "other": y, "beta": 2, "grad": 1.5, "result": function(x, y)}
    slope = (function(x + 1e-6, y) - function(x - 1e-6, y)) / 2e-6
    assert eval(text, names) == pytest.approx(1.5 * slope, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("kernels.frac(self)", "`kernels.frac` is not known to sympy"),
        ("other * 2", "the result does not depend on it"),
        ("sp.betaln(self, other)", "`sp.betaln` is not known to sympy"),
    ],
)
def test_what_cannot_be_derived_is_refused_where_auto_stands(
    load: Load, forward: str, reason: str
) -> None:
    with pytest.raises(SpecError) as caught:
        derive(load, forward)
    (found,) = caught.value.diagnostics
    assert found.code == "GS072"
    assert reason in found.message
    assert (found.span.line, found.span.column, found.span.width) == (4, 9, 4)


def test_the_derivative_by_a_list_is_refused_where_auto_stands(load: Load) -> None:
    text = (
        "- name: f(Tensor[] tensors) -> Tensor\n"
        "  doc: The first of several.\n"
        "  forward: tensors[0] * 2\n"
        "  tensors: auto\n"
        "  result: tensors_t[0] * 2\n"
        "  examples: [{tensors: [[2]]}]\n"
    )
    table = load(text)
    with pytest.raises(SpecError) as caught:
        derive_vjp(table.ops[0], table, "tensors")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("GS072", 4)
    assert "`tensors` is a list" in found.message
