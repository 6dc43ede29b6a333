"""Calls that `requires` allows, made step by step of one that it does not.

A condition may hold at calls only that meet several requirements at once, as a text that is meant
for matrices of certain extents. From a call that has the text, each step is a change with which a
later requirement is the first that is not met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...spec.model import Example, OpSpec
from ...spec.structure import unmet
from .data import Args
from .points import NoCall, arguments
from .structures import farther

MOST_STEPS = 3

MOST_CHANGES = 800
"""Number of calls that are looked at for each step: no op is called for that."""


def allowed_calls(spec: OpSpec, example: Example, args: Args) -> Iterator[Args]:
    """Yield calls that are allowed, made of one that is not; `example` gives its place."""
    met = _count_met(spec, args)
    for _ in range(MOST_STEPS):
        closest = args
        near = replace(example, args=tuple(args.items()))
        for changed in farther(spec, (near,), MOST_CHANGES):
            count = _count_met(spec, changed)
            if count == len(spec.requires):
                yield changed
            elif count > met:
                closest, met = changed, count
        if closest is args:
            return
        args = closest


def _count_met(spec: OpSpec, args: Args) -> int:
    """Count the requirements that a call meets before the first that it does not."""
    try:
        first = unmet(spec, arguments(spec, args, np.random.default_rng(0)))
    except (NoCall, ValueError, TypeError, IndexError):
        return -1
    return len(spec.requires) if first is None else spec.requires.index(first)
