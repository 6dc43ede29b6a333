"""Arguments as functions are meant to be given them, where their types do not say it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import yaml

from ..spec.model import OpSpec


def as_meant(op: OpSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, or directions, of which those that are meant to be are triangles."""
    wanted = _table().get(op.signature.name, {})
    upper = bool(values.get("upper", False))
    cut = np.triu if upper else np.tril
    return {
        name: np.asarray(cut(value)) if wanted.get(name) == "lower" and value.ndim > 1 else value
        for name, value in values.items()
    }


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    text = (files(__package__) / "meant.yaml").read_text(encoding="utf-8")
    table: dict[str, dict[str, str]] = yaml.safe_load(text)
    return table
