"""Strides of results, where a later `view` can tell: as those of PyTorch's samples.

Each result of arguments that are turned, have gaps or are expanded has PyTorch's strides. What
differs is listed in `opinfo.yaml`, with the reason.
"""

from __future__ import annotations

from typing import Any

import pytest

from .test_opinfo import DATA, NAMES

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

SAMPLES = 3

COMPARED = sorted(
    NAMES.keys() - {name for names in DATA["other_strides"].values() for name in names}
)


def strides(tensor: Any) -> list[int]:
    """Nothing depends on the steps between elements that are not there."""
    if not tensor.numel():
        return []
    return [step for step, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


@pytest.mark.parametrize("op", COMPARED)
def test_strides(op: str) -> None:
    from . import opinfo

    layouts = [opinfo.Layout(lay) for lay in (opinfo.transposed, opinfo.strided, opinfo.turned)]
    for info in (info for name in NAMES[op] for info in opinfo.infos(name)):
        samples = opinfo.samples(info)
        for sample in samples[:: 1 + len(samples) // SAMPLES]:
            for layout in layouts:
                if not opinfo.pytorch_refuses(info, sample, layout):
                    ours, theirs = opinfo.results(info, sample, layout)
                    found, wanted = list(map(strides, ours)), list(map(strides, theirs))
                    assert found == wanted, f"{opinfo.label(info)} of {sample}"
