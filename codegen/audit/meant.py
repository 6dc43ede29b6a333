"""Requirements that types do not express: triangles, regular matrices, outputs, further calls."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import yaml

from ..spec.model import Example, OpSpec


def as_meant(op: OpSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, or directions, of which those that are meant to be are triangles."""
    wanted = _table("meant").get(op.signature.name, {})
    upper = bool(values.get("upper", False))
    cut = np.triu if upper else np.tril
    return {
        name: np.asarray(cut(value)) if wanted.get(name) == "lower" and value.ndim > 1 else value
        for name, value in values.items()
    }


def is_singular(op: OpSpec, name: str, array: Any) -> bool:
    """Return whether an argument that is meant to be regular is not."""
    if _table("meant").get(op.signature.name, {}).get(name) != "regular":
        return False
    return bool((np.linalg.matrix_rank(array) < min(array.shape[-2:])).any())


def is_meant(op: OpSpec, output: str) -> bool:
    """Return whether libraries differentiate an output."""
    return _table("meant").get(op.signature.name, {}).get("only", output) == output


def calls_of(op: OpSpec) -> list[Example]:
    """Calls beyond the examples of an op."""
    return [Example(tuple(call.items()), op.span) for call in _table("calls").get(op.name, [])]


@functools.cache
def _table(name: str) -> dict[str, Any]:
    text = (files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    return table
