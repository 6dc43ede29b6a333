"""Ops of gradspec's own table, emitted for JAX one by one: the same answers as its own library."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.targets.agreement import cases_of, differences, own_answers
from tests.codegen.targets.emitted import FILLED, emitted, function_of, refusals_of_table

pytestmark = pytest.mark.jax

_NO_DIMENSION = "JAX has no dimension 0 of an array without dimensions"

OTHERWISE = {
    "_log_softmax": _NO_DIMENSION,
    "_log_softmax_backward_data": _NO_DIMENSION,
    "_softmax": _NO_DIMENSION,
    "_softmax_backward_data": _NO_DIMENSION,
    "aminmax": _NO_DIMENSION,
    "index_select": _NO_DIMENSION,
    "logcumsumexp": _NO_DIMENSION,
    "logsumexp": _NO_DIMENSION,
    "max.dim": _NO_DIMENSION,
    "median.dim": _NO_DIMENSION,
    "min.dim": _NO_DIMENSION,
    "polygamma": "the function zeta of JAX must know its order, which is traced in a derivative",
    "sort": _NO_DIMENSION,
}
"""The ops whose emitted code does not do what gradspec does, and why."""


@pytest.mark.parametrize("family", sorted({op.family for op in FILLED.ops}))
def test_answers(family: str, tmp_path: Path) -> None:
    """Values, gradients, tangents and second derivatives at the last example of every op."""
    from tests.jax.jax_answers import jax_answers

    refused = refusals_of_table("jax")
    found = {}
    for op in FILLED.ops:
        if op.family != family or op.name in refused:
            continue
        function = function_of(emitted(op, "jax", tmp_path), op)
        for case in list(cases_of(op))[-1:]:
            arguments = case.arguments()
            try:
                answers = jax_answers(op, function, arguments)
            except (TypeError, ValueError, IndexError, NotImplementedError) as error:
                found[op.name] = [str(error)]
                continue
            told = differences(own_answers(op, FILLED, arguments), answers)
            if told:
                found[op.name] = told
    expected = {op.name for op in FILLED.ops if op.family == family} & OTHERWISE.keys()
    assert found.keys() == expected, found
