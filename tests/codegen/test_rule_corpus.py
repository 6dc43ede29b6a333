"""A sample of the corpus of rules; `python -m tests.codegen.rules` judges all of it."""

from __future__ import annotations

import re

import pytest

from .rules.corpus import FOLDER, FOLDERS, RuleEntry, read_corpus
from .rules.judge import judge
from .rules.verify import verify

WRONG = (
    *("shift_by_half", "inverse_untransposed", "product_of_batches", "determinants"),
    *("pairwise_products", "centred_by", "three_flags", "kind_and_flag", "weighted_square"),
    *("norm_of_order", "scaled_up_to_ten", "log_sum_exp_along", "mean_of_dims", "join_equal"),
    *("pile_of_three", "pick", "keep_where", "product_of_elements", "sinc_with_slope_at_zero"),
    *("sine_but_at_zero", "exponential_but_at_one", "product_but_in_corner", "larger", "largest"),
    *("both_parts", "magnitude_of_positive", "squares_in_double", "sum_of_squares"),
    *("log_cosh_by_abs", "halves", "constant_exponential", "numeric_sine", "itself"),
    *("without_first", "squares_below_hundred", "squares_but_seven", "complex_square"),
    *("attention", "det_with_saved_inverse", "maximum_full", "cumprod_divided"),
    *("almost_squares", "almost_powers", "pick_in_order", "kept_but_ends", "smooth_l1"),
    *("choice_within_choice", "product_of_ramps", "sums_in_a_corner"),
    *("tripled_up_to_nine", "tripled_in_few_dimensions", "scaled_by_size"),
    *("twice_by_whole_numbers", "product_of_conditions", "chain_of_conditions"),
    *("reduced_with_bias", "scaled_product_backward", "product_of_two_precisions"),
    *("all_finite", "sum_of_numbers", "sum_with_factor", "sums_from_behind", "bump_of_steps"),
    *("exponential_tower", "substitution", "scaled_inverse", "inverse_or_solution"),
    *("pearson_by_hand", "far_factor", "far_power_of_extent", "squares_of_bounded_count"),
    *("tripled_up_to_place", "squares_of_some_elements", "doubled_but_outliers"),
    *("sum_of_other_diagonal", "filled_by_optional_mask"),
    *("padded_times_value", "weighted_loss_of_log"),
    *("twins", "copied_view", "cube_by_chord", "times_mask", "taken_by_share"),
    *("batched_squares", "log_of_squared_volume", "scaled_by_mode_and_rank"),
    *("exponential_bounded_in_single", "square_above_label"),
    *("product_with_real_factor", "squares_of_sorted"),
    *("total_beyond_number", "total_by_local", "total_by_helper", "inverse_beyond_unit"),
)
"""Rules of every cause, each wrong at calls that its examples do not make."""

RIGHT = (
    *("log_cosh", "soft_shares", "joined", "rows_of", "morse"),
    *("own_tanh", "gram_of_rows", "squared_hinge"),
    *("charbonnier", "power_of_any", "right_segment_products", "right_norm_of_complex"),
    *("ramp_by_numbers", "leaky_by_numbers", "sum_of_sizes"),
    *("one_line_huber_of", "one_line_hardshrink", "one_line_lstsq", "one_line_conv"),
    *("one_line_rotated_halves", "one_line_triangle_wave", "one_line_cnorm"),
    *("line_bilinear_form", "line_swiglu_of_any", "springs_in_series", "scaled_and_shifted"),
    *("tversky", "poisson_deviance", "pearson", "right_substitution", "finite_alone"),
    *("one_line_scaled_attention", "one_line_of_numpy", "one_line_of_scipy", "one_line_slogdet"),
    *("one_line_attn_causal", "remainder_of_quotient", "two_layers"),
    *("stable_logistic_loss", "stable_ramp", "picked_twice", "entropy_of_classes", "picked_signs"),
    *("right_sum_with_factor", "real_part_of_multiple", "scaled_behind_block"),
    *("mean_by_bounded_count", "squares_in_quadrant"),
    *("shifted_log_sum", "rest_beside_stairs", "times_counts", "turned_view"),
    *("plain_logcosh", "plain_kl_mvn", "trapezoids_by_hand", "standard_score"),
    *("pole_of_total", "log_of_total", "harmonic_mean"),
    *("member_contrast", "member_soft_layer", "line_heads", "line_ridge"),
)
"""Rules that an author would write, each of another kind."""


def _entries(names: tuple[str, ...]) -> list[RuleEntry]:
    entries = [entry for entry in read_corpus(names) if entry.name in names]
    assert sorted(entry.name for entry in entries) == sorted(names)
    return entries


def test_every_entry_is_read_and_says_what_is_wrong_and_where() -> None:
    files = [path for folder in FOLDERS for path in (FOLDER / folder).glob("*.yaml")]
    written = [
        name
        for path in files
        for name in re.findall(r"^- name: (?!_)(\w+)", path.read_text(encoding="utf-8"), re.M)
    ]
    entries = read_corpus()
    assert sorted(entry.name for entry in entries) == sorted(written)
    assert len(set(written)) == len(written)
    assert [e.name for e in entries if e.is_wrong and not e.claims] == []
    assert [e.name for e in entries if e.comment.count("\n") + 1 <= len(e.claims)] == []


@pytest.mark.parametrize("name", WRONG)
def test_differences_show_that_a_wrong_rule_is_wrong(name: str) -> None:
    (entry,) = _entries((name,))
    found = verify(entry)
    assert found
    assert "NOT WRONG" not in found


@pytest.mark.parametrize("name", RIGHT)
def test_differences_find_nothing_wrong_with_a_right_rule(name: str) -> None:
    (entry,) = _entries((name,))
    assert verify(entry) == ""


def test_wrong_rules_are_refused() -> None:
    generated = [found.entry.name for found in judge(_entries(WRONG)) if not found.is_right]
    assert generated == []


def test_right_rules_are_generated() -> None:
    refused = [(f.entry.name, f.reason) for f in judge(_entries(RIGHT)) if not f.is_right]
    assert refused == []
