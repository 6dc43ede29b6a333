"""Special and huge arguments that are tried beside the usual ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradspec_codegen.audit.questions import EXTREME, SPECIAL
from gradspec_codegen.audit.reference import _where_floats_hold
from gradspec_codegen.audit.variations import variations
from tests.codegen.targets.emitted import FILLED


def test_huge_elements_stand_behind_zeros() -> None:
    op = FILLED.by_name("prod")
    made = {w: (kind, a) for kind, w, a in variations(op, "self", np.array([3.0, 2.0, 5.0, 4.0]))}
    kind, array = made["huge elements behind zeros"]
    assert kind == EXTREME
    assert array.tolist() == [0.0, 0.0, 1e200, 1e200]
    assert made["a zero"][0] == SPECIAL


def test_a_single_huge_element_overflows_nowhere() -> None:
    kinds = [k for k, *_ in variations(FILLED.by_name("prod"), "self", np.array([3.0, 2.0, 5.0]))]
    assert set(kinds) == {SPECIAL}


@pytest.mark.parametrize(
    ("own", "order", "expected"),
    [
        ({"VJP": 2.0, "JVP": 2.0, "JVP∘JVP": math.nan}, 1, 2.0),
        ({"VJP": 2.0, "JVP": math.nan}, 1, math.nan),
        ({"VJP": 2.0, "JVP": math.inf}, 1, math.nan),
        ({"VJP": None, "JVP": 2.0}, 1, 2.0),
        ({"VJP": 7.0, "JVP∘JVP": 2.0}, 2, 2.0),
    ],
)
def test_exact_answers_where_floats_hold(
    own: dict[str, float | None], order: int, expected: float
) -> None:
    found = _where_floats_hold(2.0, own, order)
    assert found == pytest.approx(expected, nan_ok=True)


def test_what_is_meant_for_regular_matrices_gets_no_others() -> None:
    matrix = np.array([[3.0, 2.0], [5.0, 4.0]])
    for name, expected in (("linalg_lu", {"a zero", "the identity"}), ("linalg_det", None)):
        op = FILLED.by_name(name)
        made = {words: array for _, words, array in variations(op, "A", matrix)}
        ranks = {words: np.linalg.matrix_rank(array) for words, array in made.items()}
        assert ("a singular matrix" in made) == (expected is None)
        assert expected is None or expected <= set(made)
        assert expected is None or set(ranks.values()) == {2}
