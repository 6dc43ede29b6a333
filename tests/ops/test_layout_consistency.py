"""No answer depends on how arguments, cotangents and tangents lie in memory.

Every op of the table, on its examples, by the paths of small arrays and by those of large ones,
which are taken here from a few elements on. The reference is the same op on contiguous arrays: what
its values are, others check.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import gradspec as gs
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.inputs.layouts import check_layouts
from gradspec_codegen.spec.model import OpSpec
from tests.thresholds import set_all_thresholds

from .cases import TABLE


@pytest.fixture(params=["small", "large"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the sizes that count as large."""
    if request.param == "small":
        yield
        return
    set_all_thresholds(monkeypatch)
    count = gs.get_num_threads()
    gs.set_num_threads(2)
    yield
    gs.set_num_threads(count)


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("op", TABLE.ops, ids=lambda op: op.name)
def test_no_layout_changes_an_answer(op: OpSpec) -> None:
    rng = random.Random(op.name)
    compared = 0
    for example in examples_of(op):
        inputs = build(op, example)
        compared += check_layouts(op, inputs, inputs.draw(rng))
    assert compared
