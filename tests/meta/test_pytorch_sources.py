"""The documents about the sources: what they name is there, under that name."""

from __future__ import annotations

import re

import pytest

from .source_tree import ROOT

DOCUMENTS = (ROOT / "docs" / "pytorch_sources.md", ROOT / "docs" / "design.md")


def named() -> list[tuple[str, str]]:
    """Find each file that is linked to, with each name that is said to be in it."""
    pairs = {}
    for document in DOCUMENTS:
        text = " ".join(document.read_text(encoding="utf-8").split())
        for link, names in re.findall(r"\]\((\S+)\): ((?:`\w+`(?:, )?)+)", text):
            pairs |= {(link, name): None for name in re.findall(r"`(\w+)`", names)}
    return list(pairs)


def test_there_is_something_to_look_for() -> None:
    assert ("../runtime/graph/engine.py", "execute") in named()
    assert ("../codegen/prove/identities/run.py", "execute") in named()


@pytest.mark.parametrize(("link", "name"), named())
def test_a_name_is_defined_where_the_table_says(link: str, name: str) -> None:
    path = (DOCUMENTS[0].parent / link).resolve()
    definition = rf"^(?:def |class |- name: )?{name}\b"
    assert re.search(definition, path.read_text(encoding="utf-8"), re.MULTILINE)
