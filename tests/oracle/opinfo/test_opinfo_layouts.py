"""PyTorch's sample calls with arguments and cotangents that are not contiguous: its answers.

PyTorch is given the same memory. A few samples of each op: `test_opinfo` has all of them.
"""

from __future__ import annotations

import pytest

from .test_opinfo import NAMES

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

SAMPLES = 3


@pytest.mark.parametrize("op", NAMES)
def test_samples_that_are_not_contiguous(op: str) -> None:
    from . import opinfo

    layouts = {
        "transposed": opinfo.Layout(opinfo.transposed, opinfo.transposed),
        "transposed cotangents": opinfo.Layout(cotangents=opinfo.transposed),
        "strided": opinfo.Layout(opinfo.strided, opinfo.strided),
        "expanded cotangents": opinfo.Layout(cotangents=opinfo.expanded),
    }
    for info in (info for name in NAMES[op] for info in opinfo.infos(name)):
        samples = opinfo.samples(info)
        for sample in samples[:: 1 + len(samples) // SAMPLES]:
            for text, layout in layouts.items():
                if not opinfo.pytorch_refuses(info, sample, layout):
                    found = opinfo.difference(info, sample, layout)
                    assert not found, f"{opinfo.label(info)}, {text}: {found} in {sample}"
