"""Derived rules compute nothing twice, and nothing for its shape alone, as far as one can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_derive import filled, rules_of

ROTARY = """\
- name: turned_halves(Tensor self, Tensor cosines, Tensor sines) -> Tensor
  requires:
    - self.ndim > 0 and self.shape[-1] % 2 == 0
    - cosines.shape == (self.shape[-1] // 2,)
    - sines.shape == cosines.shape
  forward: |
    half = self.shape[-1] // 2
    x = narrow(self, -1, 0, half)
    y = narrow(self, -1, half, half)
    return cat([x * cosines - y * sines, y * cosines + x * sines], -1)
"""


def test_gradients_of_all_slices_are_joined(tmp_path: Path) -> None:
    rules = rules_of(filled(ROTARY, tmp_path))
    assert "slice_backward" not in rules["self"]
    assert rules["self"].splitlines()[-1].startswith("return cat((")


def test_a_jvp_joins_the_tangents_of_a_list_once(tmp_path: Path) -> None:
    tangent = rules_of(filled(ROTARY, tmp_path))["result"]
    assert tangent.count("cat(") == 1
    assert "_zero" not in tangent


SLICES = {
    "a number of both halves": ("self[:k]", "self[k:]", "k >= 0", True),
    "from the end": ("self[:-k]", "self[-k:]", "k > 0", True),
    "a gap between": ("self[:k]", "self[k + 1:]", "k >= 0", False),
    "an overlap": ("self[:k + 1]", "self[k:]", "k >= 0", False),
    "the first twice": ("self[:k]", "self[:k]", "k >= 0", False),
    "two that begin alike": (
        "self[0:k]",
        "self[k:] * self[0:1]",
        "k > 0 and k < self.shape[0]",
        False,
    ),
    "thirds that may leave elements": (
        "self[:self.shape[0] // 3]",
        "self[self.shape[0] // 3:2 * (self.shape[0] // 3)]",
        "k >= 0",
        False,
    ),
}


@pytest.mark.parametrize("case", SLICES)
def test_slices_that_are_not_all_are_put_into_zeros(case: str, tmp_path: Path) -> None:
    first, second, requirement, is_joined = SLICES[case]
    rules = rules_of(
        filled(
            "- name: of_two_slices(Tensor self, int k) -> Tensor\n"
            f"  requires: self.ndim == 1 and {requirement}\n"
            f"  forward: sum(sin({first})) + sum({second} * {second})\n"
            "  examples: [{self: [4], k: 2}]\n",
            tmp_path,
        )
    )
    assert ("cat((" in rules["self"]) is is_joined
    assert ("slice_backward" in rules["self"]) is not is_joined


def test_slices_of_several_outputs_may_have_no_gradient(tmp_path: Path) -> None:
    """One cotangent alone may be there: a list would have a hole."""
    op = filled(
        "- name: two_parts(Tensor self) -> (Tensor first, Tensor second)\n"
        "  requires: self.ndim == 1\n"
        "  forward: sin(self[:2]), cos(self[2:])\n"
        "  examples: [{self: [4]}]\n",
        tmp_path,
    )
    assert "cat(" not in rules_of(op)["self"]


def test_gradients_share_what_they_are_computed_from(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: rooted_distance(Tensor self, Tensor other) -> Tensor\n"
            "  forward: mean(sqrt((self - other) ** 2 + 0.01))\n"
            "  examples: [{self: [2], other: [2]}]\n",
            tmp_path,
        )
    )
    *shared, of_self = rules["self"].splitlines()
    *again, of_other = rules["other"].splitlines()
    assert shared == again
    assert of_self == "return _sum_to_size(back_difference, self.shape)"
    assert of_other == "return -_sum_to_size(back_difference, other.shape)"


def test_a_sum_over_broadcast_terms_is_taken_once(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: divergence(Tensor mu, Tensor logvar) -> Tensor\n"
            "  forward: -0.5 * sum(1 + logvar - mu * mu - exp(logvar), -1)\n"
            "  examples: [{mu: [2, 3], logvar: [3]}]\n",
            tmp_path,
        )
    )
    assert rules["logvar"].count("_sum_to_size") == 1
    assert "- exp" not in rules["logvar"].splitlines()[0], "the shape is that of the first step"


def test_every_output_of_a_step_has_its_shape(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: standardised(Tensor self) -> Tensor\n"
            "  requires: self.ndim == 2\n"
            "  forward: |\n"
            "    v, m = var_mean(self, -1, correction=0, keepdim=True)\n"
            "    return (self - m) * rsqrt(v + 1e-5)\n"
            "  examples: [{self: [2, 3]}]\n",
            tmp_path,
        )
    )
    assert "sum(-back" not in rules["self"].replace("_sum_to_size(-back", "")
    assert "m.shape" in rules["self"]


def test_an_argument_that_must_be_real_has_a_real_gradient(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: turned_by(Tensor self, Tensor angle) -> Tensor\n"
            "  requires:\n"
            "    - is_complex(self)\n"
            "    - not is_complex(angle)\n"
            "    - self.shape == angle.shape\n"
            "  complex: true\n"
            "  forward: self * complex(cos(angle), sin(angle)) * (angle * angle)\n"
            "  examples: [{self: {complex: [2]}, angle: [2]}]\n",
            tmp_path,
        )
    )
    assert "real(" in rules["angle"]
    assert "conj(angle)" not in rules["angle"]


ROOT_MEAN_SQUARE = """\
- name: scaled_by_root_mean_square(Tensor self, Tensor weight, float eps=1e-6) -> Tensor
  forward: self * rsqrt(mean(self * self, -1, True) + eps) * weight
  requires: self.ndim > 0
"""


def test_a_gradient_is_summed_where_what_it_goes_to_is_small(tmp_path: Path) -> None:
    """The factors of a mean's root are applied to one number of each row, with the constants."""
    rules = rules_of(filled(ROOT_MEAN_SQUARE, tmp_path))
    assert rules["self"].splitlines()[-1] == (
        "return _sum_to_size(back_product * rsqrt_value, self.shape) - _unmean("
        "_sum_to_size(back_product * self, mean_value.shape) * "
        "(rsqrt_value * rsqrt_value * rsqrt_value), self.shape, -1, True) * self"
    )
    assert "- self_p * (mean(self_p * self_t, -1, True) * " in rules["result"]


def test_parts_of_complex_numbers_are_steps(tmp_path: Path) -> None:
    op = filled(
        "- name: log_size(Tensor z, float floor_=0.1) -> Tensor\n"
        "  complex: true\n"
        "  forward: log(real(z) ** 2 + imag(z) ** 2 + floor_)\n",
        tmp_path,
    )
    rules = rules_of(op)
    assert "view_as_real" not in rules["z"]
    assert "if " not in rules["z"]
    assert rules["z"].splitlines()[-1].startswith("return complex(")
    assert "conj" not in rules["result"]
    assert [requirement.formula.text for requirement in op.requires] == ["is_complex(z)"]


def test_a_norm_with_a_floor_divides_by_no_zero(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: short(Tensor x) -> Tensor\n"
            "  requires: x.ndim == 1\n"
            "  forward: x / maximum(sqrt(sum(x * x)), 0.1)\n",
            tmp_path,
        )
    )
    assert "linalg_vector_norm(x)" in rules["x"]
    assert "sqrt" not in rules["x"]


