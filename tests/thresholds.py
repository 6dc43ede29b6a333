"""The sizes from which the runtime computes in another way, changed for a test."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from gradspec.dispatch.registry import import_all
from gradspec.fast import tuning


def set_thresholds(monkeypatch: pytest.MonkeyPatch, **sizes: Any) -> None:
    """Change thresholds of `gradspec.fast.tuning` in every module that has imported them."""
    import_all()
    loaded = [module for name, module in sys.modules.items() if name.startswith("gradspec.")]
    for name, size in sizes.items():
        assert hasattr(tuning, name), name
        for module in loaded:
            if name in vars(module):
                monkeypatch.setattr(module, name, size)


def set_all_thresholds(monkeypatch: pytest.MonkeyPatch, size: int = 2) -> None:
    """Change all of them, so that few elements count as many."""
    names = [name for name in vars(tuning) if name.isupper()]
    changed: dict[str, Any] = dict.fromkeys(names, size)
    changed |= {"BLAS_ROW_MAX": 3, "BLAS_COLUMN_MAX": 3}
    changed |= {"FLAT_MV_ROWS": tuning.FLAT_MV_ROWS}
    set_thresholds(monkeypatch, **changed)
