"""The list of PyTorch's names, by which a missing one is explained, is PyTorch's."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.oracle


def test_the_list_of_names_is_fresh() -> None:
    from tests.meta.pytorch_names import FILE
    from tests.meta.source_tree import ROOT

    # In a process of its own: what other tests use of PyTorch adds modules to its namespaces.
    code = "from tests.meta.pytorch_names import listing; print(listing(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    message = "write it again: python -m tests.meta.pytorch_names"
    assert FILE.read_text(encoding="utf-8") == done.stdout, message


def test_the_names_of_the_table_of_derivatives_are_fresh() -> None:
    from tests.meta.pytorch_derivatives import FILE, listing

    message = "write it again: python -m tests.meta.pytorch_derivatives"
    assert FILE.read_text(encoding="utf-8") == listing(), message
