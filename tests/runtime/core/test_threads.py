"""The number of threads of compiled programs."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec.core.threads import follow_num_threads


def test_the_number_of_threads() -> None:
    before = gs.get_num_threads()
    assert before >= 1
    gs.set_num_threads(5)
    assert gs.get_num_threads() == 5
    gs.set_num_threads(before)
    for bad in (0, -1):
        with pytest.raises(RuntimeError, match="positive"):
            gs.set_num_threads(bad)
    for wrong in (1.5, "2", True):
        with pytest.raises(TypeError):
            gs.set_num_threads(wrong)  # type: ignore[arg-type]
    assert gs.get_num_threads() == before


def test_whoever_follows_hears_of_the_number_now_and_later() -> None:
    before, heard = gs.get_num_threads(), []
    follow_num_threads(heard.append)
    gs.set_num_threads(before + 2)
    gs.set_num_threads(before)
    assert heard == [before, before + 2, before]
