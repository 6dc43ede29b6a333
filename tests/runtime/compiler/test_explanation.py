"""`gs.compiler.explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gradspec as gs


def function(x: gs.Tensor) -> Any:
    return (x.sin() * 2).sum()


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_all_is_shown(backend: str) -> None:
    x = gs.ones(3, requires_grad=True)
    shown = gs.compiler.explain(gs.compile(function, backend=backend), x)
    text = str(shown)
    assert "forward: 3 steps" in text
    assert "np.sin(x1)" in text
    assert f"{__file__}:15" in text
    assert "backward: " in text
    assert "np.cos(" in text
    assert shown.saved_bytes == 12
    assert ("def program(" in text) == (backend == "numpy")
    assert ("for (" in text) == (backend == "c")


def test_each_step_is_measured(tmp_path: Path) -> None:
    x = gs.ones(3, requires_grad=True)
    shown = gs.compiler.explain(gs.compile(function, backend="numpy"), x, profile=True)
    assert [timing.step.function for timing in shown.forward.timings] == [
        "np.sin",
        "np.multiply",
        "np.add.reduce",
    ]
    assert all(timing.seconds > 0 for timing in shown.forward.timings)
    shown.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert len(events) == len(shown.forward.timings) + len(shown.backward.timings)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_loop_is_shown_with_its_round(backend: str) -> None:
    def looped(x: gs.Tensor) -> Any:
        return gs.scan(lambda s, row: (s * row, None), x[0], x)[0].sum()

    x = gs.ones(8, 3, requires_grad=True)
    text = str(gs.compiler.explain(gs.compile(looped, backend=backend), x))
    assert "array.loop(8 rounds, " in text
    assert "array.loop(8 rounds backward, " in text
    assert "\n    from x" in text
    assert ("def round_of_" in text) == (backend == "numpy")
    assert ("static const char *round_of_" in text) == (backend == "c")


def test_a_loop_without_end_on_ones_is_measured_for_one_round() -> None:
    def endless(x: gs.Tensor) -> Any:
        return gs.while_loop(lambda s: s.sum() < 4, lambda s: (s * s,), (x,))[0]

    x = gs.full((2,), 1.5)
    shown = gs.compiler.explain(gs.compile(endless, backend="numpy"), x, profile=True)
    assert "array.loop(while true, " in str(shown)
    assert shown.forward.timings


def test_what_there_is_not() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        gs.compiler.explain(gs.compile(function, backend="numpy"), gs.ones(3)).save_trace("x")
    run = gs.compile(lambda x: x if x.sum() > 0 else -x, backend="numpy", fullgraph=False)
    with (
        pytest.warns(UserWarning, match="runs as it is"),
        pytest.raises(RuntimeError, match="no program of this call"),
    ):
        gs.compiler.explain(run, gs.ones(3))


def test_steps_are_measured_on_the_arguments_given() -> None:
    root = gs.tensor([[2.0, 0.0], [1.0, 3.0]])
    matrix = (root @ root.T).requires_grad_()  # Cholesky fails on a matrix of ones

    def likelihood(matrix: Any) -> Any:
        return gs.linalg.cholesky(matrix).diagonal().log().sum()

    shown = gs.compiler.explain(likelihood, matrix, profile=True)
    assert shown.backward is not None
    for report in (shown.forward, shown.backward):
        assert [timing.step for timing in report.timings] == list(report.program.steps)


def test_measuring_changes_neither_parameters_nor_random_generators() -> None:
    weight = gs.ones(3)

    def function(x: Any) -> Any:
        weight.add_(x * gs.rand(3))
        return weight.sum()

    gs.manual_seed(0)
    shown = gs.compiler.explain(function, gs.ones(3), profile=True)
    found = gs.rand(3)
    gs.manual_seed(0)
    assert len(shown.forward.timings) == len(shown.forward.program.steps)
    assert weight.tolist() == [1.0, 1.0, 1.0]
    assert found.tolist() == gs.rand(3).tolist()
