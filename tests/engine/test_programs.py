"""A sample of random programs; `python -m tests.engine.programs` runs them at length."""

import pytest

from .programs import Difference, run_program

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

PER_TEST = 40


def run_many(torch, seeds):
    for seed in seeds:
        run_program(torch, seed)


@pytest.mark.parametrize("first_seed", range(0, 10 * PER_TEST, PER_TEST))
def test_programs_do_what_they_do_in_pytorch(torch, first_seed):
    run_many(torch, range(first_seed, first_seed + PER_TEST))


def test_a_difference_is_noticed(torch, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "sin", torch.Tensor.cos)
    monkeypatch.setattr(torch.Tensor, "sin_", torch.Tensor.cos_)
    with pytest.raises(Difference, match="sin"):
        run_many(torch, range(200))
