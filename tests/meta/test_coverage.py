"""`docs/coverage.md` says where each name of PyTorch's derivatives is, or why not."""

from __future__ import annotations

import re

import pytest

from . import coverage

OTHERS = [name.text for name in coverage.names() if name.text not in coverage.entries()]


def test_the_document_is_fresh() -> None:
    assert coverage.DOCUMENT.read_text(encoding="utf-8") == coverage.document(), (
        "docs/coverage.md is not what the table has: run python -m tests.meta.coverage"
    )


def test_every_name_is_in_the_document() -> None:
    text = coverage.DOCUMENT.read_text(encoding="utf-8")
    missing = [name.text for name in coverage.names() if f"`{name.text}`" not in text]
    assert not missing


def test_places_are_there() -> None:
    places = {name: coverage.place(name).where for name in OTHERS}
    gone = {
        name: where
        for name, where in places.items()
        if where != coverage.NOWHERE and not coverage.is_here(where)
    }
    assert not gone


def test_entries_that_are_named_are_there() -> None:
    for each in coverage.places():
        for word in re.findall(r"`(\w+)`", each.reason):
            assert word in coverage.entries() or coverage.is_here(word), each


def test_a_name_without_a_place_is_refused() -> None:
    with pytest.raises(KeyError, match="no place for neither_here_nor_there"):
        coverage.place("neither_here_nor_there")
    with pytest.raises(KeyError, match="nor for its op"):
        coverage.place("neither_here_nor_there_backward")


def test_every_line_is_the_place_of_a_name() -> None:
    idle = [each for each in coverage.places() if not any(map(each.fits, OTHERS))]
    assert not idle, f"no name is left for these lines: {idle}"
