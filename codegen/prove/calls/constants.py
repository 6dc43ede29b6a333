"""Arguments and outputs that are declared to have no gradient: nothing may change with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.model import NonDifferentiable
from ..identities.identity import Mismatch
from .call import CallWithNumbers, float_leaves
from .measures import is_smooth

Array = np.ndarray[Any, Any]

SMALLEST = 1e-3
"""Slopes up to this are none."""


def check_unchanging(call: CallWithNumbers, middle: dict[str, Array]) -> None:
    """Raise Mismatch if a slope by such an argument, or of such an output, is not zero."""
    _check_outputs(call, middle)
    floats = {n: middle[n] for n in call.names}
    for leaf in float_leaves(call.spec, call.values):
        if not isinstance(call.spec.rule(leaf[0]), NonDifferentiable | None):
            continue
        try:
            slopes = call.lines_of({leaf: call.random(call.at(leaf))}, floats)
        except Exception:
            continue
        if name := _changing(slopes):
            raise Mismatch(
                f"the gradient of {leaf[0]}",
                leaf[0],
                f"is declared not to exist, but {name} changes with it: "
                "`constant: why` says that no gradient is meant",
            )


def _check_outputs(call: CallWithNumbers, middle: dict[str, Array]) -> None:
    flags = call.spec.output_differentiability
    outputs = zip(call.spec.signature.outputs, flags, strict=False)
    fixed = {o.name for o, flag in outputs if not flag} - {*call.spec.changing_outputs}
    floats = {n: a for n, a in middle.items() if n in fixed and a.dtype.kind in "fc"}
    leaves = float_leaves(call.spec, call.values)
    if not (floats and leaves):
        return
    try:
        slopes = call.lines_of({leaf: call.line(leaf) for leaf in leaves}, floats)
    except Exception:
        return
    if name := _changing(slopes):
        raise Mismatch(
            f"the derivative of {name}",
            name,
            "is declared not to exist, but it changes with the arguments: instead of "
            "`false` say why none is meant",
        )


def _changing(slopes: dict[str, tuple[Array, Array]]) -> str | None:
    """The first value that has a slope, by its name."""
    for name, (ahead, behind) in slopes.items():
        if is_smooth(ahead, behind) and np.abs(ahead).max(initial=0) > SMALLEST:
            return name
    return None
