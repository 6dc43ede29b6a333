"""A sample of random programs of many ops; `python -m tests.fuzz.programs` runs them at length."""

import pytest

from .programs import run_program
from .world import Difference

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

PER_TEST = 40


def run_many(torch, seeds):
    for seed in seeds:
        run_program(torch, seed)


@pytest.mark.parametrize("first_seed", range(0, 20 * PER_TEST, PER_TEST))
def test_programs_do_what_they_do_in_pytorch(torch, first_seed):
    run_many(torch, range(first_seed, first_seed + PER_TEST))


def test_a_difference_is_noticed(torch, monkeypatch):
    monkeypatch.setattr(torch, "sin", torch.cos)
    with pytest.raises(Difference, match="sin"):
        run_many(torch, range(2000))
