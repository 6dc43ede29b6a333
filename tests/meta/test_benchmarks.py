"""The benchmarks are right: every library computes the derivatives written by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from benchmarks.first_call import STAGES
from benchmarks.fresh import output
from benchmarks.libraries import BY_HAND, GRADSPEC, LIBRARIES, Library, as_arrays
from benchmarks.race import Effort, Racer, race
from benchmarks.turn import turn, warm_up
from benchmarks.workload import Array, check_agreement
from benchmarks.workloads import SMALL, WORKLOADS, with_data
from benchmarks.workloads.chain import Chain

PEERS = [
    library
    for library in LIBRARIES.values()
    if library.is_installed and library.module != "torch" and library is not BY_HAND
]


def agree(library: Library, name: str) -> None:
    """Two calls: a step of training leaves other parameters to the second."""
    workload = with_data(name)
    own, by_hand = library.prepare(workload), workload.by_hand()
    for _ in range(2):
        check_agreement(library.title, as_arrays(own()), as_arrays(by_hand()), workload.tolerance)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("library", PEERS, ids=lambda library: library.name)
def test_gradients_agree(library: Library, name: str) -> None:
    if library.name not in SMALL[name].absent:
        agree(library, name)


@pytest.mark.oracle
@pytest.mark.parametrize("name", SMALL)
def test_gradients_of_pytorch_agree(name: str) -> None:
    import torch

    threads = torch.get_num_threads()
    try:
        agree(LIBRARIES["torch-2"], name)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
def test_gradients_of_compiled_pytorch_agree() -> None:
    import torch

    library = LIBRARIES["torch-compile"]
    if not library.is_installed:
        pytest.skip("needs a C++ compiler")
    threads = torch.get_num_threads()
    try:
        agree(library, "chain-3")
    finally:
        torch.set_num_threads(threads)


def test_a_library_without_its_compiler_takes_no_part() -> None:
    library = Library("x", "x", "numpy", "red", lambda load: load.by_hand(), ("no-such-compiler",))
    assert not library.is_installed


def test_every_kind_is_tested_at_a_small_size() -> None:
    assert {type(small) for small in SMALL.values()} == {type(load) for load in WORKLOADS.values()}


@pytest.mark.parametrize(
    ("results", "complaint"),
    [
        ([np.array([1.0, 2.0 + 1e-5])], "result 0 is wrong by 5.0e-06"),
        ([np.array([1.0, np.nan])], "result 0 is wrong by nan"),
        ([np.array([1.0, 2.0], np.float32)], r"result 0 is float32\[2\], not float64\[2\]"),
        ([np.array([[1.0, 2.0]])], r"result 0 is float64\[1, 2\], not float64\[2\]"),
        ([], "0 results where 1 are expected"),
    ],
)
def test_a_wrong_result_is_noticed(results: list[Array], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_agreement("one", results, [np.array([1.0, 2.0])], tolerance=1e-6)


def test_a_difference_counts_relative_to_the_largest_element() -> None:
    check_agreement("one", [np.array([1e-9, 1e6])], [np.array([0.0, 1e6])], tolerance=1e-12)


def test_libraries_race_in_their_own_processes() -> None:
    reports: list[str] = []
    effort = Effort("test", 3, fewest_rounds=3, turn_seconds=0.01, seconds=0.1, processes=1)
    times = race(SMALL["chain-3"], [GRADSPEC, BY_HAND], effort, reports.append)
    assert list(times) == ["gradspec", "numpy"]
    assert all(1e-6 < seconds < 1 for seconds in times.values())
    assert "chain of 3: gradspec prepares" in reports
    assert "chain of 3: round 2 of 3" in reports


def test_a_process_that_fails_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    racer = Racer(BY_HAND, Chain(5))  # a size that is in no table
    with pytest.raises(RuntimeError, match="turn numpy chain-5` ended with status 1"):
        racer.answer()
    racer.close()
    assert "KeyError: 'chain-5'" in capfd.readouterr().err


def test_a_turn_measures_as_long_as_it_is_told() -> None:
    calls: list[None] = []
    prepared = with_data("rosenbrock-4").by_hand()

    def counted() -> list[Array]:
        calls.append(None)
        return list(prepared())

    batch = warm_up(counted)
    calls.clear()
    start = perf_counter()
    times = turn(counted, batch, 0.02)
    assert perf_counter() - start > 0.02
    assert len(calls) == batch * (len(times) + 1)  # the first batch only fills the caches


def test_stages_of_a_first_call_are_parts_of_it(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    command = ("-m", "benchmarks.first_call", "--turn", "mlp-3-4-5-2", "--stages")
    turns = [json.loads(output(*command, environment=environment)) for _ in range(2)]
    assert all(each[stage] > 0 for stage in ("capture", "engine", "key", "run") for each in turns)
    built = {"optimise", "lower", "text", "build"}
    assert [{stage for stage in built if each[stage]} for each in turns] == [built, set()]
    assert all(sum(each[stage] for stage in STAGES) < each["processor"] for each in turns)
