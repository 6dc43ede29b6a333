"""The table of where PyTorch's parts are: what it names is there, under that name."""

from __future__ import annotations

import re

import pytest

from .source_tree import ROOT

DOCUMENT = ROOT / "docs" / "pytorch_sources.md"


def named() -> list[tuple[str, str]]:
    """Each file that is linked to, with each name that is said to be in it."""
    pairs = []
    for row in DOCUMENT.read_text(encoding="utf-8").splitlines():
        for link, names in re.findall(r"\]\((\S+)\): ((?:`\w+`(?:, )?)+)", row):
            pairs += [(link, name) for name in re.findall(r"`(\w+)`", names)]
    return pairs


def test_there_is_something_to_look_for() -> None:
    assert ("../runtime/graph/engine.py", "execute") in named()


@pytest.mark.parametrize(("link", "name"), named())
def test_a_name_is_defined_where_the_table_says(link: str, name: str) -> None:
    path = (DOCUMENT.parent / link).resolve()
    definition = rf"^(?:def |class |- name: )?{name}\b"
    assert re.search(definition, path.read_text(encoding="utf-8"), re.MULTILINE)
