"""Whole programs give PyTorch's numbers with one changed import.

The scripts are written for PyTorch, as users write them; what they find is in `OUT`. They draw from
NumPy, whose numbers are the same for both libraries.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

SCRIPTS = sorted((Path(__file__).parent / "scripts").rglob("*.py"))

TOLERANCES = {"float32": 1e-4, "complex64": 1e-4}
"""Relative and absolute, of what is not computed in float64 (1e-6)."""


@pytest.fixture(autouse=True)
def settings(torch: Any) -> Iterator[None]:
    """One thread, as several are slower on tensors this small; the default dtypes afterwards."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    for library in (torch, gs):
        library.set_default_dtype(library.float32)


def run(text: str, path: Path) -> Any:
    """Run a script, and return what it has found."""
    names: dict[str, Any] = {"__name__": path.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, str(path), "exec", dont_inherit=True), names)
    return names["OUT"]


def with_gradspec(text: str) -> str:
    """Change the imports of a script."""
    text = re.sub(r"^import torch$", "import gradspec as torch", text, flags=re.M)
    return re.sub(r"^(import|from) torch\b", r"\1 gradspec", text, flags=re.M)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_same_numbers(torch: Any, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    compare(run(with_gradspec(text), path), run(text, path), path.stem)


def compare(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            compare(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs), where
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            compare(*pair, f"{where}[{index}]")
    elif isinstance(theirs, str | None):
        assert ours == theirs, where
    else:
        mine, other = number(ours), number(theirs)
        assert mine.shape == other.shape, where
        assert mine.dtype == other.dtype, where
        tolerance = TOLERANCES.get(other.dtype.name, 1e-6)
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance, err_msg=where)


def number(value: Any) -> Any:
    return value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)
