"""The exact side of a sweep: all digits where terms cancel, and limits where there are some."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gradspec_codegen.lint.exact import Exact
from gradspec_codegen.lint.subjects import Subject, reachable
from tests.codegen.proving import own_table, read_table


def exact(name: str) -> Exact:
    op = own_table().by_name(name)
    return Exact(Subject(op), reachable(op, own_table()))


def close(expected: float) -> object:
    return pytest.approx(expected, rel=1e-14, abs=0)


def test_values_have_all_their_digits_where_terms_cancel() -> None:
    # 1 - tanh(x)**2 = 4 exp(-2x) up to a relative 2 exp(-2x); log(1 + exp(x)) = exp(x) likewise.
    assert float(exact("tanh")(("self",), [300.0])) == close(4 * math.exp(-600.0))
    assert float(exact("softplus")((), [-700.0])) == close(math.exp(-700.0))


def test_large_arguments_get_the_digits_that_their_powers_take() -> None:
    # Far out erfcx(x) is 1 / (sqrt(pi) x), and its second derivative 2 / (sqrt(pi) x**3).
    found = exact("special_erfcx")(("self", "self"), [1e79])
    assert float(found) == close(2e-237 / math.sqrt(math.pi))


def test_breakpoints_have_no_derivative() -> None:
    relu = exact("relu")
    assert relu(("self",), [0.0]) is None
    assert relu(("self",), [5e-324]) == 1


def test_what_breaks_in_the_second_derivative_has_the_first() -> None:
    elu = exact("elu")
    assert elu(("self",), [0.0]) == 1
    assert elu(("self", "self"), [0.0]) is None


def test_removable_singularities_have_their_limits_to_second_order() -> None:
    sinc = exact("sinc")
    assert sinc((), [0.0]) == 1
    assert float(sinc(("self",), [0.0])) == 0
    assert float(sinc(("self", "self"), [0.0])) == close(-(math.pi**2) / 3)


def test_poles_have_no_limit() -> None:
    assert exact("reciprocal")((), [0.0]) is None
    assert exact("reciprocal")(("self",), [0.0]) is None
    assert exact("log")(("self",), [0.0]) is None


def test_at_an_end_of_the_domain_the_limit_is_that_from_inside(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(
        "- name: shares(Tensor self) -> Tensor\n  forward: self * log(self)\n"
        "- name: waves(Tensor self) -> Tensor\n  forward: sin(log(self))\n",
        encoding="utf-8",
    )
    shares, waves = (Exact(Subject(op), own_table()) for op in read_table(path).ops)
    assert shares((), [0.0]) == 0
    assert waves((), [0.0]) is None


def test_polygamma_far_out_is_the_leading_term() -> None:
    assert float(exact("digamma")(("self",), [1e200])) == close(1e-200)


def test_beside_a_zero_that_is_no_float_values_around_are_the_scale() -> None:
    # digamma is zero at 1.4616...; at 1.46 its slope is 0.97, and its values around are 0.15.
    digamma = exact("digamma")
    assert 0.1 < float(digamma.scale_beside_zero((), [1.46])) < 0.3
    assert digamma.scale_beside_zero((), [5.0]) is None
    # That of lgamma at one is a float: there a value without digits is lost.
    assert exact("lgamma").scale_beside_zero((), [1.01]) is None
