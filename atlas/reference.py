"""The reference: a page for each public module, from its docstrings."""

from __future__ import annotations

from pathlib import Path


def stage_reference(target: Path) -> list[str]:
    """Write a page for each module, and return their names."""
    return []
