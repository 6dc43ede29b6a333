"""The calls at which an entry says that its gradients are not the derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.model import Formula, OpSpec
from ..identities.definition import evaluate_on_arguments


def is_unproved(spec: OpSpec, values: dict[str, Any]) -> bool:
    """Return whether a condition of `unproved` holds, of any element if it speaks of elements."""
    return any(np.any(_holds(spec, condition, values)) for condition, _ in spec.unproved)


def unproved_elements(spec: OpSpec, values: dict[str, Any]) -> list[Any]:
    """Return, for each condition, where it holds: a mask, or one truth for all elements."""
    return [_holds(spec, condition, values) for condition, _ in spec.unproved]


def _holds(spec: OpSpec, condition: Formula, values: dict[str, Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate_on_arguments(spec, condition.block, values), dtype=bool)
    except Exception:
        return np.False_  # these arguments do not fit each other: the op says so better
