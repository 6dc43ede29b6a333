"""A sample of random programs of many ops; `wide_programs` can run them at length."""

import pytest

from .programs import Difference
from .wide_programs import run_program

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
