"""`python -m tests.meta.pytorch_derivatives`: write the names of PyTorch's table of derivatives.

They are read from the table that PyTorch's package carries for its own generator (`torchgen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .source_tree import ROOT

FILE = ROOT / "tests" / "meta" / "pytorch_derivatives.txt"

_NO_RULES = {"name", "dispatch", "output_differentiability"}


def listing() -> str:
    """A line for each name: `formula` or `none`, and its overloads."""
    overloads: dict[str, list[str]] = {}
    formulas: set[str] = set()
    for entry in _entries():
        name, _, overload = entry["name"].partition("(")[0].partition(".")
        overloads.setdefault(name, []).append(overload or "default")
        if _has_formula(entry):
            formulas.add(name)
    return "".join(
        f"{name} | {'formula' if name in formulas else 'none'} | {' '.join(overloads[name])}\n"
        for name in sorted(overloads, key=str.lower)
    )


def _entries() -> list[dict[str, Any]]:
    import torchgen

    table = Path(torchgen.__file__).parent / "packaged" / "autograd" / "derivatives.yaml"
    return list(yaml.safe_load(table.read_text(encoding="utf-8")))


def _has_formula(entry: Mapping[str, Any]) -> bool:
    """Return whether some argument has a gradient; the entries for nested tensors do not count."""
    rules = entry.get("dispatch", {}).get("Default", {}) | {
        key: rule for key, rule in entry.items() if key not in _NO_RULES
    }
    texts = [str(rule) for key, rule in rules.items() if not key.startswith("result")]
    return any(not text.startswith(("non_differentiable", "not_implemented(")) for text in texts)


if __name__ == "__main__":
    FILE.write_text(listing(), encoding="utf-8")
