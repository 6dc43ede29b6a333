"""Find the version of a refuted op that is right: sieved with numbers, then proved."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ...spec.model import OpSpec
from ..calls.call import float_leaves
from ..calls.first_calls import with_examples
from ..calls.points import usual_points
from ..calls.structures import attributes
from ..identities.op import prove_op
from ..identities.run import Leaf, differentiable_leaves
from ..inputs.draw import build, examples_of
from ..numeric.slopes import Answer, agree, by_differences, by_engine
from ..zero.number_fields import numeric_values

_TOLERANCE = 1e-4
"""Differences are right to a few digits only, which is enough to throw most versions out."""

_MOST_OTHERS = 12
"""Number of calls with other flags and numbers that are tried."""


def first_that_holds(refuted: OpSpec, versions: Sequence[OpSpec], seconds: float) -> str:
    """The name of the first version that is proved within the time; empty if none is.

    All of them must be registered in the generated package that is imported. The forward is that
    of `refuted`.
    """
    deadline = time.process_time() + seconds  # of computing, whatever else the machine does
    spec = with_examples(refuted)
    calls = [*_calls(spec), *_other_calls(spec)]
    for version in versions:
        left = deadline - time.process_time()
        if left < 0:
            break
        if all(_is_close(version, *call) for call in calls) and prove_op(version, left).holds:
            return version.name
    return ""


def _calls(spec: OpSpec) -> Iterator[tuple[dict[str, Any], list[Leaf], Answer]]:
    """One call for each example, with what the op should answer."""
    rng = random.Random(spec.name)
    for example in examples_of(spec):
        inputs = build(spec, example)
        values = numeric_values(inputs, inputs.draw(rng))
        leaves = differentiable_leaves(spec, inputs)
        with np.errstate(all="ignore"):
            yield values, leaves, by_differences(spec, values, leaves)


def _other_calls(spec: OpSpec) -> Iterator[tuple[dict[str, Any], list[Leaf], Answer]]:
    """Calls with other flags and numbers: with `beta=1` a factor `beta` is not missed."""
    rng = np.random.default_rng(0)
    examples = examples_of(spec)
    found = attributes(spec, examples, dict(examples[0].args))
    for args in islice(found, _MOST_OTHERS):
        with suppress(Exception), np.errstate(all="ignore"):  # most are no calls of the op
            values = next(usual_points(spec, args, rng, 1))
            leaves = [n for n in float_leaves(spec, values) if n[0] in spec.differentiable_params]
            yield values, leaves, by_differences(spec, values, leaves)


def _is_close(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], wanted: Answer) -> bool:
    try:
        with np.errstate(all="ignore"):
            found = by_engine(spec, values, leaves)
    except Exception:
        return False  # a version that cannot even be called
    # A right version may be nan where a cap is zero: the proof tells what is meant there.
    known = {
        name: array
        for name, array in wanted.items()
        if name in found and (found[name] is None or np.isfinite(found[name]).all())
    }
    return agree(known, found, _TOLERANCE, with_dtypes=False)
