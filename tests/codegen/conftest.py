"""Loading a spec from a text, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.prove import workers
from gradspec_codegen.prove.deadline import time_limit
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table

from . import forked

ENDLESS = 120.0
"""Seconds of computing that nothing a test of the generator does may take."""


@pytest.fixture(scope="session", autouse=True)
def workers_begin_sooner() -> Iterator[None]:
    """Fork the workers that prove: hundreds of tests have one of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "ProcessPoolExecutor", forked.executor())
        patch.setattr(workers, "end_with", forked.end_with)
        yield


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Table]:
    """Load a text as the file `ops.yaml`."""

    def load_text(text: str, *, base: Table | None = None) -> Table:
        path = tmp_path / "ops.yaml"
        path.write_text(text, encoding="utf-8")
        return load_table(path, base=base)

    return load_text


@pytest.fixture
def has_an_end() -> Iterator[None]:
    """Fail a test whose subject does not end; how quick it is depends on the machine."""
    with time_limit(ENDLESS):
        yield


@pytest.fixture
def mistakes(load: Callable[..., Table]) -> Callable[..., list[tuple[str, str]]]:
    """`(code, the characters it points at)` of every mistake of a text."""

    def mistakes_of_text(text: str, *, base: Table | None = None) -> list[tuple[str, str]]:
        with pytest.raises(SpecError) as caught:
            load(text, base=base)
        lines = text.split("\n")
        return [
            (found.code, lines[span.line - 1][span.column - 1 :][: span.width])
            for found in caught.value.diagnostics
            for span in [found.span]
        ]

    return mistakes_of_text
