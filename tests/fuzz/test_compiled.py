"""A sample of random programs, compiled; `python -m tests.fuzz.compiled` runs them at length."""

import pytest

import gradspec as gs
from gradspec.func.trees import map_leaves

from .compiled import run_compiled
from .world import Difference

pytestmark = pytest.mark.filterwarnings("ignore")

PER_TEST = 50


@pytest.mark.parametrize("first_seed", range(0, 6 * PER_TEST, PER_TEST))
def test_compiled_programs_do_what_the_functions_do(first_seed):
    answers = [run_compiled(seed, "numpy") for seed in range(first_seed, first_seed + PER_TEST)]
    assert answers.count("") > PER_TEST / 2  # the others cannot be compiled, or are empty


@pytest.mark.parametrize("first_seed", range(0, 30, 10))
def test_programs_in_c_do_what_the_functions_do(first_seed):
    answers = [run_compiled(seed, "c") for seed in range(first_seed, first_seed + 10)]
    assert answers.count("") > 5


def test_a_difference_is_noticed(monkeypatch):
    compiled = gs.compile

    def larger(leaf):
        return leaf * 1.5 if isinstance(leaf, gs.Tensor) and leaf.is_floating_point() else leaf

    def compile_another(function, **options):
        return compiled(lambda *args: map_leaves(larger, function(*args)), **options)

    monkeypatch.setattr(gs, "compile", compile_another)
    with pytest.raises(Difference, match="eager: "):
        [run_compiled(seed, "numpy") for seed in range(5)]
