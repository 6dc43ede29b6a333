"""Sample calls that PyTorch's own tests make of ops of the table: value and derivatives.

The samples take every argument of every op through its kinds of values. A result that differs from
PyTorch's is a failure, whatever the argument; a call that is refused must be listed in
`opinfo.yaml`, with the reason.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

DATA = yaml.safe_load(Path(__file__).with_name("opinfo.yaml").read_text())

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


NAMES = DATA["tier_1"] | {name: [name] for name in DATA["further"]}


@pytest.mark.parametrize("op", NAMES)
def test_samples(op: str) -> None:
    from . import opinfo

    differences: list[str] = []
    outcomes: Counter[str] = Counter()
    refused: dict[str, str] = {}
    for info in (info for name in NAMES[op] for info in opinfo.infos(name)):
        for sample in opinfo.samples(info):
            try:
                found = opinfo.difference(info, sample)
            except opinfo.UNSUPPORTED as error:
                refused[opinfo.label(info)] = f"{error!r} in {sample}"
                continue
            outcomes["compared"] += 1
            if found:
                differences.append(f"{opinfo.label(info)}: {found} in {sample}")
    assert not differences, differences[0]
    assert refused.keys() == DATA["refused"].get(op, {}).keys(), refused
    assert outcomes["compared"], "the database has no sample"


def test_share_of_ops_without_refusals() -> None:
    assert len(DATA["refused"]) <= 0.05 * len(DATA["tier_1"])


def test_every_differentiable_entry_is_compared_or_named() -> None:
    from . import opinfo

    compared = {name for names in NAMES.values() for name in names}
    wanted = opinfo.differentiable()
    names = {info.name for info in wanted}
    assert names - compared == DATA["left_out"].keys() & names
    assert DATA["left_out"].keys() <= names
    refused = {name for refusals in DATA["refused"].values() for name in refusals}
    passing = [
        info for info in wanted if info.name in compared and opinfo.label(info) not in refused
    ]
    assert len(passing) >= 520
