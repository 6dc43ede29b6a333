"""Gradspec's own table, emitted for PyTorch op by op: the same answers as its own library."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.targets.agreement import cases_of, differences, own_answers
from tests.codegen.targets.emitted import FILLED, emitted, function_of, refusals_of_table
from tests.oracle.targets.torch_answers import torch_answers

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

OTHERWISE = {
    "all.dims": "PyTorch's function reduces nothing for an empty list of dimensions",
    "any.dims": "PyTorch's function reduces nothing for an empty list of dimensions",
    "_slope_of_self": "forward mode of PyTorch's scatter_reduce is zero for products",
    "aminmax": "`torch.amin` takes no None for a dimension",
    "fill.Tensor": "`torch.full_like` takes no tensor to fill with",
    "index_fill.int_Tensor": "`Tensor.new_full` takes no tensor to fill with",
    "lu_solve": "the pivots of PyTorch are int32",
    "special_zeta.self_scalar": "PyTorch's zeta has no forward mode",
    "svd": "the vectors that belong to no singular value are another basis",
}
"""The ops whose emitted code does not do what gradspec does, and why."""

NOT_COMPARED = {
    "_smoothed_cross_entropy": "gradspec refuses the gradient that its example asks for"
}


@pytest.mark.parametrize("family", sorted({op.family for op in FILLED.ops}))
def test_answers(family: str, tmp_path: Path) -> None:
    """Values, gradients, tangents and second derivatives of every op that can be emitted."""
    refused = refusals_of_table("torch")
    found = {}
    for op in FILLED.ops:
        if op.family != family or op.name in refused or op.name in NOT_COMPARED:
            continue
        function = function_of(emitted(op, "torch", tmp_path), op)
        for case in cases_of(op):
            arguments = case.arguments()
            try:
                answers = torch_answers(op, function, arguments)
            except (TypeError, RuntimeError) as error:
                found[op.name] = [str(error)]
                continue
            told = differences(own_answers(op, FILLED, arguments), answers)
            if told:
                found[op.name] = told
    expected = {op.name for op in FILLED.ops if op.family == family} & OTHERWISE.keys()
    assert found.keys() == expected, found