def test_an_exponential_with_a_cap_is_read_below_it(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: capped(Tensor x, float cap=9.0) -> Tensor\n"
            "  requires: x.ndim == 1\n"
            "  forward: sum(clamp_max(exp(x), cap))\n",
            tmp_path,
        )
    )
    assert rules["x"].endswith("* clamp_max(exp_value, cap)")


def test_joined_dimensions_ask_for_no_number_of_them(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: twice(Tensor x) -> Tensor\n"
            "  requires: x.ndim == 2\n"
            "  forward: flatten(stack([x, x * x], 2), 1)\n",
            tmp_path,
        )
    )
    assert "if " not in rules["x"] + rules["result"]
    assert "(stack_value.shape[0], numel(stack_value.shape[1:3]))" in rules["result"]


def test_powers_have_whole_numbers_for_exponents(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: fifths(Tensor x) -> Tensor\n  requires: x.ndim == 1\n  forward: sum(x ** 5)\n",
            tmp_path,
        )
    )
    assert "x ** 4" in rules["x"]


def test_a_piece_at_the_border_of_a_domain_stays(tmp_path: Path) -> None:
    rules = rules_of(
        filled(
            "- name: counted(Tensor k, Tensor rate) -> Tensor\n"
            "  domain: {k: nonnegative, rate: positive}\n"
            "  forward: where(k == 0, exp(-rate), k * log(rate))\n",
            tmp_path,
        )
    )
    assert rules["rate"].startswith("where(k == 0, -grad * exp(-rate)")


SQUARED = {
    "a product": "real(z * conj(z))",
    "the other way round": "real(conj(z) * z)",
    "the square of a magnitude": "abs(z) ** 2",
}


@pytest.mark.parametrize("case", SQUARED)
def test_a_squared_magnitude_has_the_gradient_of_a_square(case: str, tmp_path: Path) -> None:
    """Neither asks if numbers are complex, nor is a product with a conjugate taken apart."""
    text = f"- name: power_of(Tensor z) -> Tensor\n  complex: true\n  forward: {SQUARED[case]}\n"
    rules = rules_of(filled(text, tmp_path))
    assert rules == {"z": "2 * grad * z", "result": "2 * real(conj(z_p) * z_t)"}


DIRICHLET = """\
- name: log_dirichlet(Tensor x, Tensor alpha) -> Tensor
  requires: x.ndim > 0 and alpha.shape == x.shape
  forward: sum((alpha - 1) * log(x), -1) + lgamma(sum(alpha, -1)) - sum(lgamma(alpha), -1)
"""


def test_sums_of_one_shape_are_not_computed_for_their_shape(tmp_path: Path) -> None:
    rules = rules_of(filled(DIRICHLET, tmp_path))
    everything = "".join(rules.values())
    assert "lgamma" not in everything.replace("digamma", "")
    assert "expand(" not in everything
    assert "_sum_to_size" not in everything


SPREADS = {
    "a factor of the sum's shape": ("mean((x - y) ** 2)", "mean(2 * difference * (x_t - y_t))"),
    "a function of it": (
        "sum(log(cosh(x - y)))",
        "sum((x_t - y_t) * sinh(difference) / cosh(difference))",
    ),
}


@pytest.mark.parametrize("case", SPREADS)
def test_tangents_are_spread_by_what_they_are_multiplied_with(case: str, tmp_path: Path) -> None:
    forward, wanted = SPREADS[case]
    text = f"- name: of_two(Tensor x, Tensor y) -> Tensor\n  forward: {forward}\n"
    assert rules_of(filled(text, tmp_path))["result"].splitlines()[-1] == f"return {wanted}"


def test_tangents_are_spread_where_nothing_else_is_as_large(tmp_path: Path) -> None:
    """The sum counts a tangent that is smaller as often as its argument."""
    text = "- name: total(Tensor x, Tensor y) -> Tensor\n  forward: sum(x + y * 2)\n"
    assert "expand(" in rules_of(filled(text, tmp_path))["result"]
