"""Errors of ops that are not elementwise, measured against exact values, and drawn."""

from __future__ import annotations

import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
import yaml

from atlas.accuracy import Along, Call, Row, measured
from atlas.along import along_picture
from atlas.errors import errors_picture
from benchmarks.accuracy import calls
from benchmarks.accuracy.along import along
from benchmarks.accuracy.called import SPELLINGS
from benchmarks.accuracy.calls import Called, measure, ops_called
from benchmarks.accuracy.report import write_calls
from gradspec.dispatch.registry import import_all
from gradspec_codegen import pipeline
from gradspec_codegen.spec.model import Table


@pytest.fixture(scope="module")
def table() -> Table:
    import_all()
    return pipeline.builtin_table()


def looked_at(table: Table, name: str) -> Called:
    found = measure(table.by_name(name))
    assert isinstance(found, Called), found
    return found


def test_all_is_looked_at_that_is_not_swept(table: Table) -> None:
    names = {op.name for op in ops_called(table)}
    assert {"logsumexp", "mm", "mse_loss", "linalg_svd", "cat"} <= names
    assert {"argmax", "_threshold_backward"} <= names
    assert not {"tanh", "mul.Tensor"} & names


def test_whole_numbers_have_no_errors(table: Table) -> None:
    assert measure(table.by_name("argmax")) == calls._WHOLE
    assert measure(table.by_name("_row_pairs")) == calls._WHOLE


def test_what_formulas_call_is_measured(table: Table) -> None:
    found = looked_at(table, "_sum_to_size")
    assert {m.library for m in found.found} == {"gradspec"}
    assert {m.quantity for m in found.found} == {("forward", ()), ("VJP", ("self",))}


def test_complex_numbers_are_measured_by_their_absolute_values(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = looked_at(table, "view_as_complex")
    assert found.call.startswith("view_as_complex(self=[")
    assert {m.worst for m in found.found if m.library == "gradspec"} == {0.0}
    right = calls._ours

    def turned(op: object, call: object, setting: object) -> object:
        for quantity, arrays in right(op, call, setting):  # type: ignore[arg-type]
            yield quantity, [array * np.exp(1e-3j) for array in arrays]

    monkeypatch.setattr(calls, "_ours", turned)
    found = looked_at(table, "view_as_complex")
    values = [m for m in found.found if (m.library, m.quantity) == ("gradspec", ("forward", ()))]
    # A number that is turned by a thousandth is off by a thousandth of its size.
    assert {round(m.worst, 5) for m in values} == {1e-3}


def test_a_call_is_measured_at_many_sizes_of_its_argument(table: Table) -> None:
    found = looked_at(table, "logsumexp")
    assert (found.call.startswith("logsumexp(self=["), found.scaled) == (True, "self")
    ours = {(m.quantity, m.dtype): m for m in found.found if m.library == "gradspec"}
    for quantity in (("forward", ()), ("VJP", ("self",))):
        assert 0 < ours[quantity, "float32"].worst < 1e-6
        assert ours[quantity, "float64"].worst < 2e-15
        assert len(ours[quantity, "float64"].along.replace(".", "")) == 8


def test_matrices_that_are_made_from_factors_have_one_size(table: Table) -> None:
    found = looked_at(table, "linalg_cholesky")
    assert found.scaled == ""
    assert {m.along for m in found.found} == {""}


def test_a_wrong_result_has_its_error(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    right = calls._ours

    def wrong(op: object, call: object, setting: object) -> object:
        for quantity, arrays in right(op, call, setting):  # type: ignore[arg-type]
            yield quantity, [array * (1 + 1e-3) for array in arrays]

    monkeypatch.setattr(calls, "_ours", wrong)
    found = looked_at(table, "mm")
    assert {round(m.worst, 5) for m in found.found if m.library == "gradspec"} == {1e-3}


@pytest.mark.parametrize(
    ("got", "exact", "error"),
    [
        ([1.0, 2.001], [1, 2], 5e-4),
        ([1e-9, 2.0], [0, 2], 5e-10),
        ([math.nan, 2.0], [1, 2], math.inf),
        ([0.0, 0.0], [0, 0], None),
        ([1.0], [None], None),
        ([1.0, 1.0], [1], None),
        ([math.inf], [1e60], None),
    ],
)
def test_errors_are_relative_to_the_largest_element(
    got: list[float], exact: list[float | None], error: float | None
) -> None:
    numbers = [None if x is None else mpmath.mpf(x) for x in exact]
    found = calls._error(got, numbers, "float32")
    assert found == (None if error is None else pytest.approx(error, rel=1e-6))


def test_what_is_written_is_read_again(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    write_calls(
        [looked_at(table, "mm")], {"imag": "no"}, {"date": "today", "numpy": "2", "cpu": "x"}, path
    )
    found = measured(path)
    assert found.facts == {"mm": {"date": "today", "numpy": "2"}}
    assert found.left == {"imag": "no"}
    assert found.calls["mm"].scaled == "self"
    assert {row.quantity for row in found.rows["mm"]} == {"forward", "VJP of self", "VJP of mat2"}
    assert {row.quantity for row in found.along["mm"]} == {"forward", "VJP of self"}


def test_every_op_has_errors_or_a_reason_in_words(table: Table) -> None:
    found = measured()
    missing = {op.name for op in ops_called(table)} - {*found.rows} - {*found.left}
    assert missing == set()
    assert len(found.calls) > 500
    assert [reason for reason in found.left.values() if "Error" in reason] == []


def test_spellings_of_other_libraries_are_right(table: Table) -> None:
    """A function of another value is left out, so that its spelling would be of no use."""
    found = measured()
    text = yaml.safe_load(SPELLINGS.read_text(encoding="utf-8"))
    unused = []
    for module, title in (("torch", "PyTorch"), ("jax", "JAX")):
        for name in text[module]["ops"]:
            ops = [op.name for op in table.ops if name in (op.name, op.signature.name)]
            rows = [row for op in ops for row in found.rows.get(op, ())]
            if not any(title in row.worst for row in rows):
                unused.append((module, name))
    assert unused == []


def test_measuring_some_ops_keeps_the_others(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    facts = {"date": "today"}
    write_calls([looked_at(table, "mm")], {"dot": "no"}, facts, path)
    write_calls([looked_at(table, "dot")], {}, facts, path)
    found = measured(path)
    assert {*found.calls} == {"mm", "dot"}
    assert found.left == {}


def test_errors_of_a_call_say_which() -> None:
    called = Call("sum(self=[2, 3])", "self")
    letters = along([0.5, 2.0], [0.0, 1e-7])
    text = along_picture("sum", [Along("forward", "float32", "", {"gradspec": letters})], called)
    assert "Error of <code>sum(self=[2, 3])</code> against 50 digits" in text
    assert "where its <code>self</code> is multiplied by the number on the axis" in text
    rows = [Row("forward", "float32", "", {"gradspec": 1e-7}, 2e-6)]
    assert "over all factors" in errors_picture("sum", rows, called)
    alone = errors_picture("sum", rows, Call("sum(self=[2, 3])", ""))
    assert "Relative error of <code>sum(self=[2, 3])</code> against 50 digits" in alone


@pytest.mark.oracle
def test_pytorch_is_asked_the_same(table: Table) -> None:
    for name in ("logsumexp", "mse_loss", "linalg_det", "cat"):
        found = looked_at(table, name)
        theirs = {(m.quantity, m.dtype) for m in found.found if m.library == "PyTorch"}
        assert theirs == {(m.quantity, m.dtype) for m in found.found if m.library == "gradspec"}
        assert max(m.worst for m in found.found) < 1e-5
