"""No answer has elements that its op did not write, in calls that no example makes either."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from gradspec.dispatch import registry
from gradspec_codegen.prove.calls.points import NoCall, usual_points
from gradspec_codegen.prove.calls.structures import structures
from gradspec_codegen.prove.identities.run import Call
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.spec.model import OpSpec
from gradspec_codegen.spec.structure import unmet

from .cases import TABLE

registry.import_all()

MOST = 40
_EMPTY, _EMPTY_LIKE = np.empty, np.empty_like


def filled(allocate: Any, number: int) -> Any:
    """A function as `np.empty`, of which the memory is known."""

    def allocated(*args: Any, **options: Any) -> Any:
        out = allocate(*args, **options)
        if out.dtype.kind in "fciu":
            out.fill(number)
        return out

    return allocated


def outputs_with(number: int, op: OpSpec, values: dict[str, Any], patch: Any) -> dict[str, Any]:
    """The outputs of a call in which fresh memory holds a number."""
    with patch.context() as patched, np.errstate(all="ignore"):
        patched.setattr(np, "empty", filled(_EMPTY, number))
        patched.setattr(np, "empty_like", filled(_EMPTY_LIKE, number))
        return {name: tensor.array for name, tensor in Call(op, values, [])().items()}


@pytest.mark.filterwarnings("ignore:.*degrees of freedom:UserWarning")
@pytest.mark.parametrize(
    "op", [op for op in TABLE.ops if op.composite is None], ids=lambda op: op.name
)
def test_every_element_is_written(op: OpSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for args in structures(op, examples_of(op), MOST):
        rng = np.random.default_rng(zlib.crc32(op.name.encode()))
        try:
            (values,) = usual_points(op, args, rng, 1)
            if unmet(op, values) is not None:
                continue
            found = [outputs_with(number, op, values, monkeypatch) for number in (3, 77)]
        except (NoCall, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
            continue
        for name, array in found[0].items():
            np.testing.assert_array_equal(array, found[1][name], strict=True)
        compared += 1
    assert compared
