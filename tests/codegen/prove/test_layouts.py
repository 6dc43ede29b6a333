"""A kernel that works for contiguous arrays only is refuted."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradspec import kernels
from gradspec.dispatch.registry import import_all
from gradspec_codegen.prove.identities.identity import Mismatch
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.inputs.layouts import check_layouts, expanded, strided, transposed
from tests.codegen.proving import own_table


def check(name: str) -> int:
    import_all()
    (spec,) = (op for op in own_table().ops if op.name == name)
    compared = 0
    for example in examples_of(spec):
        inputs = build(spec, example)
        compared += check_layouts(spec, inputs, inputs.draw(random.Random(0)))
    return compared


def test_the_layouts() -> None:
    array = np.arange(6.0).reshape(2, 3)
    for lay in (transposed, strided, expanded):
        laid = lay(array)
        assert not laid.flags.writeable
        assert not laid.flags.c_contiguous
        assert lay is expanded or laid.tolist() == array.tolist()
    assert transposed(array).flags.f_contiguous
    assert strided(array).strides == (-2 * 7 * 8, -2 * 8)
    assert expanded(array).strides == (24, 0)
    assert [lay(np.ones(())).shape for lay in (transposed, strided, expanded)] == [(), (), ()]


def lost(self: Any, shape: Any, dim: int, index: Any) -> Any:
    """The gradient of `index_select` as it once was: lost where `table` is a copy."""
    out = np.zeros_like(self, shape=shape)
    table = np.ascontiguousarray(out.swapaxes(0, dim))
    np.add.at(table, index, self.swapaxes(0, dim))
    return out


BROKEN: dict[str, tuple[str, Callable[..., Any], str]] = {
    "index_select": ("index_select_backward", lost, "VJP of self"),
    "flip": (
        "flip",
        lambda self, dims: np.flip(self.ravel("K").reshape(self.shape), dims),
        "result",
    ),
    "cumsum": ("cumsum", lambda self, dim, dtype: self.__iadd__(0).cumsum(dim), "cumsum"),
}


@pytest.mark.parametrize("op", BROKEN)
def test_what_depends_on_the_layout_is_refuted(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, broken, label = BROKEN[op]
    assert check(op)
    monkeypatch.setattr(kernels, name, broken)
    with pytest.raises(Mismatch) as caught:
        check(op)
    assert label in caught.value.label
    assert "where" in caught.value.label
