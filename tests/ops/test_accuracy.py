"""Elementwise ops against their definitions at 50 digits: a thin sweep of `make accuracy`."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from benchmarks.accuracy.bounds import Allowance, broken, listed
from benchmarks.accuracy.subjects import TABLE, Subject, subjects
from benchmarks.accuracy.sweep import Error, Finding, sweep
from benchmarks.accuracy.truth import Truth

THIN = 29


def subject(name: str) -> Subject:
    return Subject(TABLE.by_name(name), ())


@pytest.mark.parametrize("swept", list(subjects()), ids=lambda s: s.label)
def test_values_and_gradients_stay_within_the_bounds(swept: Subject) -> None:
    exceptions = listed()
    for finding in sweep(swept, with_torch=False, thin=THIN):
        assert broken(finding, exceptions) == []


def test_the_command_works_in_a_process_of_its_own() -> None:
    run = [sys.executable, "-m", "benchmarks.accuracy", "floor", "sign"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "floor" in done.stdout


def test_the_truth_has_all_its_digits_where_terms_cancel() -> None:
    # 1 - tanh(x)**2 = 4 exp(-2x) up to a relative 2 exp(-2x); log(1 + exp(x)) = exp(x) likewise.
    assert float(Truth(subject("tanh"))("self", [300.0])) == pytest.approx(
        4 * math.exp(-600.0), rel=1e-12, abs=0
    )
    assert float(Truth(subject("softplus"))("forward", [-700.0])) == pytest.approx(
        math.exp(-700.0), rel=1e-12, abs=0
    )


def test_the_truth_at_infinity_is_the_limit_where_there_is_one() -> None:
    assert Truth(subject("tanh"))("forward", [-math.inf]) == -1
    assert Truth(subject("sin"))("forward", [math.inf]) is None


def test_breakpoints_have_no_true_derivative() -> None:
    assert Truth(subject("relu"))("self", [0.0]) is None
    assert Truth(subject("relu"))("self", [5e-324]) == 1


def test_an_error_above_the_bound_is_reported_unless_it_is_listed() -> None:
    error = Error(1e-3, (-89.0,), 0.0, 1e-37)
    finding = Finding("silu", "silu", ("self",), "forward", "float32", 1, {"gradspec": (error,)})
    here = Allowance("silu", ("forward",), ("float32",), "-90 < self < -88", "")
    elsewhere = Allowance("silu", ("forward",), ("float32",), "self > 0", "")
    assert broken(finding, [here]) == []
    assert broken(finding, [elsewhere]) == [error]
