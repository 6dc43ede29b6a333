"""`docs/numpy.md` has every function of NumPy that could be called with a tensor."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs

from . import numpy_functions


def test_the_document_is_fresh() -> None:
    assert numpy_functions.DOCUMENT.read_text(encoding="utf-8") == numpy_functions.document(), (
        "docs/numpy.md is not what the tests call: run python -m tests.meta.numpy_functions"
    )


def test_every_function_is_called_by_a_test_or_refused() -> None:
    known = numpy_functions.differentiable() | numpy_functions.flat()
    known |= numpy_functions.OF_CONSTANTS | numpy_functions.refused().keys()
    public = numpy_functions.public_functions()
    assert len(public) > 280
    assert not public - known, "call these in numpy_overrides/calls.py, or refuse them"


def test_nothing_is_both_refused_and_called() -> None:
    called = numpy_functions.differentiable() | numpy_functions.flat()
    assert not called & numpy_functions.refused().keys()


@pytest.mark.parametrize("name", sorted(numpy_functions.refused()))
def test_what_is_refused_says_why(name: str) -> None:
    home, _, last = name.rpartition(".")
    function = getattr(getattr(np, home) if home else np, last)
    x = gs.tensor([[0.5, 1.5], [2.5, 3.5]])
    arguments = {1: (x,), 2: (x, x), 3: (x, x, x)}
    with pytest.raises(TypeError, match=r"has no counterpart for tensors, .*, as "):
        function(
            *arguments[_COUNTS.get(last, 1)], **({"axis": 0} if last == "put_along_axis" else {})
        )


_COUNTS = {
    **dict.fromkeys(["copyto", "fill_diagonal", "partition", "argpartition", "busday_offset"], 2),
    **dict.fromkeys(["busday_count"], 2),
    **dict.fromkeys(["place", "put", "put_along_axis", "putmask"], 3),
}
