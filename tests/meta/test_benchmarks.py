"""What the benchmarks time is right: the derivatives written by hand are the generated ones."""

from __future__ import annotations

import pytest

import gradspec
import gradspec.nn.functional
from benchmarks.cases import Case, chain, mlp, rosenbrock
from benchmarks.measure import check_agreement


@pytest.mark.parametrize("case", [chain(4), rosenbrock(100), mlp()], ids=lambda case: case.name)
def test_hand_written_gradients_agree(case: Case) -> None:
    check_agreement({"by hand": case.by_hand(), "gradspec": case.by_library(gradspec)})


def test_a_wrong_gradient_is_noticed() -> None:
    right, wrong = chain(4).by_hand(), chain(3).by_hand()
    with pytest.raises(ValueError, match="different gradients"):
        check_agreement({"by hand": right, "wrong": lambda: [wrong()[0].repeat(2)[:4]]})
