"""No answer depends on how arguments, cotangents and tangents lie in memory.

Every op of the table, on its examples, by the paths of small arrays and by those of large ones,
which are taken here from a few elements on. The reference is the same op on contiguous arrays: what
its values are, others check.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

import gradspec as gs
from gradspec.dispatch.registry import import_all
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.inputs.layouts import check_layouts
from gradspec_codegen.spec.model import OpSpec

from .cases import TABLE

LIMITS = {
    "BLOCK_BYTES": 16,
    "_LONGEST_ROW": 3,
    "_LONGEST_COLUMN": 3,
    **dict.fromkeys(("ENOUGH", "PLENTY", "LINES", "BLOCK", "MANY", "SEVERAL", "_MANY"), 2),
    **dict.fromkeys(("_FEWEST", "_FEWEST_IN_COLUMNS", "_SEVERAL", "_LARGE", "_PART", "_MUCH"), 2),
    **dict.fromkeys(("_MOST_COLUMNS", "_HEAVY", "_LITTLE", "_LONG_ROW", "_LARGEST_TRIANGLE"), 2),
}
"""The sizes from which the runtime computes in another way, all of them small."""


@pytest.fixture(params=["small", "large"])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What sizes count as large."""
    import_all()
    if request.param == "small":
        yield
        return
    changed = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "gradspec":
            for limit in LIMITS.keys() & vars(module).keys():
                monkeypatch.setattr(module, limit, LIMITS[limit])
                changed.add(limit)
    assert changed == LIMITS.keys()
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
